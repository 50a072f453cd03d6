import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { JsonObject } from '@decorum/core';
import { describe, expect, it } from '@jest/globals';

import { findingsIn } from '../src/lint/lint.js';
import { CLIENTS, type Lists } from '../src/lint/rule.js';
import { RULES } from '../src/lint/rules/index.js';
import { tokensOf } from '../src/lint/tokens.js';
import { ROOT } from './project.js';

const TOOL = { name: 'search', description: 'Searches invoices', inputSchema: { type: 'object', properties: {} } };

const listsOf = (given: Partial<Lists>): Lists => ({
  server: 'billing',
  tools: [],
  prompts: [],
  resources: [],
  templates: [],
  tokens: 0,
  isShort: false,
  ...given,
});

const tool = (fields: JsonObject): Lists => listsOf({ tools: [{ ...TOOL, ...fields }] });
const named = (name: string): Lists => tool({ name });
const input = (inputSchema: JsonObject): Lists =>
  tool({ inputSchema: { type: 'object', properties: {}, ...inputSchema } });
const field = (schema: JsonObject, name = 'field'): Lists => input({ properties: { [name]: schema } });
const described = (length: number): Lists => tool({ description: 'x'.repeat(length) });
const many = (count: number): Lists =>
  listsOf({
    tools: Array.from({ length: count }, (_each, at) => ({ ...TOOL, name: `tool_${at}`, description: `Tool ${at}` })),
  });

/** For each rule, lists that it has something to say about, and lists that are as it demands. */
const EXAMPLES: Readonly<Record<string, { readonly fires: readonly Lists[]; readonly quiet: readonly Lists[] }>> = {
  'tool-description': { fires: [tool({ description: undefined }), tool({ description: ' ' })], quiet: [tool({})] },
  'argument-description': {
    fires: [field({ type: 'string' }), input({ properties: { node: { $ref: '#/$defs/Node' } }, $defs: { Node: {} } })],
    quiet: [
      field({ type: 'string', description: 'What to look for' }),
      input({ properties: { node: { $ref: '#/$defs/Node' } }, $defs: { Node: { description: 'A node' } } }),
    ],
  },
  todo: {
    fires: [
      tool({ description: 'TODO: what it does' }),
      field({ type: 'string', description: 'todo' }),
      listsOf({
        prompts: [{ name: 'pack', description: 'Packs', arguments: [{ name: 'city', description: 'TODO' }] }],
      }),
      listsOf({ templates: [{ name: 'note', description: 'TODO: which' }] }),
    ],
    quiet: [tool({ description: 'Adds to the todo list' }), tool({ description: 'Todos of a user' })],
  },
  'same-description': {
    fires: [listsOf({ tools: [TOOL, { ...TOOL, name: 'find' }] })],
    quiet: [listsOf({ tools: [TOOL, { ...TOOL, name: 'find', description: 'Finds one invoice' }] })],
  },
  'contrary-hints': {
    fires: [tool({ annotations: { readOnlyHint: true, destructiveHint: true } })],
    quiet: [tool({ annotations: { readOnlyHint: true, destructiveHint: false } }), tool({})],
  },
  'claude-name': {
    fires: [named('a.b'), named('x'.repeat(65))],
    quiet: [named('search_invoices-2'), named('x'.repeat(64))],
  },
  'openai-name': { fires: [named('a.b')], quiet: [named('a_b-c')] },
  'openai-name-length': { fires: [named('x'.repeat(65))], quiet: [named('x'.repeat(64))] },
  'gemini-name': { fires: [named('2d'), named('-x'), named('x'.repeat(65))], quiet: [named('a.b-c'), named('_2d')] },
  // the server is called "billing"
  'cursor-name-length': { fires: [named('x'.repeat(53))], quiet: [named('x'.repeat(52))] },
  'claude-property-name': {
    fires: [field({ type: 'string' }, 'filter[id]'), field({ type: 'string' }, 'x'.repeat(65))],
    quiet: [field({ type: 'string' }, 'filter.id'), field({ type: 'string' }, 'x'.repeat(64))],
  },
  'openai-tools': { fires: [many(129)], quiet: [many(128), { ...many(129), isShort: true }] },
  'vscode-tools': { fires: [many(129)], quiet: [many(128)] },
  'windsurf-tools': { fires: [many(101)], quiet: [many(100)] },
  'cursor-tools': { fires: [many(81)], quiet: [many(80)] },
  'openai-description': { fires: [described(1025)], quiet: [described(1024)] },
  'claude-code-description': { fires: [described(2049)], quiet: [described(2048)] },
  'claude-code-tokens': {
    fires: [listsOf({ tokens: 25_001 })],
    quiet: [listsOf({ tokens: 25_000 }), listsOf({ tokens: 25_001, isShort: true })],
  },
  'claude-root-union': { fires: [input({ anyOf: [{}] }), input({ allOf: [{}] })], quiet: [field({ anyOf: [{}] })] },
  'claude-draft': {
    fires: [field({ type: 'array', items: [{ type: 'number' }] })],
    quiet: [
      field({ type: 'array', prefixItems: [{ type: 'number' }] }),
      input({ $schema: 'http://json-schema.org/draft-07/schema#' }),
    ],
  },
  'output-draft': {
    fires: [tool({ outputSchema: { type: 'object', $schema: 'http://json-schema.org/draft-07/schema#' } })],
    quiet: [
      tool({ outputSchema: { type: 'object', $schema: 'https://json-schema.org/draft/2020-12/schema' } }),
      input({ $schema: 'http://json-schema.org/draft-07/schema#' }),
    ],
  },
  'output-tuple': {
    fires: [tool({ outputSchema: { type: 'object', properties: { at: { items: [{}] } } } })],
    quiet: [
      tool({ outputSchema: { type: 'object', properties: { at: { prefixItems: [{}] } } } }),
      // it is a tuple in the draft that it names
      tool({
        outputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', properties: { at: { items: [{}] } } },
      }),
    ],
  },
  'openai-root-union': { fires: [input({ anyOf: [{}] }), input({ not: {} })], quiet: [field({ not: {} })] },
  'openai-properties': { fires: [tool({ inputSchema: { type: 'object' } })], quiet: [tool({})] },
  'openai-items': { fires: [field({ type: 'array' })], quiet: [field({ type: 'array', items: {} })] },
  'vscode-items': { fires: [field({ type: 'array' })], quiet: [field({ type: 'array', items: {} })] },
  'vscode-ref': { fires: [field({ $ref: '#/$defs/Node' })], quiet: [field({ type: 'string' })] },
  'gemini-root-union': { fires: [input({ anyOf: [{}] }), input({ oneOf: [{}] })], quiet: [field({ anyOf: [{}] })] },
  'gemini-ref': { fires: [field({ $ref: '#/$defs/Node' })], quiet: [field({ type: 'string' }, '$ref')] },
  'gemini-circle': {
    fires: [
      input({ properties: { child: { $ref: '#' } } }),
      input({
        $defs: { A: { items: { $ref: '#/$defs/B' } }, B: { items: { $ref: '#/$defs/A' } } },
        properties: { a: { $ref: '#/$defs/A' } },
      }),
    ],
    quiet: [
      input({ $defs: { A: { type: 'string' } }, properties: { a: { $ref: '#/$defs/A' }, b: { $ref: '#/$defs/A' } } }),
      field({ $ref: 'https://example.com/elsewhere' }),
      field({ $ref: '#/$defs/Missing' }),
    ],
  },
  'gemini-union': {
    fires: [field({ anyOf: [{}], description: 'Either' })],
    quiet: [field({ anyOf: [{ type: 'string' }] }), input({ anyOf: [{}] })],
  },
  'gemini-type-list': { fires: [field({ type: ['string', 'null'] })], quiet: [field({ type: 'string' })] },
  'gemini-keyword': {
    fires: [field({ const: 1 }), field({ type: 'integer', exclusiveMinimum: 0 }), field({ propertyNames: {} })],
    quiet: [field({ type: 'integer', minimum: 1 }), field({ type: 'string' }, 'const')],
  },
  'gemini-enum': { fires: [field({ enum: [1, 2] }), field({ enum: ['a', ''] })], quiet: [field({ enum: ['a', 'b'] })] },
  'gemini-format': {
    fires: [field({ type: 'string', format: 'email' })],
    quiet: [field({ type: 'string', format: 'date-time' }), field({ type: 'integer', format: 'int64' })],
  },
  'gemini-type': {
    fires: [field({ description: 'Anything' })],
    quiet: [field({ type: 'string' }), field({ enum: ['a'] }), field({ anyOf: [{ description: 'Anything' }] })],
  },
  'gemini-empty-object': {
    fires: [field({ type: 'object' }), field({ type: 'object', properties: {} })],
    quiet: [field({ type: 'object', properties: { a: {} } }), tool({})],
  },
};

const spotsOf = (name: string, lists: Lists) => [...(RULES.find((rule) => rule.name === name)?.find(lists) ?? [])];

describe('the rules of lint', () => {
  it('have an example each', () => {
    expect(Object.keys(EXAMPLES).sort()).toEqual(RULES.map(({ name }) => name).sort());
  });

  it.each(RULES.map(({ name }) => name))('say something only where they should: %s', (name) => {
    const { fires = [], quiet = [] } = EXAMPLES[name] ?? {};
    expect(fires.map((lists) => spotsOf(name, lists).length)).toEqual(fires.map(() => 1));
    expect(quiet.flatMap((lists) => spotsOf(name, lists))).toEqual([]);
  });

  it('are in the table of docs/reference/lint.md, with their sources', () => {
    const page = readFileSync(join(ROOT, 'docs/reference/lint.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `([\w-]+)` \| (\w+) \| (.+) \| \[.+\]\((.+)\) \|$/gm)];
    expect(rows.map(([, name, severity, about, source]) => ({ name, severity, about, source }))).toEqual(
      RULES.map(({ name, severity, about, source }) => ({ name, severity, about, source })),
    );
  });

  it('name a public page and a client', () => {
    for (const { name, client, source, fix } of RULES) {
      expect({ name, client: CLIENTS.includes(client), source, hasFix: fix.length > 5 }).toEqual({
        name,
        client: true,
        source: expect.stringMatching(
          /^https:\/\/(?:github\.com|docs\.windsurf\.com|www\.anthropic\.com|modelcontextprotocol\.io)\//,
        ),
        hasFix: true,
      });
    }
  });

  it('name the place in the schema', () => {
    const schema = { type: 'array', items: { type: 'object', properties: { at: { type: 'string', format: 'time' } } } };
    expect(spotsOf('gemini-format', field(schema, 'slots'))).toEqual([
      { member: 'search', path: 'input.slots[].at', why: expect.stringContaining('`time`') },
    ]);
  });

  it('put errors before warnings', () => {
    const severities = findingsIn(tool({ name: 'a.b', description: 'TODO' })).map(({ severity }) => severity);
    expect(severities).toEqual(['error', 'error', 'warning']);
  });

  it('end with schemas that are nested 20,000 deep', () => {
    let schema: JsonObject = { type: 'string' };
    for (let depth = 0; depth < 20_000; depth += 1) schema = { type: 'array', items: schema };
    expect(spotsOf('gemini-format', field(schema))).toEqual([]);
    expect(spotsOf('gemini-circle', field(schema))).toEqual([]);
  });
});

describe('the number of tokens', () => {
  it('is an estimate that grows with the list', () => {
    expect(tokensOf([])).toBe(0);
    const one = tokensOf([TOOL]);
    expect(one).toBeGreaterThan(15);
    expect(one).toBeLessThan(60);
    expect(tokensOf([TOOL, TOOL])).toBe(2 * one);
  });

  it('counts texts that tokenizers reserve, and long ones, in a moment', () => {
    expect(tokensOf([{ ...TOOL, description: '<|endoftext|>' }])).toBeGreaterThan(
      tokensOf([{ ...TOOL, description: '' }]),
    );
    expect(tokensOf([{ ...TOOL, description: 'a'.repeat(100_000) }])).toBeGreaterThan(5000);
  });
});
