// The official SDK clients of both major versions against the conformance fixture.
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

const FIXTURE = programOf('everything');
const INFO = { name: 'interop', version: '1.0.0' };
const CAPABILITIES = { sampling: {}, elicitation: {} };
const STDIO = { command: process.execPath, args: [FIXTURE, '--stdio'] };

let fixture: ExampleProcess;
let shared: ExampleProcess;

beforeAll(async () => {
  [fixture, shared] = await Promise.all([ExampleProcess.start(FIXTURE), ExampleProcess.start(STORY_SERVER)]);
});

afterAll(async () => {
  await Promise.all([fixture.stop(), shared.stop()]);
});

type Asking = 'close' | 'getPrompt' | 'listPrompts' | 'listResources' | 'listTools' | 'readResource';

/** The members shared by both versions. They take call options at different positions. */
interface Client extends Pick<ClientV1, Asking> {
  callTool(params: { name: string; arguments: object }, ...options: unknown[]): Promise<unknown>;
}

const reporting = (client: Client, options: object): unknown[] =>
  client instanceof ClientV1 ? [undefined, options] : [options];

/** The actions of every client. */
async function tellStory(client: Client) {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('test_simple_text');
  expect(await client.callTool({ name: 'test_simple_text', arguments: {} })).toMatchObject({
    content: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  });
  expect(await client.callTool({ name: 'test_error_handling', arguments: {} })).toMatchObject({ isError: true });
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain('test://static-text');
  expect(await client.readResource({ uri: 'test://static-binary' })).toMatchObject({
    contents: [{ mimeType: 'image/png' }],
  });
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toContain('test_simple_prompt');
  const prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } });
  expect(JSON.stringify(prompt.messages)).toContain("arg1='a', arg2='b'");
  const progress: number[] = [];
  const reports = { onprogress: (report: { progress: number }) => void progress.push(report.progress) };
  await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, ...reporting(client, reports));
  expect(progress).toEqual([0, 50, 100].slice(0, progress.length));
  expect(progress).not.toHaveLength(0);
}

/** Answers all questions for session clients. */
async function answerQuestions(client: Client) {
  expect(await client.callTool({ name: 'test_sampling', arguments: { prompt: 'Hello' } })).toMatchObject({
    content: [{ text: 'LLM response: Hello yourself' }],
  });
  expect(await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } })).toMatchObject({
    content: [{ text: 'User response: ada' }],
  });
}

const SAMPLED = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hello yourself' } } as const;
const ELICITED = { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } } as const;

/** Always closes the client, because an open one keeps its server and the test process alive. */
async function withClient<C extends Client>(client: C, connect: () => Promise<void>, story: () => Promise<void>) {
  try {
    await connect();
    await story();
  } finally {
    await client.close();
  }
}

function clientV1(): ClientV1 {
  const client = new ClientV1(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(CreateMessageRequestSchema, async () => SAMPLED);
  client.setRequestHandler(ElicitRequestSchema, async () => ELICITED);
  return client;
}

function clientV2(mode: 'legacy' | 'auto' | { pin: string }): ClientV2 {
  const client = new ClientV2(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
  client.setRequestHandler('sampling/createMessage', async () => SAMPLED);
  client.setRequestHandler('elicitation/create', async () => ELICITED);
  return client;
}

const asV1 = (transport: HttpV1 | StdioV1) => transport as Parameters<ClientV1['connect']>[0];
const asClient = (client: ClientV1 | ClientV2) => client as unknown as Client;

const V1 = [
  ['HTTP', () => new HttpV1(new URL(fixture.url))],
  ['stdio', () => new StdioV1(STDIO)],
] as const;

const V2 = [
  ['HTTP', () => new HttpV2(new URL(fixture.url))],
  ['stdio', () => new StdioV2(STDIO)],
] as const;

describe('the client of SDK 1', () => {
  it.each(V1)('lists, calls, reads, gets and answers over %s', async (_name, transport) => {
    const client = clientV1();
    await withClient(
      asClient(client),
      () => client.connect(asV1(transport())),
      async () => {
        await tellStory(asClient(client));
        await answerQuestions(asClient(client));
      },
    );
  });
});

describe('the client of SDK 2', () => {
  it.each(V2)('lists, calls, reads, gets and answers in legacy mode over %s', async (_name, transport) => {
    const client = clientV2('legacy');
    await withClient(
      asClient(client),
      () => client.connect(transport()),
      async () => {
        await tellStory(asClient(client));
        await answerQuestions(asClient(client));
      },
    );
  });

  it.each(V2)('lists, calls, reads, gets and answers in modern mode over %s', async (_name, transport) => {
    const client = clientV2({ pin: '2026-07-28' });
    const story = async () => {
      await tellStory(asClient(client));
      await answerQuestions(asClient(client));
    };
    await withClient(asClient(client), () => client.connect(transport()), story);
  });

  it.each(V2)('detects the modern mode over %s', async (_name, transport) => {
    const client = clientV2('auto');
    const story = async () => {
      expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
      await tellStory(asClient(client));
    };
    await withClient(asClient(client), () => client.connect(transport()), story);
  });
});

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

/** Makes a client answer with its name. */
function answering<C extends ClientV1 | ClientV2>(client: C, name: string): C {
  const sample = async () => {
    await asked.arrive();
    return { ...SAMPLED, content: { type: 'text', text: `I am ${name}` } } as const;
  };
  const elicit = async () => ({ ...ELICITED, content: { ...ELICITED.content, username: name } }) as const;
  if (client instanceof ClientV1) {
    client.setRequestHandler(CreateMessageRequestSchema, sample);
    client.setRequestHandler(ElicitRequestSchema, elicit);
  } else {
    client.setRequestHandler('sampling/createMessage', sample);
    client.setRequestHandler('elicitation/create', elicit);
  }
  return client;
}

/** An action that clients can do concurrently, with its assertions. */
type Deed = (client: Client, name: string) => Promise<void>;

const call = (client: Client, name: string, args: object = {}, ...options: unknown[]) =>
  client.callTool({ name, arguments: args }, ...options);

const DEEDS: Readonly<Record<string, Deed>> = {
  async list(client) {
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('meet');
  },
  async read(client) {
    expect(await client.readResource({ uri: 'test://template/7/data' })).toMatchObject({
      contents: [{ text: expect.stringContaining('Data for ID: 7') }],
    });
  },
  async get(client, name) {
    const prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: name, arg2: 'b' } });
    expect(JSON.stringify(prompt.messages)).toContain(`arg1='${name}', arg2='b'`);
  },
  async follow(client) {
    await call(client, 'test_tool_with_progress', {}, ...reporting(client, { onprogress: () => {} }));
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
  session: () => clientV1(),
  legacy: () => clientV2('legacy'),
  auto: () => clientV2('auto'),
  modern: () => clientV2({ pin: '2026-07-28' }),
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
        const client = answering(make(), name);
        clients.set(name, asClient(client));
        const [Http, Stdio] = client instanceof ClientV1 ? [HttpV1, StdioV1] : [HttpV2, StdioV2];
        const transport = medium === 'HTTP' ? new Http(url) : new Stdio(pipe);
        transports.push(overhear(transport));
        await (client as ClientV1).connect(asV1(transport as HttpV1));
      }),
    );
    await Promise.all(connecting);
  });

  afterAll(async () => {
    await Promise.all([...clients.values()].map((client) => client.close()));
  });

  it('work on one server, over HTTP and stdio, with all their calls and questions in flight at once', async () => {
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
