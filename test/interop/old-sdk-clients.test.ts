// The clients that the official SDK had when each revision with sessions was new, against the conformance fixture. What
// a revision does not have, its client does not take: they check every message that comes by their own schemas.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as A from 'sdk-0.6/client/index.js';
import * as AStdio from 'sdk-0.6/client/stdio.js';
import * as ATypes from 'sdk-0.6/types.js';
import * as AHttp from 'sdk-1.10/client/streamableHttp.js';
import * as AB from 'sdk-1.10/client/index.js';
import * as ABStdio from 'sdk-1.10/client/stdio.js';
import * as ABTypes from 'sdk-1.10/types.js';
import * as B from 'sdk-1.11/client/index.js';
import * as BStdio from 'sdk-1.11/client/stdio.js';
import * as BHttp from 'sdk-1.11/client/streamableHttp.js';
import * as BTypes from 'sdk-1.11/types.js';
import * as C from 'sdk-1.13/client/index.js';
import * as CStdio from 'sdk-1.13/client/stdio.js';
import * as CHttp from 'sdk-1.13/client/streamableHttp.js';
import * as CTypes from 'sdk-1.13/types.js';
import * as D from '@modelcontextprotocol/sdk/client/index.js';
import * as DStdio from '@modelcontextprotocol/sdk/client/stdio.js';
import * as DHttp from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as DTypes from '@modelcontextprotocol/sdk/types.js';

import { ExampleProcess, programOf } from './example-process.js';

type Json = Record<string, unknown>;
type Handler = (request: { params?: Json }) => Promise<object>;
type Transport = { start(): Promise<void>; onmessage?: unknown };

/** What the clients of all versions have in common, as far as it is used here. */
interface Client {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
  ping(): Promise<object>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: Json): Promise<{ content: Json[]; isError?: boolean }>;
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

/** One version of the SDK: the modules of it that are used. */
interface Sdk {
  readonly client: { Client: unknown };
  readonly stdio: { StdioClientTransport: unknown };
  /** Where it has Streamable HTTP. The HTTP client of 0.6 is for HTTP+SSE, which the fixture does not serve. */
  readonly http?: { StreamableHTTPClientTransport: unknown };
  readonly types: Readonly<Record<string, unknown>>;
}

type Make<T> = new (...args: unknown[]) => T;

const VERSIONS: readonly (readonly [version: string, revision: string, sdk: Sdk])[] = [
  ['0.6', '2024-11-05', { client: A, stdio: AStdio, types: ATypes }],
  ['1.10', '2024-11-05', { client: AB, stdio: ABStdio, http: AHttp, types: ABTypes }],
  ['1.11', '2025-03-26', { client: B, stdio: BStdio, http: BHttp, types: BTypes }],
  ['1.13', '2025-06-18', { client: C, stdio: CStdio, http: CHttp, types: CTypes }],
  ['1.32', '2025-11-25', { client: D, stdio: DStdio, http: DHttp, types: DTypes }],
];

let fixture: ExampleProcess;

beforeAll(async () => {
  fixture = await ExampleProcess.start('everything');
});

afterAll(async () => {
  await fixture.stop();
});

/** A client that answers what it is asked, and notes the revision that the server agrees to. */
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
  const logged: unknown[] = [];
  client.setNotificationHandler(types['LoggingMessageNotificationSchema'], ({ params }) =>
    logged.push(params?.['level']),
  );
  return { client, logged };
}

/** Listens to what a transport receives, for the revision in the answer to `initialize`. */
function overhear(transport: Transport): { readonly revision: () => unknown } {
  let agreed: unknown;
  let deliver: ((...args: unknown[]) => void) | undefined;
  Object.defineProperty(transport, 'onmessage', {
    get: () => (deliver === undefined ? undefined : hear),
    set: (handler: typeof deliver) => {
      deliver = handler;
    },
  });
  const hear = (message: { result?: { protocolVersion?: unknown } }, ...rest: unknown[]) => {
    agreed ??= message.result?.protocolVersion;
    deliver?.(message, ...rest);
  };
  return { revision: () => agreed };
}

const MEDIA = ['test_image_content', 'test_audio_content', 'test_embedded_resource', 'test_multiple_content_types'];

async function tellStory({ client, logged }: ReturnType<typeof clientOf>, revision: string): Promise<void> {
  const call = (name: string, args: Json = {}) => client.callTool({ name, arguments: args });
  await client.ping();
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
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain('test://static-text');
  expect(await client.readResource({ uri: 'test://static-binary' })).toMatchObject({
    contents: [{ mimeType: 'image/png' }],
  });
  await expect(client.readResource({ uri: 'test://nothing' })).rejects.toMatchObject({ code: -32002 });
  expect((await client.listResourceTemplates()).resourceTemplates).not.toHaveLength(0);
  await client.subscribeResource({ uri: 'test://watched-resource' });
  await client.unsubscribeResource({ uri: 'test://watched-resource' });
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('test_simple_prompt');
  const prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } });
  expect(prompt.messages).toMatchObject([{ content: { text: expect.stringContaining("arg1='a', arg2='b'") } }]);
  await client.getPrompt({ name: 'test_prompt_with_image' });
  const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
  expect((await client.complete({ ref, argument: { name: 'arg1', value: '' } })).completion.values).toBeInstanceOf(
    Array,
  );
  await client.setLoggingLevel('warning');
  await call('test_logging_tool');
  expect(logged).toEqual(['warning', 'error']);
  expect(await call('test_sampling', { prompt: 'Hello' })).toMatchObject({
    content: [{ text: `LLM response: Hello from ${revision}` }],
  });
  const asked = await call('test_elicitation', { message: 'Who?' });
  if (revision >= '2025-06-18') expect(asked).toMatchObject({ content: [{ text: 'User response: ada' }] });
  else expect(asked).toMatchObject({ isError: true });
}

async function run(sdk: Sdk, revision: string, transport: Transport): Promise<void> {
  const known = clientOf(sdk, revision);
  const heard = overhear(transport);
  try {
    await known.client.connect(transport);
    expect(heard.revision()).toBe(revision);
    await tellStory(known, revision);
  } finally {
    await known.client.close();
  }
}

const STDIO = { command: process.execPath, args: [programOf('everything'), '--stdio'] };

describe('the client of an SDK of its time', () => {
  it.each(VERSIONS)('%s speaks %s over stdio', async (_version, revision, sdk) => {
    await run(sdk, revision, new (sdk.stdio.StdioClientTransport as Make<Transport>)(STDIO));
  });

  const overHttp = VERSIONS.flatMap(([version, revision, { http, ...sdk }]) =>
    http ? [{ version, revision, http, sdk }] : [],
  );

  it.each(overHttp)('$version speaks $revision over Streamable HTTP', async ({ revision, http, sdk }) => {
    const url = new URL(fixture.url);
    await run(sdk, revision, new (http.StreamableHTTPClientTransport as Make<Transport>)(url));
  });
});
