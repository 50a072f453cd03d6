// docs/guides/from-mcp-nest.md: the official client sees the same from both applications, but for what the page says.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { progressOf } from '../interop/overhear.js';
import { alike, codeOf, connectTo, type Look, Sides } from './before-and-after.js';
import { PagePrograms } from './running.js';

const DUNE = { isbn: '9780441172719' };

const programs = new PagePrograms('docs/guides/from-mcp-nest.md');
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

/** Lists tools by their names, without what the page says of them. */
const toolsOf: Look = async (client) => {
  const { tools } = await client.listTools();
  return alike(tools.map(({ _meta, ...tool }) => tool).toSorted((a, b) => a.name.localeCompare(b.name)));
};

describe('the official client sees from MCP-Nest and Decorum', () => {
  it.each<[string, Look]>([
    ['the same tools', toolsOf],
    ['the same resources', (client) => client.listResources()],
    ['the same templates', (client) => client.listResourceTemplates()],
    ['the same prompts', (client) => client.listPrompts()],
    ['the same structured result', call('search', { text: 'du' })],
    ['the same result of a tool that was added', call('hours', { day: 'sunday' })],
    ['the same result after a question', call('lend', DUNE)],
    ['the same result of a filter that throws', call('lend', { isbn: 'none' })],
    ['the same resource', (client) => client.readResource({ uri: 'books://all' })],
    ['the same resource of a template', (client) => client.readResource({ uri: `books://isbn/${DUNE.isbn}` })],
    ['the same prompt', (client) => client.getPrompt({ name: 'review', arguments: DUNE })],
  ])('%s', async (_what, look) => {
    const [before, after] = await sides.ask(look);
    expect(JSON.stringify(before)).toMatch(/Dune|978|isbn|7 days|no book|Closed|books:\/\/all/);
    expect(after).toEqual(before);
  });

  it('the same progress', async () => {
    for (const { client, heard } of sides.all) {
      await client.callTool({ name: 'check_shelf' }, undefined, { onprogress: () => {} });
      while (progressOf(heard)[0]?.length !== 2) await client.ping();
      expect(progressOf(heard)).toEqual([[1, 2]]);
    }
  });
});

describe('MCP-Nest and Decorum differ as the page says', () => {
  it('in arguments that no schema names', async () => {
    const [before, after] = await sides.ask(call('search', { text: 'Dune', author: 'Frank Herbert' }));
    expect(before).not.toHaveProperty('isError');
    expect(after).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('author') }] });
  });

  it('in the wording of wrong arguments', async () => {
    const [before, after] = await sides.ask(call('search', { text: '' }));
    expect(before).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('>=1 characters') }] });
    expect(after).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('\n- text: must') }] });
  });

  it.each<[string, Look, readonly [before: number, after: number]]>([
    ['an unknown tool', call('burn'), [-32602, -32602]],
    ['an unknown resource', (client) => client.readResource({ uri: 'books://none' }), [-32602, -32002]],
    ['another scheme', (client) => client.readResource({ uri: 'films://all' }), [0, -32002]],
    ['a missing argument of a prompt', (client) => client.getPrompt({ name: 'review' }), [-32603, -32602]],
  ])('in the code of %s', async (_what, look, codes) => {
    expect(await sides.ask((client) => codeOf(look(client)))).toEqual(codes);
  });

  it('in the capabilities they declare', () => {
    const [before, after] = sides.all.map(({ client }) => client.getServerCapabilities());
    expect(after).toEqual({ ...before, resources: { ...before?.resources, subscribe: true } });
  });

  it('in what they add to tools, and in the order of tools', async () => {
    const names = await sides.ask(async (client) => {
      const { tools } = await client.listTools();
      return [tools.map(({ name }) => name), tools.some(({ _meta }) => _meta?.['securitySchemes'] !== undefined)];
    });
    expect(names).toEqual([
      [['search', 'check_shelf', 'lend', 'hours'], true],
      [['hours', 'search', 'check_shelf', 'lend'], false],
    ]);
  });

  it('in pages of other origins', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'page', version: '1.0.0' } };
    const statuses = sides.all.map(async ({ server }) => {
      const { status } = await fetch(`${server.origin}/mcp`, {
        method: 'POST',
        headers: {
          origin: 'https://evil.example',
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
      });
      return status;
    });
    expect(await Promise.all(statuses)).toEqual([200, 403]);
  });
});

describe('the callers of MCP-Nest and Decorum', () => {
  let callers: Sides;
  beforeAll(async () => {
    callers = await Sides.start(programs, ['callers-before.ts', 'callers-after.ts']);
  });
  afterAll(() => callers.stop());

  it.each([
    ['nobody', {}, ['caller']],
    ['ada', { authorization: 'Bearer reader' }, ['caller', 'renew']],
    ['bob', { authorization: 'Bearer librarian' }, ['buy', 'caller', 'discard', 'renew']],
  ])('see the tools that are for them, and can call them: %s', async (name, headers, tools) => {
    for (const { server } of callers.all) {
      const { client } = await connectTo(server, headers as Record<string, string>);
      expect(await client.callTool({ name: 'caller' })).toEqual({ content: [{ type: 'text', text: name }] });
      const listed = (await client.listTools()).tools.map((tool) => tool.name);
      expect(listed.toSorted()).toEqual(tools);
      for (const tool of tools) expect(await codeOf(call(tool, { loan: '1' })(client))).toBe(0);
      await client.close();
    }
  });

  it('are denied by guards in the same way', async () => {
    for (const { server } of callers.all) {
      const { client } = await connectTo(server, { authorization: 'Bearer reader' });
      expect(await client.callTool({ name: 'renew', arguments: { loan: 'overdue' } })).toEqual({
        isError: true,
        content: [{ type: 'text', text: 'Forbidden resource' }],
      });
      await client.close();
    }
  });

  it('are denied with other codes', async () => {
    const codes = callers.all.map(async ({ client, server }) => {
      const { client: ada } = await connectTo(server, { authorization: 'Bearer reader' });
      const found = [
        await codeOf(client.callTool({ name: 'renew' })),
        await codeOf(ada.callTool({ name: 'buy' })),
        await codeOf(ada.callTool({ name: 'discard' })),
      ];
      await ada.close();
      return found;
    });
    expect(await Promise.all(codes)).toEqual([
      [-32600, -32600, -32600],
      [401, 403, -32602],
    ]);
  });
});

describe('the errors of MCP-Nest and Decorum', () => {
  let failing: Sides;
  beforeAll(async () => {
    failing = await Sides.start(programs, ['errors-before.ts', 'errors-after.ts']);
  });
  afterAll(() => failing.stop());

  const text = (value: unknown) => ({ content: [{ type: 'text', text: value }] });
  const failed = (value: unknown) => ({ ...text(value), isError: true });

  it.each<[string, object, object]>([
    ['broken', failed('Internal server error'), failed(expect.stringMatching(/^Internal error \(reference \w{8}\)$/))],
    ['missing', failed('Internal server error'), failed('There is no such book.')],
    ['closed', failed('The library is closed.'), failed('The library is closed.')],
    ['late', text('"Try again tomorrow."'), text('Try again tomorrow.')],
    ['plain', text('"Welcome."'), text('Welcome.')],
  ])('are what the page says: %s', async (name, before, after) => {
    expect(await failing.ask(call(name))).toEqual([before, after]);
  });
});
