// `decorum dev` as its users meet it: the official clients stay connected while the program is edited.
import { afterEach, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { freePort, Project } from '../support/dev-project.js';

const WEATHER = `
import { Describe, Tool } from '@decorum/core';
import { IsString } from 'class-validator';
import { words } from './words.js';
class Place {
  @Describe('City') @IsString() city!: string;
}
export class Weather {
  @Tool({ description: 'Forecast' }) forecast({ city }: Place) { return words(city); }
}
`;
const FILES = {
  'src/words.ts': `import { snow } from './snow.js';\nexport const words = (city: string) => snow + ' in ' + city;\n`,
  'src/snow.ts': `export const snow = 'snow';\n`,
  'src/weather.ts': WEATHER,
  'src/main.ts': `
import { McpServer } from '@decorum/core';
import { Weather } from './weather.js';
export const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather] });
`,
};

/** Resolves each time something happens; calls that were not awaited are not lost. */
class Bell {
  private rung = 0;
  private readonly waiting: (() => void)[] = [];

  readonly ring = (): void => {
    const next = this.waiting.shift();
    if (next) next();
    else this.rung += 1;
  };

  async next(): Promise<void> {
    if (this.rung > 0) this.rung -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

const projects: Project[] = [];
function project(files: Readonly<Record<string, string>> = FILES): Project {
  const created = new Project(files);
  projects.push(created);
  return created;
}

afterEach(async () => {
  await Promise.all(projects.splice(0).map((each) => each.remove()));
});

describe('decorum dev over HTTP', () => {
  it('tells a connected client of a renamed tool, without a new session', async () => {
    const weather = project();
    const run = weather.dev(['--port', String(await freePort())]);
    const url = new URL(await run.url());
    const transport = new StreamableHTTPClientTransport(url);
    const client = new Client({ name: 'test', version: '1.0.0' });
    const changed = new Bell();
    client.setNotificationHandler(ToolListChangedNotificationSchema, changed.ring);
    await client.connect(transport as never);
    const { sessionId } = transport;
    weather.edit('src/weather.ts', 'forecast(', 'outlook(');
    await changed.next();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['outlook']);
    weather.edit('src/snow.ts', `'snow'`, `'rain'`);
    await run.says(/src\/snow.ts/);
    const { content } = await client.callTool({ name: 'outlook', arguments: { city: 'Oslo' } });
    expect(content).toEqual([{ type: 'text', text: 'rain in Oslo' }]);
    expect(transport.sessionId).toBe(sessionId);
    await client.close();
    expect(await run.end()).toBe(0);
  });
});
