// docs/guides/from-fastmcp.md: the official client sees the same from both servers, but for what the page says.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { progressOf } from '../interop/overhear.js';
import { alike, codeOf, connectTo, type Look, Sides } from './before-and-after.js';
import { PagePrograms, type PageProcess } from './running.js';

const DUNE = { isbn: '9780441172719' };

const programs = new PagePrograms('docs/guides/from-fastmcp.md');
let sides: Sides;

beforeAll(async () => {
  sides = await Sides.start(programs);
});
afterAll(async () => {
  await sides.stop();
  programs.remove();
});

const call =
  (name: string, args: Readonly<Record<string, unknown>> = {}): Look =>
  (client) =>
    client.callTool({ name, arguments: args });

describe('the official client sees from FastMCP and Decorum', () => {
  it.each<[string, Look]>([
    ['the same tools', async (client) => alike(await client.listTools())],
    ['the same resources', (client) => client.listResources()],
    ['the same templates', (client) => client.listResourceTemplates()],
    ['the same prompts', (client) => client.listPrompts()],
    ['the same structured result', call('search', { text: 'du' })],
    ['the same image', call('cover', DUNE)],
    ['the same result after a question', call('lend', DUNE)],
    ['the same expected error', call('lend', { isbn: 'none' })],
    ['the same resource', (client) => client.readResource({ uri: 'books://all' })],
    ['the same resource of a template', (client) => client.readResource({ uri: `books://isbn/${DUNE.isbn}` })],
    ['the same prompt', (client) => client.getPrompt({ name: 'review', arguments: DUNE })],
    [
      'the same completions',
      async (client) => {
        const argument = { name: 'isbn', value: '97804' };
        const ofPrompt = await client.complete({ ref: { type: 'ref/prompt', name: 'review' }, argument });
        const ofBook = await client.complete({ ref: { type: 'ref/resource', uri: 'books://isbn/{isbn}' }, argument });
        return [ofPrompt.completion, ofBook.completion];
      },
    ],
  ])('%s', async (_what, look) => {
    const [before, after] = await sides.ask(look);
    expect(JSON.stringify(before)).toMatch(/Dune|978|isbn|7 days|no book|image\/gif|books:\/\/all/);
    expect(after).toEqual(before);
  });

  it('the same progress', async () => {
    await sides.ask((client) => client.callTool({ name: 'check_shelf' }, undefined, { onprogress: () => {} }));
    for (const { heard } of sides.all) expect(progressOf(heard)).toEqual([[1, 2]]);
  });
});

describe('FastMCP and Decorum differ as the page says', () => {
  it('in arguments that no schema names', async () => {
    const [before, after] = await sides.ask(call('search', { text: 'Dune', author: 'Frank Herbert' }));
    expect(before).not.toHaveProperty('isError');
    expect(after).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('author') }] });
  });

  it('in wrong arguments', async () => {
    const look: Look = async (client) => await call('search', { text: '' })(client).catch((error: unknown) => error);
    const [before, after] = await sides.ask(look);
    expect(before).toMatchObject({ code: -32602, message: expect.stringContaining('>=1 characters') });
    expect(after).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('\n- text: must') }] });
  });

  it.each<[string, Look, readonly [before: number, after: number]]>([
    ['an unknown tool', call('burn'), [-32601, -32602]],
    ['an unknown prompt', (client) => client.getPrompt({ name: 'burn' }), [-32601, -32602]],
    ['an unknown resource', (client) => client.readResource({ uri: 'films://1' }), [-32601, -32002]],
    ['a missing argument', (client) => client.getPrompt({ name: 'review' }), [-32600, -32602]],
    ['an error of a resource', (client) => client.readResource({ uri: 'books://isbn/none' }), [-32603, -32603]],
    [
      'an error of a prompt',
      (client) => client.getPrompt({ name: 'review', arguments: { isbn: 'none' } }),
      [-32603, -32603],
    ],
  ])('in the code of %s', async (_what, look, codes) => {
    expect(await sides.ask((client) => codeOf(look(client)))).toEqual(codes);
  });

  it('in the capabilities they declare', () => {
    const [before, after] = sides.all.map(({ client }) => client.getServerCapabilities());
    expect(after).toEqual({ ...before, tools: { listChanged: true } });
  });

  it('in the dialects of schemas', async () => {
    const dialects = await sides.ask(async (client) => {
      const { inputSchema, outputSchema } = (await client.listTools()).tools[0] ?? {};
      return [inputSchema?.['$schema'], outputSchema?.['$schema']];
    });
    const draft7 = 'http://json-schema.org/draft-07/schema#';
    expect(dialects).toEqual([
      [draft7, draft7],
      [undefined, 'https://json-schema.org/draft/2020-12/schema'],
    ]);
  });

  it('in how they answer the newest clients, pages of other origins, and requests to other paths', async () => {
    const post = async ({ origin }: PageProcess, headers: Record<string, string>, params: object) => {
      const response = await fetch(`${origin}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params }),
      });
      await response.text();
      return response.status;
    };
    const newest = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
    const envelope = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const seen = sides.all.map(async ({ server }) => [
      await post(server, newest, { _meta: envelope }),
      await post(server, { origin: 'https://evil.example' }, {}),
      (await fetch(`${server.origin}/health`)).status,
    ]);
    expect(await Promise.all(seen)).toEqual([
      [400, 400, 200],
      [200, 403, 404],
    ]);
  });
});

describe('the callers of FastMCP and Decorum', () => {
  let callers: Sides;
  beforeAll(async () => {
    const files = ['callers-before.ts', 'callers-after.ts'];
    callers = await Sides.start(programs, files, { authorization: 'Bearer reader' });
  });
  afterAll(() => callers.stop());

  it('are told apart', async () => {
    const [before, after] = await callers.ask(call('role'));
    expect(before).toEqual({ content: [{ type: 'text', text: 'reader' }] });
    expect(after).toEqual(before);
  });

  it('see the tools that are for them', async () => {
    const names: Look = async (client) => (await client.listTools()).tools.map(({ name }) => name);
    expect(await callers.ask(names)).toEqual([['role'], ['role']]);
    for (const { server } of callers.all) {
      const { client } = await connectTo(server, { authorization: 'Bearer librarian' });
      expect(await names(client)).toEqual(['role', 'discard']);
      await client.close();
    }
  });

  it('are rejected if nobody knows them', async () => {
    for (const { server } of callers.all) {
      expect((await fetch(`${server.origin}/mcp`, { method: 'POST' })).status).toBe(401);
    }
  });
});
