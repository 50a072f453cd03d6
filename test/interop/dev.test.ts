// `decorum dev` as its users meet it: the official clients stay connected while they edit.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  PromptListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { HttpClient, Inbox } from '../support/dev-clients.js';
import { devCommand, type DevRun, freePort, Printed, Project } from '../support/dev-project.js';
import { type Heard, overhear } from './overhear.js';

const WEATHER = `
import { Describe, Prompt, Tool } from '@decorum/core';
import { IsString } from 'class-validator';
import { words } from './words.js';
class Place {
  @Describe('City') @IsString() city!: string;
}
export class Weather {
  @Tool({ description: 'Forecast' }) forecast({ city }: Place) { return words(city); }
  @Tool({ description: 'Waits' }) async slow() {
    const released = new Promise((resolve) => process.once('SIGUSR2', resolve));
    console.error('slow began in ' + process.pid);
    await released;
    return 'slow ended';
  }
  // more
}
`;
const SHARED = {
  'src/words.ts': `import { snow } from './snow.js';\nexport const words = (city: string) => snow + ' in ' + city;\n`,
  'src/snow.ts': `export const snow = 'snow';\n`,
  'src/weather.ts': WEATHER,
};
const SERVER = `
import { McpServer } from '@decorum/core';
import { Weather } from './weather.js';
const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather] });
`;
const EXPORTED = { ...SHARED, 'src/main.ts': `${SERVER}export { server };\n` };
const FASTIFY = {
  ...SHARED,
  'src/main.ts': `${SERVER}
import { mcp } from '@decorum/http';
import { fastify } from 'fastify';
const app = fastify();
app.get('/health', () => ({ ok: true }));
await app.register(mcp, { server });
console.log(await app.listen({ port: Number(process.env['PORT']) }));
`,
};

/** An edit, and what follows from it. */
interface Edit {
  readonly name: string;
  readonly file?: string;
  readonly from: string;
  readonly to: string;
  /** The list of which clients are told. */
  readonly told?: 'tools' | 'prompts';
  /** What is printed. */
  readonly says?: RegExp;
}

const RELOADED = /src\/\w+\.ts {2}\d+ ms.*/;

const EDITS: readonly Edit[] = [
  { name: 'a description', from: `'Forecast'`, to: `'Forecast 1'`, told: 'tools' },
  { name: 'a helper two imports away', file: 'src/snow.ts', from: `'snow'`, to: `'rain'` },
  {
    name: 'a renamed tool',
    from: 'forecast(',
    to: 'outlook(',
    told: 'tools',
    says: /\+ tool outlook {3}- tool forecast/,
  },
  { name: 'a syntax error', from: 'async slow()', to: 'async slow((', says: /src\/weather\.ts:\d+:\d+ {2}.*/ },
  { name: 'the syntax error mended', from: 'async slow((', to: 'async slow()' },
  {
    name: 'a first prompt',
    from: '// more',
    to: `@Prompt({ description: 'Packs' }) pack({ city }: Place) { return city; }\n// more`,
    told: 'prompts',
    says: /\+ prompt pack/,
  },
];

type Told = Inbox<'tools' | 'prompts'>;

/** A connected client, by what the story does with it. */
interface Reader {
  readonly told: Told;
  tools(): Promise<{ name: string; description?: string | undefined }[]>;
  call(name: string): Promise<unknown>;
  readonly heard: ReadonlySet<Heard>;
  /** The id of the session, if there is one. */
  session(): string | undefined;
  close(): Promise<void>;
}

const INFO = { name: 'test', version: '1.0.0' };

async function readerV1(transport: HttpV1 | StdioV1): Promise<Reader> {
  const told: Told = new Inbox();
  const heard = overhear(transport);
  const client = new ClientV1(INFO);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => told.put('tools'));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => told.put('prompts'));
  await client.connect(transport as Parameters<ClientV1['connect']>[0]);
  const session = () => ('sessionId' in transport ? transport.sessionId : undefined);
  const tools = async () => (await client.listTools()).tools;
  return { told, heard, session, tools, ...callsOf(client) };
}

async function readerV2(transport: HttpV2): Promise<Reader> {
  const told: Told = new Inbox();
  const heard = overhear(transport);
  const options = { autoRefresh: false, debounceMs: 0 };
  const client = new ClientV2(INFO, {
    versionNegotiation: { mode: { pin: '2026-07-28' } },
    listChanged: {
      tools: { ...options, onChanged: () => told.put('tools') },
      prompts: { ...options, onChanged: () => told.put('prompts') },
    },
  });
  await client.connect(transport);
  const tools = async () => (await client.listTools(undefined, { cacheMode: 'reload' } as never)).tools;
  return { told, heard, session: () => undefined, tools, ...callsOf(client) };
}

const callsOf = (client: ClientV1 | ClientV2) => ({
  call: async (name: string) => {
    const call = { name, arguments: name === 'slow' ? {} : { city: 'Oslo' } };
    return (await (client as ClientV2).callTool(call)).content;
  },
  close: () => client.close(),
});

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': INFO,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A `subscriptions/listen` without a client around it. */
async function rawListener(url: string): Promise<{ told: Told; heard: Heard[]; close(): void }> {
  const client = new HttpClient(url, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' });
  const told: Told = new Inbox();
  const wanted = { toolsListChanged: true, promptsListChanged: true };
  void client.request('subscriptions/listen', { notifications: wanted, _meta: META }).catch(() => {});
  await client.hears('notifications/subscriptions/acknowledged');
  void (async () => {
    for (;;) {
      const { method, params } = (await client.inbox.next()) as Heard;
      expect(params).toMatchObject({ _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } });
      told.put(/tools|prompts/.exec(String(method))?.[0] as 'tools' | 'prompts');
    }
  })();
  return { told, heard: client.inbox.all as Heard[], close: () => client.close() };
}

const EXPECTED = EDITS.flatMap(({ told }) => told ?? []);
const text = (value: string) => [{ type: 'text', text: value }];

/** The calls in flight end when the story says so, however long the edits take. */
const PATIENT = ['--drain', '600'];

/** What a story follows. */
interface Story {
  readonly project: Project;
  readonly run: Pick<DevRun, 'says' | 'saysNext'>;
  readonly readers: readonly Reader[];
  readonly listeners: readonly { readonly told: Told; close(): void }[];
}

/** Edits several times, each time as soon as the last edit is served. Calls that began before end where they began. */
function tell(begin: () => Promise<Story>, end: (story: Story) => Promise<void>): void {
  let story: Story;
  let sessions: (string | undefined)[];
  let slow: Promise<unknown>[];
  let pid: number;
  let reloads = 0;

  beforeAll(async () => {
    story = await begin();
    sessions = story.readers.map((reader) => reader.session());
    slow = story.readers.map((reader) => reader.call('slow'));
    const began = await story.run.saysNext(new RegExp(story.readers.map(() => 'slow began in (\\d+)[^]*').join('')));
    pid = Number(began[1]);
  });

  afterAll(() => end(story));

  it.each(EDITS)('reach all clients: $name', async ({ file = 'src/weather.ts', from, to, told, says = RELOADED }) => {
    const { project, run, readers, listeners } = story;
    project.edit(file, from, to);
    if (told) for (const client of [...readers, ...listeners]) expect(await client.told.next()).toBe(told);
    const [line] = await run.saysNext(says);
    if (says === RELOADED && ++reloads === 2) process.kill(pid, 'SIGUSR2');
    expect(line).toBeDefined();
  });

  it('leave the calls that began before them to the program they began in', async () => {
    for (const each of slow) await expect(each).resolves.toEqual(text('slow ended'));
  });

  it('lose no answer, double none, and begin no new session', async () => {
    const { readers, listeners } = story;
    for (const { told } of listeners) expect(told.all).toEqual(EXPECTED);
    for (const [index, reader] of readers.entries()) {
      const tools = await reader.tools();
      expect(tools.find(({ name }) => name === 'outlook')?.description).toBe('Forecast 1');
      await expect(reader.call('outlook')).resolves.toEqual(text('rain in Oslo'));
      expect(reader.session()).toBe(sessions[index]);
      expect(reader.told.all).toEqual(EXPECTED);
      const ids = [...reader.heard].flatMap((each) => ('id' in each ? [(each as { id: unknown }).id] : []));
      expect(new Set(ids).size).toBe(ids.length);
    }
  });
}

async function overHttp(files: Readonly<Record<string, string>>, args: readonly string[]): Promise<Story> {
  const project = new Project(files);
  const port = String(await freePort());
  const run = project.dev(
    args.map((arg) => (arg === 'PORT' ? port : arg)),
    { PORT: port },
  );
  const [url] = await run.says(/http:\/\/\S+\/mcp/);
  expect(new URL(url).port).toBe(port);
  const readers = [await readerV1(new HttpV1(new URL(url))), await readerV2(new HttpV2(new URL(url)))];
  return { project, run, readers, listeners: [await rawListener(url)] };
}

async function leave({ readers, listeners }: Story): Promise<void> {
  for (const reader of readers) await reader.close();
  for (const listener of listeners) listener.close();
}

describe('edits of a program that exports a server', () => {
  tell(() => overHttp(EXPORTED, ['--port', 'PORT', ...PATIENT]), leave);
});

describe('edits of a Fastify application that serves by itself', () => {
  tell(() => overHttp(FASTIFY, PATIENT), leave);
});

describe('edits under a client over stdio', () => {
  tell(async () => {
    const project = new Project(EXPORTED);
    const transport = new StdioV1({ ...devCommand(['--stdio', ...PATIENT]), cwd: project.folder, stderr: 'pipe' });
    const printed = new Printed();
    transport.stderr?.on('data', (chunk: Buffer) => printed.add(chunk.toString()));
    return { project, run: printed, readers: [await readerV1(transport)], listeners: [] };
  }, leave);
});
