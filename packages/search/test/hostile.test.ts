// What clients and users may do wrong on purpose, or by mistake.
import { afterEach, describe, expect, it } from '@jest/globals';

import { McpServer, NoInput } from '@decorum/core';
import { search } from '@decorum/search';

import { clientOf, closeAll, found, namesOf, textOf } from './clients.js';
import { addTools, shop } from './shop.js';

afterEach(closeAll);

describe('a search with strange arguments', () => {
  it('is refused, with what is wrong', async () => {
    const client = await clientOf(shop());
    const refused: readonly (readonly [object, string])[] = [
      [{ query: 'x'.repeat(1_000_000) }, 'query'],
      [{ query: '' }, 'query'],
      [{ query: ['parcel'] }, 'query'],
      [{}, 'query'],
      [{ query: 'parcel', limit: -1 }, 'limit'],
      [{ query: 'parcel', limit: 0 }, 'limit'],
      [{ query: 'parcel', limit: 1e9 }, 'limit'],
      [{ query: 'parcel', limit: 1.5 }, 'limit'],
      [{ query: 'parcel', page: 2 }, 'page'],
    ];
    for (const [args, field] of refused) {
      const result = await client.callTool('search_tools', args);
      expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining(`- ${field}:`)]);
    }
  });

  it('finds nothing, or what has the words, and never fails', async () => {
    const client = await clientOf(shop());
    const queries = [
      '.*',
      '(a+)+$',
      '[',
      '\\',
      '*',
      '?',
      '__proto__',
      'constructor',
      'toString',
      '\u0000',
      '💥',
      'İ',
      '\ud800',
    ];
    for (const query of queries) {
      const result = await client.callTool('search_tools', { query });
      expect([query, result.isError, textOf(result)]).toEqual([
        query,
        undefined,
        expect.stringContaining('No tool matches'),
      ]);
    }
    expect(await found(client, 'the how of')).toEqual([]);
    expect(await found(client, 'PARCELS!!! (parcel|x)*')).toContain('track_parcel');
  });

  it('takes a number that a model wrote as text', async () => {
    const client = await clientOf(shop());
    expect(await found(client, 'article', { limit: '1' })).toHaveLength(1);
  });
});

describe('tools with strange entries', () => {
  it('are found, whatever their names and schemas are', async () => {
    const server = shop();
    const hole = ['Digs a hole', ['__proto__', 'toString']] as const;
    addTools(
      server,
      Object.fromEntries([
        ['constructor', ['Builds a house'] as const],
        ['__proto__x', hole],
      ] as const),
    );
    const deep = Array.from({ length: 25 }).reduce<object>((inner) => ({ type: 'object', properties: { inner } }), {
      type: 'string',
      description: 'treasure',
    });
    server.addTool({ name: 'deep', description: 'x'.repeat(100_000), input: deep as never }, () => '');
    const client = await clientOf(server);
    expect((await found(client, 'constructor'))[0]).toBe('constructor');
    expect((await found(client, 'dig a hole'))[0]).toBe('__proto__x');
    expect((await found(client, 'deep'))[0]).toBe('deep');
  });

  it('end a result before it is too long for a model, and the first is always there', async () => {
    const server = shop();
    for (let count = 0; count < 5; count += 1)
      server.addTool(
        { name: `novel_${count}`, description: `A novel. ${'word '.repeat(8000)}`, input: NoInput },
        () => '',
      );
    const client = await clientOf(server);
    expect(await found(client, 'novel')).toHaveLength(1);
  });
});

describe('a mistake of the server', () => {
  it('fails at startup if a tool has one of the names, and a prefix helps', async () => {
    class Own {
      readonly answer = 'own';
    }
    const tool = (server: McpServer) => server.addTool({ name: 'call_tool', input: NoInput }, () => new Own().answer);
    expect(() => tool(shop())).toThrow(/"call_tool"[^]*search\(\)\.call_tool/);
    const server = shop({ prefix: 'find' });
    tool(server);
    const client = await clientOf(server);
    expect(await namesOf(client)).toEqual(['find_search_tools', 'find_call_tool']);
    expect(textOf(await client.callTool('call_tool'))).toBe('own');
    const through = { name: 'call_tool', arguments: {} };
    expect(textOf(await client.callTool('find_call_tool', through))).toBe('own');
    expect(textOf(await client.callTool('find_search_tools', { query: 'parcel' }))).toContain('find_call_tool');
  });

  it('is a warning if a name in `always` looks misspelled', async () => {
    const warnings: string[] = [];
    const logger = { warn: (_fields: unknown, text: string) => void warnings.push(text), error() {} };
    await clientOf(shop({ always: ['track_parsel', 'later'] }, { logger }));
    expect(warnings).toEqual([
      '`always` has "track_parsel", which is no tool so far. If you mean "track_parcel", correct it.',
    ]);
  });

  it('does not mix the tools of two servers that share a plugin', async () => {
    const shared = search({ above: 0 });
    const [one, other] = ['one', 'other'].map((name) => {
      const server = new McpServer({ name, version: '1.0.0', plugins: [shared], logger: { warn() {}, error() {} } });
      addTools(server, { [name]: [`Waters plant ${name}`] });
      return server;
    }) as [McpServer, McpServer];
    expect(await found(await clientOf(one), 'water plants')).toEqual(['one']);
    expect(await found(await clientOf(other), 'water plants')).toEqual(['other']);
  });
});

it('beginnings of words count only while few words begin with them, so that no query takes long', async () => {
  const letters = [...'abcdefghijklm'];
  const words = letters.flatMap((one) => letters.map((other) => `pre${one}${other}q`)).slice(0, 120);
  const tools = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [`tool_${at}`, [`Handles ${words.join(' ')} sunflower`] as const]),
  );
  const client = await clientOf(shop({}, { tools }));
  expect(await found(client, 'pre')).toEqual([]);
  expect(await found(client, 'preabq', { limit: 20 })).toHaveLength(20);
  expect(await found(client, 'pre sunfl', { limit: 20 })).toHaveLength(20);
});

it('a tool is found by its description, whatever ends its lines', async () => {
  for (const end of ['\n', '\r\n', '\r', '\u2028', '. ']) {
    const client = await clientOf(shop({}, { tools: { novel: [`Writes poems${end}Prints sonnets`] } }));
    expect(await found(client, 'poem')).toEqual(['novel']);
    expect(await found(client, 'sonnet')).toEqual(['novel']);
  }
});
