// The clients of the official SDK, in both of its major versions, against the conformance fixture.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { Everything, FIXTURE } from './everything.js';

const INFO = { name: 'interop', version: '1.0.0' };
const CAPABILITIES = { sampling: {}, elicitation: {} };
const STDIO = { command: process.execPath, args: [FIXTURE, '--stdio'] };

let fixture: Everything;

beforeAll(async () => {
  fixture = await Everything.start();
});

afterAll(async () => {
  await fixture.stop();
});

type Story = Pick<ClientV1, 'callTool' | 'close' | 'getPrompt' | 'listPrompts' | 'listResources' | 'listTools' | 'readResource'>;

/** What every client does, whatever it speaks. */
async function tellStory(client: Story) {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('test_simple_text');
  expect(await client.callTool({ name: 'test_simple_text', arguments: {} })).toMatchObject({
    content: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  });
  expect(await client.callTool({ name: 'test_error_handling', arguments: {} })).toMatchObject({ isError: true });
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain('test://static-text');
  expect(await client.readResource({ uri: 'test://static-binary' })).toMatchObject({ contents: [{ mimeType: 'image/png' }] });
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toContain('test_simple_prompt');
  const prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } });
  expect(JSON.stringify(prompt.messages)).toContain("arg1='a', arg2='b'");
  const progress: number[] = [];
  const reports = { onprogress: (report: { progress: number }) => void progress.push(report.progress) };
  await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, undefined, reports);
  expect(progress).toEqual([0, 50, 100]);
}

/** What clients with sessions can be asked. */
async function answerQuestions(client: Pick<ClientV1, 'callTool'>) {
  expect(await client.callTool({ name: 'test_sampling', arguments: { prompt: 'Hello' } })).toMatchObject({
    content: [{ text: 'LLM response: Hello yourself' }],
  });
  expect(await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } })).toMatchObject({
    content: [{ text: 'User response: ada' }],
  });
}

const SAMPLED = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hello yourself' } } as const;
const ELICITED = { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } } as const;

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

describe('the client of SDK 1', () => {
  it.each([
    ['HTTP', () => new HttpV1(new URL(fixture.url))],
    ['stdio', () => new StdioV1(STDIO)],
  ])('lists, calls, reads, gets and answers over %s', async (_name, transport) => {
    const client = clientV1();
    await client.connect(transport() as Parameters<ClientV1['connect']>[0]);
    await tellStory(client);
    await answerQuestions(client);
    await client.close();
  });
});

describe('the client of SDK 2', () => {
  it.each([
    ['HTTP', () => new HttpV2(new URL(fixture.url))],
    ['stdio', () => new StdioV2(STDIO)],
  ])('lists, calls, reads, gets and answers in legacy mode over %s', async (_name, transport) => {
    const client = clientV2('legacy');
    await client.connect(transport());
    await tellStory(client as unknown as Story);
    await answerQuestions(client as unknown as ClientV1);
    await client.close();
  });

  it.each([
    ['HTTP', () => new HttpV2(new URL(fixture.url))],
    ['stdio', () => new StdioV2(STDIO)],
  ])('lists, calls, reads and gets in modern mode over %s', async (_name, transport) => {
    const client = clientV2({ pin: '2026-07-28' });
    await client.connect(transport());
    await tellStory(client as unknown as Story);
    await client.close();
  });

  it('chooses the modern mode by itself', async () => {
    const client = clientV2('auto');
    await client.connect(new HttpV2(new URL(fixture.url)));
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    await tellStory(client as unknown as Story);
    await client.close();
  });
});

describe('clients of both versions', () => {
  it('work at the same time on one server', async () => {
    const [session, legacy, modern] = [clientV1(), clientV2('legacy'), clientV2({ pin: '2026-07-28' })];
    await session.connect(new HttpV1(new URL(fixture.url)) as Parameters<ClientV1['connect']>[0]);
    await legacy.connect(new HttpV2(new URL(fixture.url)));
    await modern.connect(new HttpV2(new URL(fixture.url)));
    const clients = [session, legacy, modern] as unknown as Story[];
    await Promise.all(clients.map(tellStory));
    await Promise.all(clients.map((client) => client.close()));
  });
});
