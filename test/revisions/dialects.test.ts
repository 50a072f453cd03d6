// The JSON Schemas of every kind of member, and of forms.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect } from '@jest/globals';
import { type JsonObject, type McpServer, NoInput, Prompt, Resource, Tool } from '@decorum/core';

import { RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { serverOf, serverWith } from './servers.js';

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';
const object = (a: JsonObject, more: JsonObject = {}): JsonObject => ({ ...more, type: 'object', properties: { a } });

/** Starts servers with a member of each kind that uses a schema, by kind. */
const STARTS: Readonly<Record<string, (schema: JsonObject) => McpServer>> = {
  arguments: (input) => {
    class WithTool {
      @Tool({ input })
      tool() {
        return 'taken';
      }
    }
    return serverOf({ providers: [WithTool] });
  },
  results: (output) => {
    class WithOutput {
      @Tool({ output })
      tool() {
        return {};
      }
    }
    return serverOf({ providers: [WithOutput] });
  },
  'a tool added later': (input) => {
    const server = serverOf();
    server.addTool({ name: 'tool', input }, () => 'taken');
    return server;
  },
  prompts: (input) => {
    class WithPrompt {
      @Prompt({ input })
      tool() {
        return 'taken';
      }
    }
    return serverOf({ providers: [WithPrompt] });
  },
  templates: (input) => {
    class WithTemplate {
      @Resource('docs://{a}', { input })
      tool() {
        return 'taken';
      }
    }
    return serverOf({ providers: [WithTemplate] });
  },
};

/** Whether the client is asked to fill in this form. */
async function elicited(revision: Revision, schema: JsonObject, content: JsonObject): Promise<boolean> {
  const server = serverOf();
  server.addTool({ name: 'ask', input: NoInput }, async (_input, context) => {
    return (await context.elicit(schema, { message: 'Well?' })).action;
  });
  const client = await RawClient.connect(server, {
    revision,
    capabilities: { elicitation: {} },
    answers: { 'elicitation/create': () => ({ result: { action: 'accept', content } }) },
  });
  await client.call('ask').catch(() => {});
  return client.questions.length > 0;
}

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
        const takes = async (schema: JsonObject, a: unknown) => {
          const client = await RawClient.connect(start(schema), { revision });
          return (await client.call('tool', { a }))['isError'] !== true;
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

describe('a reference in a schema', () => {
  inStateless(
    ['META-13', 'META-14', 'META-16'],
    'to another document is rejected at startup and never followed, in every place and dialect',
    async () => {
      const requested: unknown[] = [];
      const site = createServer(({ url }, response) => {
        requested.push(url);
        response.end('{}');
      });
      site.listen(0, '127.0.0.1').unref();
      await once(site, 'listening');
      const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
      for (const $ref of [
        `${origin}/a.json`,
        `${origin}/a.json#/$defs/a`,
        '//a.example/a',
        'a.json',
        'urn:example:a',
      ]) {
        const roots = [
          {},
          { $schema: DRAFT_7 },
          { $schema: DRAFT_2020 },
          { $id: `${origin}/root.json` },
          { $id: 'urn:b' },
        ];
        for (const root of roots) {
          for (const a of [
            { $ref },
            { $id: `${origin}/inner.json`, $ref },
            { type: 'array', items: { $ref } },
            { anyOf: [{ type: 'string' }, { $ref }] },
            { not: { $ref } },
            { type: 'object', additionalProperties: { $ref } },
            ...('$schema' in root && root.$schema === DRAFT_7 ? [] : [{ $dynamicRef: $ref }]),
          ]) {
            for (const start of ['arguments', 'results', 'a tool added later', 'prompts']) {
              expect(() => STARTS[start]?.(object(a, root))).toThrow(/DECORUM_INVALID_SCHEMA/);
            }
          }
        }
        const asked = await elicited(STATELESS, object({ $ref }), { a: 'a' });
        expect([$ref, asked]).toEqual([$ref, false]);
        // in arguments, it is data
        const server = serverWith({ take: (_context, input) => JSON.stringify(input) });
        const client = await RawClient.connect(server, { revision: STATELESS });
        expect(textOf(await client.call('take', { $ref, $schema: $ref }))).toContain($ref);
      }
      // a request that comes after any earlier one
      await (await fetch(`${origin}/last`)).text();
      site.closeAllConnections();
      site.close();
      await once(site, 'close');
      expect(requested).toEqual(['/last']);
    },
  );
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
