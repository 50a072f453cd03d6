// The first example of the README over both transports, with the official client.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { ExampleProcess, programOf } from './example-process.js';

let weather: ExampleProcess;

beforeAll(async () => {
  weather = await ExampleProcess.start(programOf('weather'));
});

afterAll(async () => {
  await weather.stop();
});

describe.each([
  ['HTTP', () => new StreamableHTTPClientTransport(new URL(weather.url))],
  ['stdio', () => new StdioClientTransport({ command: process.execPath, args: [programOf('weather'), '--stdio'] })],
])('the weather example over %s', (_name, transport) => {
  const client = new Client({ name: 'test', version: '1.0.0' });

  beforeAll(async () => {
    await client.connect(transport() as Parameters<Client['connect']>[0]);
  });

  afterAll(async () => {
    await client.close();
  });

  it('forecasts, with defaults and checked output', async () => {
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      {
        name: 'forecast',
        annotations: { readOnlyHint: true },
        inputSchema: { properties: { city: { maxLength: 80 }, units: { default: 'metric' } }, required: ['city'] },
      },
    ]);
    const { structuredContent } = await client.callTool({ name: 'forecast', arguments: { city: 'Oslo' } });
    expect(structuredContent).toEqual({ city: 'Oslo', sky: 'snow', temperature: -3, unit: '°C' });
  });

  it('tells the model which arguments are invalid, and which cities exist', async () => {
    const wrong = await client.callTool({ name: 'forecast', arguments: { units: 'kelvin' } });
    expect(wrong).toMatchObject({ isError: true });
    expect(JSON.stringify(wrong)).toMatch(/city.*units/s);
    const unknown = await client.callTool({ name: 'forecast', arguments: { city: 'Atlantis' } });
    expect(JSON.stringify(unknown)).toContain('Bergen, Oslo, Rome');
  });

  it('lists and reads its stations', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name)).toEqual(['Bergen', 'Oslo', 'Rome']);
    const { contents } = await client.readResource({ uri: 'weather://Rome/today' });
    expect(JSON.parse((contents[0] as { text: string }).text)).toEqual({ city: 'Rome', sky: 'sun', celsius: 21 });
    await expect(client.readResource({ uri: 'weather://Atlantis/today' })).rejects.toMatchObject({ code: -32002 });
  });

  it('prompts, and completes the names of cities', async () => {
    const prompt = await client.getPrompt({ name: 'pack', arguments: { city: 'Oslo' } });
    expect(prompt.messages).toMatchObject([{ role: 'user', content: { type: 'text' } }]);
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'pack' },
      argument: { name: 'city', value: 'b' },
    });
    expect(completion.values).toEqual(['Bergen']);
  });
});
