// JSON Schemas of members and of forms: dialects, limits, mistakes, and references to other documents.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect } from '@jest/globals';
import type { JsonObject, McpServer } from '@decorum/core';

import { RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, type Revision, REVISIONS } from '../support/requirements.js';
import { kindsOf } from './lists.js';
import { serverOf, serverWith } from './servers.js';

const [DRAFT_7, DRAFT_2020] = [
  'http://json-schema.org/draft-07/schema#',
  'https://json-schema.org/draft/2020-12/schema',
];

type Case = readonly [schema: JsonObject, right: unknown, ...wrong: readonly unknown[]];

/** Expects that tools with these schemas, of arguments and of results, accept the right value and reject the others. */
async function judge(revision: Revision, cases: readonly Case[]): Promise<void> {
  const server = serverOf();
  for (const [at, [schema, ...values]] of cases.entries()) {
    server.addTool({ name: `takes-${at}`, input: schema }, () => 'taken');
    const give = ({ index }: JsonObject) => values[index as number] as never;
    server.addTool({ name: `gives-${at}`, input: { type: 'object' }, output: schema }, give);
  }
  const client = await RawClient.connect(server, { revision });
  for (const [at, [schema, ...values]] of cases.entries()) {
    for (const [index, value] of values.entries()) {
      const { isError: refuses = false } = await client.call(`takes-${at}`, value as JsonObject);
      const { isError: fails = false } = await client.call(`gives-${at}`, { index });
      expect([schema, value, refuses, fails]).toEqual([schema, value, index > 0, index > 0]);
    }
  }
}

/** A case of one property. */
const valued = (value: JsonObject, right: unknown, ...wrong: readonly unknown[]): Case => [
  { type: 'object', properties: { value } },
  ...([right, ...wrong].map((each) => ({ value: each })) as unknown as [unknown]),
];

const integer = { type: 'integer' };
const PAIR = { type: 'array', prefixItems: [integer, { type: 'string' }], items: false };
const PAIR_7 = { type: 'array', items: [integer, { type: 'string' }], additionalItems: false };
const PAIRS = [
  [1, 'a'],
  ['a', 1],
  [1, 'a', 2],
] as const;

/** Keywords of 2020-12. */
const KEYWORDS: readonly Case[] = [
  valued(PAIR, ...PAIRS),
  valued({ prefixItems: [integer] }, [1], ['one']),
  valued({ prefixItems: [integer], items: { type: 'string' } }, [1, 'two'], [1, 2]),
  valued({ allOf: [{ prefixItems: [integer] }], unevaluatedItems: false }, [1], [1, 2]),
  valued({ contains: integer, minContains: 2, maxContains: 2 }, [1, 2, 'three'], [1, 'two']),
  valued({ contains: integer, minContains: 0, maxContains: 1 }, ['one'], [1, 2]),
  valued({ properties: { a: {} }, unevaluatedProperties: { type: 'string' } }, { a: 1, b: 'b' }, { a: 1, b: 2 }),
  valued({ dependentRequired: { card: ['name'] } }, { card: 1, name: 'Ada' }, { card: 1 }),
  valued({ dependentSchemas: { card: { required: ['name'] } } }, { card: 1, name: 'Ada' }, { card: 1 }),
  valued({ $defs: { one: { $anchor: 'one', const: 1 } }, $ref: '#/properties/value/$defs/one' }, 1, 2),
  valued({ $ref: '#/properties/value/$defs/one', minimum: 5, $defs: { one: integer } }, 7, 3),
  [
    {
      type: 'object',
      allOf: [{ properties: { name: { type: 'string' } }, required: ['name'] }],
      unevaluatedProperties: false,
    },
    { name: 'Ada' },
    { name: 'Ada', age: 36 },
  ],
];

describe('the JSON Schema of a tool', () => {
  eachRevision(['META-07', 'META-08'], 'is 2020-12 by default, with all of its keywords', async (revision) => {
    // `definitions` is the word of draft-07, and does not choose it
    const dialects = [{}, { $schema: DRAFT_2020 }, { definitions: {} }];
    const turn = REVISIONS.indexOf(revision);
    await judge(
      revision,
      KEYWORDS.map(([schema, ...values], at) => [{ ...dialects[(at + turn) % 3], ...schema }, ...values]),
    );
    const tree = {
      $id: `https://example.com/${revision}`,
      $dynamicAnchor: 'node',
      type: 'object',
      properties: { children: { type: 'array', items: { $dynamicRef: '#node' } }, value: integer },
    };
    await judge(revision, [[tree, { children: [{ value: 1, children: [] }] }, { children: [{ value: 'one' }] }]]);
  });

  eachRevision('META-09', 'may be draft-07, and refer to itself', async (revision) => {
    const base = { $schema: DRAFT_7, type: 'object' };
    const next = (value: unknown) => ({ next: value });
    const ref = { $ref: '#/properties/pair' };
    const pair = (value: unknown) => ({ pair: value });
    const [right, ...wrong] = PAIRS;
    await judge(revision, [
      [{ ...base, properties: { pair: PAIR_7 } }, pair(right), ...wrong.map(pair)],
      [
        { ...base, $id: `https://example.com/7/${revision}`, properties: { pair: PAIR_7, next: ref } },
        next(right),
        ...wrong.map(next),
      ],
      [
        { ...base, properties: { pair: PAIR_7, next: { $ref: '#' } } },
        next(pair(right)),
        ...wrong.map((each) => next(pair(each))),
      ],
    ]);
  });

  eachRevision(['META-10', 'META-11'], 'has one of the documented dialects, or stops the start', async (revision) => {
    for (const dialect of [
      'http://json-schema.org/draft-04/schema#',
      'http://json-schema.org/draft-06/schema#',
      'https://json-schema.org/draft/2019-09/schema',
      'https://example.com/a-dialect-of-our-own',
    ]) {
      const schema = { $schema: dialect, type: 'object', properties: {} };
      for (const schemas of [{ input: schema }, { output: schema }]) {
        const start = () => serverWith({ [revision]: () => '' }, schemas);
        for (const words of ['DECORUM_INVALID_SCHEMA', 'not supported', dialect]) expect(start).toThrow(words);
      }
    }
    const page = readFileSync(new URL('../../docs/guides/schemas.md', import.meta.url), 'utf8');
    const [, ...documented] = /read as JSON Schema (\S+), or as (\S+) if `\$schema` says so\./.exec(page) ?? [];
    expect(documented).toEqual(['2020-12', 'draft-07']);
  });
});

const object = (at: JsonObject, more: JsonObject = {}): JsonObject => ({ ...more, type: 'object', properties: { at } });

/** Starts servers with a member of each kind that uses a schema, by kind. */
const STARTS: Readonly<Record<string, (schema: JsonObject) => McpServer>> = {
  arguments: (input) => serverOf({ providers: [kindsOf({ input }).OneTool] }),
  results: (output) => serverOf({ providers: [kindsOf({ output }).OneTool] }),
  'a tool added later': (input) => serverWith({ tool: () => 'taken' }, { input }),
  prompts: (input) => serverOf({ providers: [kindsOf({ input }).OnePrompt] }),
  templates: (input) => serverOf({ providers: [kindsOf({ input }).OneTemplate] }),
};

describe('the dialect of a schema', () => {
  const DIALECTS = [
    ['draft-07', DRAFT_7],
    ['draft-07', 'http://json-schema.org/draft-07/schema'],
    ['draft-07', 'https://json-schema.org/draft-07/schema#'],
    ['2020-12', DRAFT_2020],
    ['2020-12', `${DRAFT_2020}#`],
    ['2020-12', undefined],
  ] as const;

  eachRevision(['META-07', 'META-10'], 'decides what its keywords mean, however it is spelled', async (revision) => {
    // a tuple of each dialect: in the other one, the keyword is unknown, or invalid
    const tuple = { type: 'array', prefixItems: [{ type: 'integer' }] };
    const dependent = { type: 'object', dependencies: { card: ['name'] } };
    const old = { type: 'array', items: [{ type: 'integer' }], additionalItems: false };
    for (const [dialect, $schema] of DIALECTS) {
      const named = $schema === undefined ? {} : { $schema };
      for (const kind of ['arguments', 'a tool added later']) {
        const start = (schema: JsonObject) => (STARTS[kind] as (typeof STARTS)[string])(object(schema, named));
        const takes = async (schema: JsonObject, at: unknown) => {
          const client = await RawClient.connect(start(schema), { revision });
          return (await client.call('tool', { at }))['isError'] !== true;
        };
        expect([$schema, kind, await takes(tuple, [1])]).toEqual([$schema, kind, true]);
        expect([$schema, kind, await takes(tuple, ['a'])]).toEqual([$schema, kind, dialect === 'draft-07']);
        expect([$schema, kind, await takes(dependent, { card: 1, name: 'Ada' })]).toEqual([$schema, kind, true]);
        if (dialect === '2020-12') expect(() => start(old)).toThrow('DECORUM_INVALID_SCHEMA');
        else expect([await takes(old, [1]), await takes(old, [1, 2])]).toEqual([true, false]);
      }
    }
  });
});

describe('a reference to another document', () => {
  /** Places of a reference in a schema. */
  const PLACES: readonly ((reference: JsonObject) => JsonObject)[] = [
    (reference) => ({ properties: { at: reference } }),
    (reference) => ({ properties: { at: { type: 'array', items: reference } } }),
    (reference) => ({ allOf: [reference] }),
    (reference) => ({ properties: { at: { $ref: '#/$defs/a' } }, $defs: { a: reference } }),
    (reference) => ({ properties: { at: { type: 'object', additionalProperties: reference } } }),
    (reference) => ({ properties: { at: { anyOf: [{ type: 'string' }, { not: reference }] } } }),
    (reference) => reference,
  ];
  const INVALID = /DECORUM_INVALID_SCHEMA/;

  eachRevision(['SEC-18', 'META-13', 'META-14', 'META-16'], 'is rejected, and never fetched', async (revision) => {
    const fetched: unknown[] = [];
    const site = createServer(({ url }, response) => {
      fetched.push(url);
      response.end('{"type":"object"}');
    });
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const bases = [{}, { $schema: DRAFT_7 }, { $schema: DRAFT_2020 }, { $id: `${origin}/root` }, { $id: 'urn:b' }];
    const others = ['file:///etc/passwd', 'other.json', '/other.json#/a', 'urn:example:a'];
    const targets = [`${origin}/a`, `${origin}/a#/$defs/a`, `//${origin.slice(7)}/a`, ...others];
    // each place with each base
    const schemas = targets.flatMap(($ref, turn) =>
      PLACES.map((place, at) => ({ ...bases[(at + turn) % bases.length], type: 'object', ...place({ $ref }) })),
    );
    for (const reference of [{ $dynamicRef: `${origin}/a` }, { $id: `${origin}/inner`, $ref: 'a' }]) {
      schemas.push({ type: 'object', ...PLACES[0]!(reference) });
    }
    for (const schema of schemas) {
      for (const [kind, start] of Object.entries(STARTS)) {
        expect(() => start(schema)).toThrow(kind === 'prompts' || kind === 'templates' ? 'DECORUM_' : INVALID);
      }
    }
    // names that look like addresses are only names, and so are the URLs that clients send
    const named = { $id: `${origin}/id`, $schema: DRAFT_2020, type: 'object' };
    const server = serverWith({ take: (_context, input) => JSON.stringify(input) }, { input: named });
    server.addTool({ name: 'ask', input: { type: 'object' } }, async ({ index }: JsonObject, context) => {
      return (await context.elicit(schemas[index as number] as JsonObject, { message: 'Who?' })).action;
    });
    const client = await RawClient.connect(server, { revision, capabilities: { elicitation: {} } });
    for (const index of schemas.keys()) expect(await client.call('ask', { index })).toMatchObject({ isError: true });
    expect(client.questions).toEqual([]);
    for (const $ref of targets) {
      const sent = { $ref, $schema: $ref, url: $ref };
      expect(JSON.parse(textOf(await client.call('take', sent))!)).toEqual(sent);
    }
    // a request that had been made before this one would have arrived before
    await (await fetch(`${origin}/last`, { headers: { connection: 'close' } })).text();
    expect(fetched).toEqual(['/last']);
    await new Promise((resolve) => site.close(resolve));
  });
});

describe('a schema', () => {
  inStateless('META-17', 'is limited in every dialect, and for every kind of member', () => {
    const nested = (wrap: (inner: JsonObject) => JsonObject) => {
      let deep: JsonObject = { type: 'string' };
      for (let depth = 0; depth < 70; depth += 1) deep = wrap(deep);
      return deep;
    };
    const large = Object.fromEntries(Array.from({ length: 10_001 }, (_item, n) => [`a${n}`, {}]));
    const slow = '^(a+)+$';
    for (const a of [
      nested((inner) => ({ type: 'array', items: inner })),
      nested((inner) => ({ anyOf: [inner] })),
      nested((inner) => ({ not: inner })),
      { type: 'object', properties: large },
      { anyOf: Object.values(large) },
      { type: 'string', pattern: slow },
      { type: 'array', items: { type: 'string', pattern: slow } },
      { type: 'object', patternProperties: { [slow]: { type: 'integer' } } },
      { type: 'object', patternProperties: { [slow]: {} }, additionalProperties: false },
    ]) {
      for (const $schema of [DRAFT_7, DRAFT_2020, undefined]) {
        const schema = object(a, $schema === undefined ? {} : { $schema });
        for (const [kind, start] of Object.entries(STARTS)) {
          if (a.type !== 'string' && (kind === 'prompts' || kind === 'templates')) continue;
          expect(() => start(schema)).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_SCHEMA' }));
        }
      }
    }
  });
});

describe('a mistake in a schema', () => {
  const places: readonly ((part: JsonObject) => JsonObject)[] = [
    (part) => part,
    (part) => ({ properties: { a: part } }),
    (part) => ({ properties: { a: { type: 'array', items: part } } }),
    (part) => ({ properties: { a: { anyOf: [{ type: 'null' }, part] } } }),
    (part) => ({ properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: part } }),
    // no reference leads there
    (part) => ({ $defs: { a: part } }),
    (part) => ({ definitions: { a: part } }),
    (part) => ({ $defs: { a: { type: 'object', properties: { b: part } } } }),
    (part) => ({ properties: { a: { $defs: { b: part } } } }),
  ];
  const mistakes: readonly JsonObject[] = [
    { type: 'strng' },
    { minLength: -1 },
    { enum: 'a' },
    { required: 'a' },
    { properties: [] },
    { requird: ['a'] },
  ];

  eachRevision('META-12', 'is found at startup wherever it is, in each dialect', async (revision) => {
    for (const $schema of [undefined, DRAFT_2020, DRAFT_7]) {
      for (const place of places) {
        const schemaOf = (part: JsonObject) => ({ ...($schema && { $schema }), type: 'object', ...place(part) });
        for (const mistake of mistakes) {
          const start = () => serverWith({ tool: () => '' }, { input: schemaOf(mistake) });
          expect(start).toThrow('DECORUM_INVALID_SCHEMA');
        }
        const client = await RawClient.connect(
          serverWith({ tool: () => 'taken' }, { input: schemaOf({ title: 'T' }) }),
          { revision },
        );
        expect(textOf(await client.call('tool', {}))).toBe('taken');
      }
    }
  });
});
