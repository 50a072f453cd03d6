import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listen } from '@decorum/http';

import { createBenchServer } from '../src/bench-server.js';
import { Connection } from '../src/connection.js';
import { readOptions } from '../src/options.js';
import { closeSession, type Era, openSession, prepareCall, type ToolName } from '../src/requests.js';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

let listening: Awaited<ReturnType<typeof listen>>;
let url: URL;

beforeAll(async () => {
  listening = await listen(createBenchServer(1000), { port: 0, host: '127.0.0.1' });
  url = new URL(listening.url);
});

afterAll(() => listening.close());

/** The text of the answer to a request of the stateless era. */
async function answer(method: string, params: { readonly [key: string]: unknown }): Promise<string> {
  const name = params['name'] ?? params['uri'];
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { ...params, _meta: { ...META, progressToken: 7 } },
    }),
  });
  return await response.text();
}

const result = async (method: string, params: { readonly [key: string]: unknown }): Promise<unknown> =>
  (JSON.parse(await answer(method, params)) as { result?: unknown }).result;

describe('the server that is measured', () => {
  test.each<[ToolName, Era]>([
    ['add', 'session'],
    ['add', 'stateless'],
    ['echo', 'session'],
    ['echo', 'stateless'],
  ])('answers %s rightly in the %s era, call after call on one connection', async (tool, era) => {
    const session = era === 'session' ? await openSession(url) : '';
    const connection = new Connection(url, prepareCall({ url, era, tool, session, client: 3 }));
    let left = 3;
    await connection.run(() => left-- > 0);
    connection.close();
    expect(connection.answerBytes).toBeGreaterThan(0);
    if (era === 'session') await closeSession(url, session);
  });

  test('adds: the sum as text and as structured content', async () => {
    expect(await result('tools/call', { name: 'add', arguments: { a: 2, b: 0.5 } })).toMatchObject({
      content: [{ type: 'text', text: '2.5' }],
      structuredContent: { sum: 2.5 },
    });
  });

  test('gives the length of a blob as text', async () => {
    const data = 'x'.repeat(100_000);
    expect(await result('tools/call', { name: 'blob', arguments: { data } })).toMatchObject({
      content: [{ type: 'text', text: '100000' }],
    });
  });

  test('reports progress as often as it is asked to, then says that it is done', async () => {
    const stream = await answer('tools/call', { name: 'progress', arguments: { n: 25 } });
    expect(stream.match(/"notifications\/progress"/g)).toHaveLength(25);
    expect(stream).toContain('"text":"done"');
  });

  test('reads an item by its id', async () => {
    expect(await result('resources/read', { uri: 'item://7' })).toMatchObject({ contents: [{ uri: 'item://7' }] });
  });

  test('greets by name', async () => {
    const greeting = await result('prompts/get', { name: 'greet', arguments: { name: 'Ada' } });
    expect(JSON.stringify(greeting)).toContain('Ada');
  });

  test('lists a thousand more tools shaped like add on one page, and calls them', async () => {
    const page = (await result('tools/list', {})) as { tools: { name: string }[]; nextCursor?: string };
    expect(page.tools).toHaveLength(1004);
    expect(page.nextCursor).toBeUndefined();
    expect(await result('tools/call', { name: 'add_1000', arguments: { a: 1, b: 2 } })).toMatchObject({
      structuredContent: { sum: 3 },
    });
  });
});

describe('the load', () => {
  test('does not count wrong answers', async () => {
    const call = prepareCall({ url, era: 'stateless', tool: 'add', session: '', client: 3 });
    const wrong = '{"jsonrpc":"2.0","id":1003,"result":{"content":[{"type":"text","text":"4"}]}}';
    expect(() => call.verify(wrong)).toThrow('wrong answer to add 1003');
  });

  test('refuses options that make no sense', () => {
    expect(() => readOptions(['--rounds', 'many'])).toThrow('--rounds is "many"');
    expect(() => readOptions(['--cases', 'subtract'])).toThrow('there is no "subtract"');
  });
});
