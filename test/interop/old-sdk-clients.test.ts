// The official SDK clients from the time of each session revision. They validate every message with their own schemas,
// so they reject anything newer than their revision.
import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EventSource } from 'eventsource';
import * as A from 'sdk-0.6/client/index.js';
import * as ASse from 'sdk-0.6/client/sse.js';
import * as AStdio from 'sdk-0.6/client/stdio.js';
import * as ATypes from 'sdk-0.6/types.js';
import * as AB from 'sdk-1.10/client/index.js';
import * as ABSse from 'sdk-1.10/client/sse.js';
import * as ABStdio from 'sdk-1.10/client/stdio.js';
import * as ABHttp from 'sdk-1.10/client/streamableHttp.js';
import * as ABTypes from 'sdk-1.10/types.js';
import * as B from 'sdk-1.11/client/index.js';
import * as BSse from 'sdk-1.11/client/sse.js';
import * as BStdio from 'sdk-1.11/client/stdio.js';
import * as BHttp from 'sdk-1.11/client/streamableHttp.js';
import * as BTypes from 'sdk-1.11/types.js';
import * as C from 'sdk-1.13/client/index.js';
import * as CSse from 'sdk-1.13/client/sse.js';
import * as CStdio from 'sdk-1.13/client/stdio.js';
import * as CHttp from 'sdk-1.13/client/streamableHttp.js';
import * as CTypes from 'sdk-1.13/types.js';
import * as D from '@modelcontextprotocol/sdk/client/index.js';
import * as DSse from '@modelcontextprotocol/sdk/client/sse.js';
import * as DStdio from '@modelcontextprotocol/sdk/client/stdio.js';
import * as DHttp from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as DTypes from '@modelcontextprotocol/sdk/types.js';

import { ExampleProcess, STORY_SERVER } from './example-process.js';
import { type Heard, overhear, progressOf } from './overhear.js';

type Json = Record<string, unknown>;
type Handler = (request: { params?: Json }) => Promise<object>;
type Transport = { send(message: Heard, ...rest: unknown[]): Promise<void> };
type CallOptions = { signal?: AbortSignal; onprogress?: (progress: { progress: number; total?: number }) => void };

/** The members shared by the clients of all versions. */
interface Client {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
  ping(): Promise<object>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: Json, schema?: undefined, options?: CallOptions): Promise<{ content: Json[]; isError?: boolean }>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: Json[] }>;
  readResource(params: Json): Promise<{ contents: Json[] }>;
  subscribeResource(params: Json): Promise<object>;
  unsubscribeResource(params: Json): Promise<object>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(params: Json): Promise<{ messages: { content: Json }[] }>;
  complete(params: Json): Promise<{ completion: { values: string[] } }>;
  setLoggingLevel(level: string): Promise<object>;
  setRequestHandler(schema: unknown, handler: Handler): void;
  setNotificationHandler(schema: unknown, handler: (notification: { params?: Json }) => void): void;
}

/** The modules of one SDK version. */
interface Sdk {
  readonly client: { Client: unknown };
  readonly stdio: { StdioClientTransport: unknown };
  readonly sse: { SSEClientTransport: unknown };
  /** Only in versions with Streamable HTTP. */
  readonly http?: { StreamableHTTPClientTransport: unknown };
  readonly types: Readonly<Record<string, unknown>>;
}

type Make<T> = new (...args: unknown[]) => T;

const VERSIONS: readonly (readonly [version: string, revision: string, sdk: Sdk])[] = [
  ['0.6', '2024-11-05', { client: A, stdio: AStdio, sse: ASse, types: ATypes }],
  ['1.10', '2024-11-05', { client: AB, stdio: ABStdio, sse: ABSse, http: ABHttp, types: ABTypes }],
  ['1.11', '2025-03-26', { client: B, stdio: BStdio, sse: BSse, http: BHttp, types: BTypes }],
  ['1.13', '2025-06-18', { client: C, stdio: CStdio, sse: CSse, http: CHttp, types: CTypes }],
  ['1.32', '2025-11-25', { client: D, stdio: DStdio, sse: DSse, http: DHttp, types: DTypes }],
];

let fixture: ExampleProcess;

beforeAll(async () => {
  // the HTTP+SSE client of 0.6 expects the EventSource of browsers
  globalThis.EventSource = EventSource as typeof globalThis.EventSource;
  fixture = await ExampleProcess.start(STORY_SERVER);
});

afterAll(async () => {
  await fixture.stop();
});

/** A client that answers questions and records the negotiated revision. */
function clientOf({ client: { Client }, types }: Sdk, revision: string) {
  const elicits = revision >= '2025-06-18';
  const capabilities = { sampling: {}, roots: {}, ...(elicits && { elicitation: {} }) };
  const client = new (Client as Make<Client>)({ name: 'old', version: '1.0.0' }, { capabilities });
  client.setRequestHandler(types['CreateMessageRequestSchema'], async () => ({
    role: 'assistant',
    model: 'm',
    content: { type: 'text', text: `Hello from ${revision}` },
  }));
  client.setRequestHandler(types['ListRootsRequestSchema'], async () => ({ roots: [{ uri: 'file:///home/ada' }] }));
  if (elicits) {
    const content = { username: 'ada', email: 'ada@example.com' };
    client.setRequestHandler(types['ElicitRequestSchema'], async () => ({ action: 'accept', content }));
  }
  const [logged, updated, errors]: [unknown[], unknown[], unknown[]] = [[], [], []];
  client.setNotificationHandler(types['LoggingMessageNotificationSchema'], ({ params }) =>
    logged.push(params?.['level']),
  );
  const follows = new Promise<void>((resolve) => {
    client.setNotificationHandler(types['ResourceUpdatedNotificationSchema'], ({ params }) => {
      updated.push(params?.['uri']);
      resolve();
    });
  });
  // includes unmatched responses and schema violations
  Object.assign(client, { onerror: (error: Error) => errors.push(error) });
  return { client, logged, updated, follows, errors };
}

/** Corrects the method name of cancellations: 0.6 uses one that no revision has. */
function correct(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, ...rest) =>
    send(message.method === 'cancelled' ? { ...message, method: 'notifications/cancelled' } : message, ...rest);
}

const MEDIA = ['test_image_content', 'test_audio_content', 'test_embedded_resource', 'test_multiple_content_types'];

type Known = ReturnType<typeof clientOf>;

const toolOf =
  (client: Client) =>
  (name: string, args: Json = {}) =>
    client.callTool({ name, arguments: args });

async function callTools({ client }: Known, revision: string): Promise<void> {
  const call = toolOf(client);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('test_simple_text');
  expect(await call('test_simple_text')).toMatchObject({
    content: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  });
  for (const name of MEDIA) expect((await call(name)).content).not.toHaveLength(0);
  const [sound] = (await call('test_audio_content')).content;
  expect(sound).toMatchObject({ type: revision === '2024-11-05' ? 'resource' : 'audio' });
  expect(await call('test_error_handling')).toMatchObject({ isError: true });
  await expect(call('test_unknown')).rejects.toMatchObject({ code: -32602 });
}

async function readAndFollow({ client, updated, follows }: Known): Promise<void> {
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain('test://static-text');
  expect(await client.readResource({ uri: 'test://static-binary' })).toMatchObject({
    contents: [{ mimeType: 'image/png' }],
  });
  await expect(client.readResource({ uri: 'test://nothing' })).rejects.toMatchObject({ code: -32002 });
  expect((await client.listResourceTemplates()).resourceTemplates).not.toHaveLength(0);
  const uri = 'test://watched-resource';
  await client.subscribeResource({ uri });
  await toolOf(client)('touch');
  await follows;
  await client.unsubscribeResource({ uri });
  await toolOf(client)('touch');
  await client.ping();
  expect(updated).toEqual([uri]);
}

async function getAndComplete({ client }: Known): Promise<void> {
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('test_simple_prompt');
  const prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } });
  expect(prompt.messages).toMatchObject([{ content: { text: expect.stringContaining("arg1='a', arg2='b'") } }]);
  await client.getPrompt({ name: 'test_prompt_with_image' });
  const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
  expect(await client.complete({ ref, argument: { name: 'arg1', value: 'test' } })).toMatchObject({
    completion: { values: ['test', 'test value'] },
  });
}

async function beAsked({ client }: Known, revision: string): Promise<void> {
  const call = toolOf(client);
  expect(await call('test_sampling', { prompt: 'Hello' })).toMatchObject({
    content: [{ text: `LLM response: Hello from ${revision}` }],
  });
  expect(await call('test_input_required_result_list_roots')).toMatchObject({
    content: [{ text: 'The client works in 1 places.' }],
  });
  const asked = await call('test_elicitation', { message: 'Who?' });
  if (revision >= '2025-06-18') expect(asked).toMatchObject({ content: [{ text: 'User response: ada' }] });
  else expect(asked).toMatchObject({ isError: true });
}

async function beTold({ client, logged }: Known, heard: ReadonlySet<Heard>): Promise<void> {
  await client.setLoggingLevel('warning');
  await toolOf(client)('test_logging_tool');
  expect(logged).toEqual(['warning', 'error']);
  const progress: number[] = [];
  const params = { name: 'test_tool_with_progress', arguments: {} };
  await client.callTool(params, undefined, { onprogress: (report) => progress.push(report.progress) });
  expect(progressOf(heard)).toEqual([[0, 50, 100]]);
  expect(progress).toEqual([0, 50, 100].slice(0, progress.length));
  expect(progress).not.toHaveLength(0);
}

/** Cancels an endless call as soon as it has started. */
async function cancel({ client }: Known): Promise<void> {
  const name = randomUUID();
  const begun = (tool: string, signal?: AbortSignal) => {
    let result!: ReturnType<Client['callTool']>;
    const first = new Promise<void>((resolve) => {
      const options = { onprogress: () => resolve(), ...(signal && { signal }) };
      result = client.callTool({ name: tool, arguments: { name } }, undefined, options);
    });
    return { result, first };
  };
  const controller = new AbortController();
  const [why, waiting] = [begun('why'), begun('wait', controller.signal)];
  await Promise.all([why.first, waiting.first]);
  controller.abort('enough');
  await expect(waiting.result).rejects.toBeDefined();
  expect(await why.result).toMatchObject({ content: [{ text: 'enough' }] });
}

async function tellStory(known: Known, revision: string, heard: ReadonlySet<Heard>): Promise<void> {
  await known.client.ping();
  await callTools(known, revision);
  await readAndFollow(known);
  await getAndComplete(known);
  await beAsked(known, revision);
  await beTold(known, heard);
  await cancel(known);
  await known.client.ping();
  // the SDK hears a notification after the response that arrives in the same chunk, and has forgotten the token then
  expect(known.errors.filter((error) => !`${error}`.includes('progress notification for an unknown token'))).toEqual(
    [],
  );
}

async function run(sdk: Sdk, revision: string, transport: Transport): Promise<void> {
  const known = clientOf(sdk, revision);
  const heard = overhear(transport);
  correct(transport);
  try {
    await known.client.connect(transport);
    expect([...heard].find(({ result }) => result)?.result?.['protocolVersion']).toBe(revision);
    await tellStory(known, revision, heard);
  } finally {
    await known.client.close();
  }
}

const STDIO = { command: process.execPath, args: [STORY_SERVER, '--stdio'] };

describe('the SDK client of the same time', () => {
  it.each(VERSIONS)('%s speaks %s over stdio', async (_version, revision, sdk) => {
    await run(sdk, revision, new (sdk.stdio.StdioClientTransport as Make<Transport>)(STDIO));
  });

  it.each(VERSIONS)('%s speaks %s over HTTP+SSE', async (_version, revision, sdk) => {
    await run(sdk, revision, new (sdk.sse.SSEClientTransport as Make<Transport>)(new URL('/sse', fixture.url)));
  });

  const overHttp = VERSIONS.flatMap(([version, revision, { http, ...sdk }]) =>
    http ? [{ version, revision, http, sdk }] : [],
  );

  it.each(overHttp)('$version speaks $revision over Streamable HTTP', async ({ revision, http, sdk }) => {
    const url = new URL(fixture.url);
    await run(sdk, revision, new (http.StreamableHTTPClientTransport as Make<Transport>)(url));
  });
});
