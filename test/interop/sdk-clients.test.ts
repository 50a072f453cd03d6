// The official SDK clients of both major versions, and the official inspector, against the conformance fixture.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';

import { ExampleProcess, PIPE, programOf, STORY_SERVER } from './example-process.js';
import { type Heard, overhear, progressOf } from './overhear.js';

const INFO = { name: 'interop', version: '1.0.0' };
const CAPABILITIES = { sampling: {}, elicitation: {} };

let shared: ExampleProcess;

beforeAll(async () => {
  shared = await ExampleProcess.start(STORY_SERVER);
});
afterAll(() => shared.stop());

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json');
const INSPECTOR = join(dirname(manifest), 'clients/launcher/build/index.js');

it.each([
  ['HTTP', () => [shared.url]],
  ['stdio', () => [process.execPath, programOf('everything'), '--stdio']],
])(
  'the inspector lists and calls tools over %s',
  async (_name, target) => {
    const inspect = async (...args: string[]) => {
      const { stdout } = await promisify(execFile)(process.execPath, [INSPECTOR, '--cli', ...target(), ...args]);
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const [{ tools }, called] = await Promise.all([
      inspect('--method', 'tools/list'),
      inspect('--method', 'tools/call', '--tool-name', 'test_simple_text'),
    ]);
    expect(tools).toContainEqual(expect.objectContaining({ name: 'test_simple_text' }));
    expect(called).toMatchObject({ content: [{ text: 'This is a simple text response for testing.' }] });
  },
  60_000,
);

type Asking = 'close' | 'getPrompt' | 'listPrompts' | 'listResources' | 'listTools' | 'readResource';

/** The members shared by both versions. They take call options at different positions. */
interface Client extends Pick<ClientV1, Asking> {
  callTool(params: { name: string; arguments: object }, ...options: unknown[]): Promise<unknown>;
}

const SAMPLED = { role: 'assistant', model: 'm' } as const;
const ELICITED = { username: 'ada', email: 'ada@example.com' };

/** A barrier: all wait until everyone has arrived. */
class Gathering {
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly count: number) {}

  async arrive(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.waiting.push(resolve);
      if (this.waiting.length === this.count) for (const go of this.waiting) go();
    });
  }
}

/** The barrier at which clients wait before their models answer. */
let asked: Gathering;

const sampling = (name: string) => async () => {
  await asked.arrive();
  return { ...SAMPLED, content: { type: 'text', text: `I am ${name}` } } as const;
};
const eliciting = (name: string) => async () =>
  ({ action: 'accept', content: { ...ELICITED, username: name } }) as const;

/** A client that answers with its name. */
function clientV1(name: string): ClientV1 {
  const client = new ClientV1(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(CreateMessageRequestSchema, sampling(name));
  client.setRequestHandler(ElicitRequestSchema, eliciting(name));
  return client;
}

const clientV2 = (mode: 'legacy' | 'auto' | { pin: string }) => (name: string) => {
  const client = new ClientV2(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
  client.setRequestHandler('sampling/createMessage', sampling(name));
  client.setRequestHandler('elicitation/create', eliciting(name));
  return client;
};

/** An action that clients can do concurrently, with its assertions. */
type Deed = (client: Client, name: string) => Promise<void>;

const call = (client: Client, name: string, args: object = {}, ...options: unknown[]) =>
  client.callTool({ name, arguments: args }, ...options);

const DEEDS: Readonly<Record<string, Deed>> = {
  async list(client) {
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('meet');
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain('test://static-text');
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('test_simple_prompt');
  },
  async call(client) {
    expect(await call(client, 'test_simple_text')).toMatchObject({
      content: [{ type: 'text', text: 'This is a simple text response for testing.' }],
    });
    expect(await call(client, 'test_error_handling')).toMatchObject({ isError: true });
  },
  async read(client) {
    expect(await client.readResource({ uri: 'test://template/7/data' })).toMatchObject({
      contents: [{ text: expect.stringContaining('Data for ID: 7') }],
    });
    expect(await client.readResource({ uri: 'test://static-binary' })).toMatchObject({
      contents: [{ mimeType: 'image/png' }],
    });
  },
  async get(client, name) {
    const prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: name, arg2: 'b' } });
    expect(JSON.stringify(prompt.messages)).toContain(`arg1='${name}', arg2='b'`);
  },
  async follow(client) {
    const options = { onprogress: () => {} };
    const given = client instanceof ClientV1 ? [undefined, options] : [options];
    await call(client, 'test_tool_with_progress', {}, ...given);
  },
  async sample(client, name) {
    expect(await call(client, 'test_sampling', { prompt: 'Who are you?' })).toMatchObject({
      content: [{ text: `LLM response: I am ${name}` }],
    });
  },
  async elicit(client, name) {
    expect(await call(client, 'test_elicitation', { message: 'Who?' })).toMatchObject({
      content: [{ text: `User response: ${name}` }],
    });
  },
  async fail(client) {
    await expect(client.readResource({ uri: 'test://nothing' })).rejects.toMatchObject({ message: expect.any(String) });
  },
};

const KINDS = {
  session: clientV1,
  legacy: clientV2('legacy'),
  auto: clientV2('auto'),
  modern: clientV2({ pin: '2026-07-28' }),
};

describe('clients of both versions and all modes', () => {
  const clients = new Map<string, Client>();
  const transports: ReadonlySet<Heard>[] = [];

  beforeAll(async () => {
    const url = new URL(shared.url);
    const pipe = { command: process.execPath, args: [PIPE, String(shared.port)] };
    const connecting = Object.entries(KINDS).flatMap(([kind, make]) =>
      ['HTTP', 'stdio'].map(async (medium) => {
        const name = `${kind} over ${medium}`;
        const client = make(name);
        clients.set(name, client as unknown as Client);
        const [Http, Stdio] = client instanceof ClientV1 ? [HttpV1, StdioV1] : [HttpV2, StdioV2];
        const transport = medium === 'HTTP' ? new Http(url) : new Stdio(pipe);
        transports.push(overhear(transport));
        await (client as ClientV1).connect(transport as Parameters<ClientV1['connect']>[0]);
      }),
    );
    await Promise.all(connecting);
  });

  afterAll(async () => {
    await Promise.all([...clients.values()].map((client) => client.close()));
  });

  it('work on one server, over HTTP and stdio, with all their calls and questions in flight at once', async () => {
    const detecting = [...clients].flatMap(([name, client]) => (name.startsWith('auto') ? [client] : []));
    const detected = detecting.map((client) => (client as unknown as ClientV2).getNegotiatedProtocolVersion());
    expect(detected).toEqual(['2026-07-28', '2026-07-28']);
    const everybody = [...clients];
    const all = everybody.flatMap(([name, client]) => Object.values(DEEDS).map((deed) => () => deed(client, name)));
    let runs = 0;
    const property = fc.asyncProperty(fc.shuffledSubarray(all, { minLength: all.length }), async (order) => {
      const meeting = { place: `${++runs}`, count: clients.size };
      asked = new Gathering(clients.size);
      const begun = order.map((start) => start());
      const met = everybody.map(async ([name, client]) => {
        const result = await call(client, 'meet', { ...meeting, name });
        expect(result).toMatchObject({ content: [{ text: `${name} has met ${clients.size}` }] });
      });
      await Promise.all([...begun, ...met]);
    });
    await fc.assert(property, { seed: 20_260_728, numRuns: 5 });
    for (const heard of transports) expect(progressOf(heard)).toEqual(Array.from({ length: runs }, () => [0, 50, 100]));
  });
});
