// The clients of the official SDK, in both of its major versions, against the conformance fixture.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { ExampleProcess, programOf } from './example-process.js';

const FIXTURE = programOf('everything');
const INFO = { name: 'interop', version: '1.0.0' };
const CAPABILITIES = { sampling: {}, elicitation: {} };
const STDIO = { command: process.execPath, args: [FIXTURE, '--stdio'] };

let fixture: ExampleProcess;

beforeAll(async () => {
  fixture = await ExampleProcess.start('everything');
});

afterAll(async () => {
  await fixture.stop();
});

type Asking = 'close' | 'getPrompt' | 'listPrompts' | 'listResources' | 'listTools' | 'readResource';

/** What both versions of the SDK have in common; they take the options of a call at different places. */
interface Client extends Pick<ClientV1, Asking> {
  callTool(params: { name: string; arguments: object }, ...options: unknown[]): Promise<unknown>;
}

const reporting = (client: Client, options: object): unknown[] =>
  client instanceof ClientV1 ? [undefined, options] : [options];

/** What every client does, whatever it speaks. */
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
  expect(progress).toEqual([0, 50, 100]);
}

/** What clients with sessions can be asked. */
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

/** Closes the client however its story ends: an open one keeps its server and the test process alive. */
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

  it.each(V2)('chooses the modern mode by itself over %s', async (_name, transport) => {
    const client = clientV2('auto');
    const story = async () => {
      expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
      await tellStory(asClient(client));
    };
    await withClient(asClient(client), () => client.connect(transport()), story);
  });
});

describe('clients of both versions', () => {
  it('work at the same time on one server', async () => {
    const [session, legacy, modern] = [clientV1(), clientV2('legacy'), clientV2({ pin: '2026-07-28' })];
    const url = new URL(fixture.url);
    const run = (client: ClientV2) =>
      withClient(
        asClient(client),
        () => client.connect(new HttpV2(url)),
        () => tellStory(asClient(client)),
      );
    await Promise.all([
      withClient(
        asClient(session),
        () => session.connect(asV1(new HttpV1(url))),
        () => tellStory(asClient(session)),
      ),
      run(legacy),
      run(modern),
    ]);
  });
});
