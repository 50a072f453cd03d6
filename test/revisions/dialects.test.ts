// The JSON Schemas of every kind of member, and of forms.
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

/** Asks the client to fill in this form. Returns the text of the tool. */
async function elicited(revision: Revision, schema: JsonObject, content: JsonObject): Promise<[boolean, string]> {
  const server = serverOf();
  server.addTool({ name: 'ask', input: NoInput }, async (_input, context) => {
    return (await context.elicit(schema, { message: 'Well?' })).action;
  });
  const client = await RawClient.connect(server, {
    revision,
    capabilities: { elicitation: {} },
    answers: { 'elicitation/create': () => ({ result: { action: 'accept', content } }) },
  });
  const result = await client
    .call('ask')
    .catch((error: Error) => ({ isError: true, content: [{ text: error.message }] }));
  return [client.questions.length > 0, textOf(result) as string];
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

  for (const id of ['META-07', 'META-10']) {
    eachRevision(id, 'decides what its keywords mean, however it is spelled', async (revision) => {
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
  }

  eachRevision('META-10', 'is supported, or the start fails, whichever member has it', async (revision) => {
    const wrong = [
      'http://json-schema.org/draft-04/schema#',
      'http://json-schema.org/draft-06/schema#',
      'https://json-schema.org/draft/2019-09/schema',
      'https://json-schema.org/draft/next/schema',
      'http://json-schema.org/schema#',
      `${DRAFT_2020}x`,
      ` ${DRAFT_2020}`,
      '',
      null,
      7,
    ];
    for (const $schema of wrong) {
      for (const [kind, start] of Object.entries(STARTS)) {
        let message = 'started';
        try {
          start(object({ type: 'string' }, { $schema }));
        } catch (error) {
          message = (error as Error).message;
        }
        expect([kind, $schema, message]).toEqual([kind, $schema, expect.stringContaining('DECORUM_INVALID_SCHEMA')]);
        expect([kind, message]).toEqual([
          kind,
          expect.stringContaining(`its dialect "${String($schema)}" is not supported`),
        ]);
      }
      const form = object({ type: 'string' }, { $schema });
      const [asked, said] = await elicited(revision, form, { a: 'a' });
      expect([$schema, asked, said]).not.toEqual([$schema, expect.anything(), 'accept']);
      expect([$schema, asked]).toEqual([$schema, false]);
    }
  });
});

describe('a reference in a schema', () => {
  for (const id of ['META-13', 'META-14', 'META-16']) {
    inStateless(id, 'to another document is rejected at startup, in every place and dialect', async () => {
      const fetched: unknown[] = [];
      const { fetch } = globalThis;
      globalThis.fetch = (async (url: unknown) => {
        fetched.push(url);
        return new Response('{}');
      }) as typeof fetch;
      try {
        for (const $ref of [
          'https://schemas.example.com/a.json',
          'http://127.0.0.1:1/a.json#/$defs/a',
          '//schemas.example.com/a',
          'a.json',
          'file:///etc/hostname',
          'urn:example:a',
        ]) {
          for (const $schema of [DRAFT_7, DRAFT_2020, undefined]) {
            for (const a of [
              { $ref },
              { type: 'array', items: { $ref } },
              { anyOf: [{ type: 'string' }, { $ref }] },
              { not: { $ref } },
              { type: 'object', additionalProperties: { $ref } },
            ]) {
              const schema = object(a, $schema === undefined ? {} : { $schema });
              for (const start of ['arguments', 'results', 'a tool added later']) {
                expect(() => STARTS[start]?.(schema)).toThrow(/DECORUM_INVALID_SCHEMA/);
              }
            }
          }
          const [asked] = await elicited(STATELESS, object({ $ref }), { a: 'a' });
          expect([$ref, asked]).toEqual([$ref, false]);
        }
      } finally {
        globalThis.fetch = fetch;
      }
      expect(fetched).toEqual([]);
    });
  }
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
          let problem: unknown;
          try {
            start(schema);
          } catch (error) {
            problem = error;
          }
          const code = [
            kind,
            $schema,
            JSON.stringify(a).slice(0, 80),
            (problem as { code?: string } | undefined)?.code,
          ];
          expect(code).toEqual([...code.slice(0, 3), 'DECORUM_INVALID_SCHEMA']);
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
