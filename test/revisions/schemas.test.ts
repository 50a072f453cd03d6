// JSON Schemas of members: dialects, and references to other documents.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect } from '@jest/globals';
import { type JsonObject, NoInput, Prompt, Resource } from '@decorum/core';

import { RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, type Revision, REVISIONS } from '../support/requirements.js';
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
    const page = readFileSync(new URL('../../docs/schemas.md', import.meta.url), 'utf8');
    const [, ...documented] = /The dialect is (\S+), or (\S+) if `\$schema` says so\./.exec(page) ?? [];
    expect(documented).toEqual(['2020-12', 'draft-07']);
    // a keyword of the other dialect is ignored or an error
    const ignored = {
      $schema: DRAFT_7,
      type: 'object',
      properties: { value: { type: 'array', prefixItems: [integer] } },
    };
    await judge(revision, [
      [{ $schema: DRAFT_2020, ...valued(PAIR, 0)[0] }, { value: [1] }, { value: ['a'] }],
      [ignored, { value: ['a'] }],
    ]);
    for (const dialect of [{ $schema: DRAFT_2020 }, {}]) {
      const input = { ...dialect, type: 'object', properties: { value: PAIR_7 } };
      const start = async () =>
        await (await RawClient.connect(serverWith({ tool: () => '' }, { input }), { revision })).call('tool', {});
      await expect(start()).rejects.toThrow('DECORUM_INVALID_SCHEMA');
    }
  });
});

describe('a reference to another document', () => {
  /** Places of a reference in a schema. */
  const PLACES: readonly ((reference: JsonObject) => JsonObject)[] = [
    (reference) => ({ properties: { a: reference } }),
    (reference) => ({ properties: { a: { type: 'array', items: reference } } }),
    (reference) => ({ allOf: [reference] }),
    (reference) => ({ properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: reference } }),
    (reference) => ({ properties: { a: { type: 'object', additionalProperties: reference } } }),
    (reference) => ({ properties: { a: { anyOf: [{ type: 'string' }, { not: reference }] } } }),
    (reference) => reference,
  ];

  /** A prompt and a template whose arguments have this schema. */
  function providersWith(input: JsonObject) {
    class Prompts {
      @Prompt({ input })
      prompt() {
        return '';
      }
    }
    class Templates {
      @Resource('a://{a}', { input })
      template() {
        return '';
      }
    }
    return [Prompts, Templates];
  }

  eachRevision('SEC-18', 'is rejected in every schema of a member, and nothing is fetched', async (revision) => {
    const fetched: (string | undefined)[] = [];
    const remote = createServer(({ url }, response) => {
      fetched.push(url);
      response.end('{"type":"object"}');
    });
    await new Promise<void>((resolve) => remote.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(remote.address() as AddressInfo).port}`;
    const at = `${origin}/a`;
    const others = [`//${origin.slice(7)}/a`, 'file:///etc/passwd', 'other.json', '/other.json#/a'];
    const schemas: readonly JsonObject[] = [
      ...PLACES.map((place) => place({ $ref: at })),
      ...others.map((target) => PLACES[0]!({ $ref: target })),
      PLACES[0]!({ $dynamicRef: at }),
    ].map((keywords) => ({ type: 'object', ...keywords }));
    for (const schema of schemas) {
      for (const start of [
        () => serverOf().addTool({ name: 'a', input: schema }, () => ''),
        () => serverOf().addTool({ name: 'b', input: NoInput, output: schema }, () => ({}) as never),
        ...providersWith(schema).map((provider) => () => serverOf({ providers: [provider] })),
      ]) {
        expect(start).toThrow('DECORUM_');
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
    const sent = { $ref: `${origin}/sent`, $schema: `${origin}/sent`, url: `${origin}/sent` };
    expect(JSON.parse(textOf(await client.call('take', sent))!)).toEqual(sent);
    // a request that had been made before this one would have arrived before
    await (await fetch(`${origin}/last`, { headers: { connection: 'close' } })).text();
    expect(fetched).toEqual(['/last']);
    await new Promise((resolve) => remote.close(resolve));
  });
});
