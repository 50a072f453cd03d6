// Our client against `everything`: all kinds of requests and questions, in all revisions, over both transports.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, type ClientOptions, connectClient, type ConnectTarget } from '@decorum/client';
import { McpError } from '@decorum/core';
import { revisions } from '@decorum/testing';

import { ExampleProcess, programOf } from './example-process.js';

const PROGRAM = programOf('everything');
const [OLDEST, NEWEST_SESSION] = [revisions[0], revisions.at(-2)];

let server: ExampleProcess;
beforeAll(async () => {
  server = await ExampleProcess.start(PROGRAM);
});
afterAll(async () => await server.stop());

const open: Client[] = [];
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});

/** Connects. Notes which tools ask, and answers. */
async function clientOf(target: ConnectTarget, options: ClientOptions = {}) {
  const asked: unknown[] = [];
  const note = (kind: string, params: Record<string, unknown> = {}) => asked.push(`${kind} ${String(params['name'])}`);
  const client = await connectClient(target, {
    onElicit({ requestedSchema }, call) {
      note('elicit', call?.params);
      const [field = ''] = Object.keys(requestedSchema['properties'] as object);
      return { action: 'accept', content: { [field]: field === 'color' ? 'red' : 'Ada' } };
    },
    onSample(_question, call) {
      note('sample', call?.params);
      return 'Paris';
    },
    onRoots(call) {
      note('roots', call?.params);
      return [{ uri: 'file:///work', name: 'work' }];
    },
    ...options,
  });
  open.push(client);
  const textOf = async (name: string, args = {}) => {
    const { content } = await client.callTool(name, args);
    return (content[0] as { readonly text: string }).text;
  };
  return { client, asked, textOf };
}

const targetOf = (via: string): ConnectTarget =>
  via === 'stdio' ? { command: process.execPath, args: [PROGRAM, '--stdio'] } : server.url;

const PAIRS = revisions.flatMap((revision) => ['stdio', 'http'].map((via) => [revision, via] as const));

describe.each(PAIRS)('a client of `everything` in %s over %s', (revision, via) => {
  it('lists, calls, reads, gets and completes', async () => {
    const { client, textOf } = await clientOf(targetOf(via), { revision });
    expect(client).toMatchObject({ revision, serverInfo: { name: 'everything' } });
    await client.ping();
    const tools = await client.listTools();
    const prompts = await client.listPrompts();
    const resources = await client.listResources();
    const templates = await client.listResourceTemplates();
    expect(tools.map(({ name }) => name)).toContain('test_simple_text');
    expect(prompts.map(({ name }) => name)).toContain('test_simple_prompt');
    expect(resources.map(({ uri }) => uri)).toContain('test://static-text');
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toContain('test://template/{id}/data');
    expect(await textOf('test_x_mcp_header', { region: 'Æ' })).toBe('The region is Æ.');
    expect(await client.callTool('test_error_handling')).toMatchObject({ isError: true });
    expect((await client.callTool('test_multiple_content_types')).content.map(({ type }) => type)).toEqual([
      'text',
      'image',
      'resource',
    ]);
    expect(await client.readResource('test://template/7/data')).toMatchObject({
      contents: [{ uri: 'test://template/7/data' }],
    });
    expect(await client.getPrompt('test_prompt_with_arguments', { arg1: 'a', arg2: 'b' })).toMatchObject({
      messages: [{ content: { text: "Prompt with arguments: arg1='a', arg2='b'" } }],
    });
    const suggested = await client.complete({ prompt: 'test_prompt_with_arguments' }, { name: 'arg1', value: 'test' });
    expect(suggested.values).toEqual(['test', 'test value']);
    await expect(client.readResource('test://nothing')).rejects.toBeInstanceOf(McpError);
  });

  it('answers questions for the call that asks', async () => {
    const { client, asked, textOf } = await clientOf(targetOf(via), { revision });
    expect(await textOf('test_sampling', { prompt: 'Where?' })).toBe('LLM response: Paris');
    expect(await textOf('test_input_required_result_list_roots')).toBe('The client works in 1 places.');
    const expected = ['sample test_sampling', 'roots test_input_required_result_list_roots'];
    // the first revisions have no elicitation
    if (revisions.indexOf(revision) > 1) {
      expect(await textOf('test_input_required_result_elicitation')).toBe('Hello, Ada!');
      expect(await textOf('test_input_required_result_multi_round')).toContain('"color":"red"');
      expect(await textOf('test_input_required_result_multiple_inputs')).toBe('accept: Paris, 1 roots');
      expect(await client.getPrompt('test_input_required_result_prompt')).toBeDefined();
      expected.push('elicit test_input_required_result_elicitation');
    } else {
      expect(await client.callTool('test_input_required_result_elicitation')).toMatchObject({ isError: true });
    }
    expect(asked).toEqual(expect.arrayContaining(expected));
  });

  it('hears of progress, logs and changes, and cancels', async () => {
    const heard: string[] = [];
    const { client, textOf } = await clientOf(targetOf(via), { revision });
    const progress: number[] = [];
    await client.callTool('test_tool_with_progress', {}, { onProgress: (done) => void progress.push(done) });
    expect(progress).toEqual([0, 50, 100]);
    await client.setLogLevel('info');
    await client.callTool('test_tool_with_logging', {}, { onNotification: ({ method }) => void heard.push(method) });
    if (via === 'http') expect(heard).toContain('notifications/message');
    const listening = await client.listen();
    const changes = listening[Symbol.asyncIterator]();
    await textOf('test_trigger_tool_change');
    expect((await changes.next()).value).toMatchObject({ method: 'notifications/tools/list_changed' });
    await textOf('test_trigger_prompt_change');
    expect((await changes.next()).value).toMatchObject({ method: 'notifications/prompts/list_changed' });
    await listening.close();
    const gone = new AbortController();
    const call = client.callTool('slow_compute', { seconds: 300 }, { signal: gone.signal });
    gone.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await client.ping();
  });
});

describe('a client of `everything` over HTTP+SSE', () => {
  it('falls back to it, calls and answers', async () => {
    const { client, textOf, asked } = await clientOf(new URL('/sse', server.url));
    expect(client.isStateless).toBe(false);
    expect(await textOf('test_simple_text')).toContain('simple text');
    expect(await textOf('test_sampling', { prompt: 'Where?' })).toBe('LLM response: Paris');
    expect(asked).toEqual(['sample test_sampling']);
    const oldest = await clientOf(new URL('/sse', server.url), { revision: OLDEST });
    expect([client.revision, oldest.client.revision]).toEqual([NEWEST_SESSION, OLDEST]);
  });
});
