// Calls of tools, in every way that a request can take.
import { describe, expect } from '@jest/globals';
import { type JsonObject, NoInput, ToolError, toolResult } from '@decorum/core';

import { eachRevisionOf, STATELESS } from '../support/requirements.js';
import { serverOf } from './servers.js';
import { answersAlike, type Probe, type Setting, waysOf } from './ways.js';

const DEGREES: JsonObject = {
  type: 'object',
  properties: { degrees: { type: 'number' } },
  required: ['degrees'],
  additionalProperties: false,
};
const PAIR: JsonObject = {
  type: 'object',
  properties: { a: { type: 'string' }, b: { type: 'integer' } },
  required: ['a'],
  additionalProperties: false,
};

const ANY: JsonObject = { type: 'object' };

const call = (name: unknown, args?: unknown): [method: string, params: JsonObject] => [
  'tools/call',
  { name, ...(args !== undefined && { arguments: args }) },
];
const failure = (text: unknown) => ({ content: [{ type: 'text', text }], isError: true });

/** The kinds of handlers that return a value. */
const RETURNING = {
  now: (value: unknown) => value,
  later: async (value: unknown) => await Promise.resolve(value),
  *steps(value: unknown) {
    yield { progress: 2 };
    return value;
  },
  async *stream(value: unknown) {
    yield { progress: 2 };
    return await Promise.resolve(value);
  },
} as const;

/** The kinds of handlers that fail with an error. */
const FAILING = {
  now(cause: unknown) {
    throw cause;
  },
  later: async (cause: unknown) => await Promise.reject(cause),
  *steps(cause: unknown) {
    yield { progress: 2 };
    throw cause;
  },
  async *stream(cause: unknown) {
    yield { progress: 2 };
    throw await Promise.resolve(cause);
  },
} as const;

describe('a tool call, however it arrives,', () => {
  eachRevisionOf(
    ['TOOL-07', 'TOOL-10', 'TOOL-08', 'TOOL-09', 'TOOL-26'],
    'names a tool and passes arguments that the tool accepts, or runs nothing',
    async (revision) => {
      const given: unknown[] = [];
      const take = (input: unknown) => (given.push(input), 'ran');
      const build = ({ options, guard }: Setting) => {
        const server = serverOf(options);
        server.addTool({ name: 'pair', input: PAIR, ...guard }, take);
        server.addTool({ name: 'none', input: NoInput, ...guard }, take);
        server.addTool({ name: 'late', input: PAIR, ...guard }, async (input) => await Promise.resolve(take(input)));
        return server;
      };
      const ways = await waysOf(revision, build);
      const unknown = ['unknown', 'PAIR', 'pair ', '', '0', 'toString'];
      const nameless = [undefined, 7, 0, null, false, [], ['pair'], {}];
      const malformed = [[], [{ a: 'x' }], 'a', '', 0, 7, null, false, true];
      const a = 'x';
      const invalid = [undefined, {}, { a: null }, { a: 0 }, { a: [a] }, { a, b: '1' }, { a, b: 1.5 }, { a, b: null }];
      await answersAlike(ways, [
        ...unknown.flatMap((name) => [undefined, { a }, {}].map((args): Probe => [...call(name, args), -32602])),
        ...nameless.map((name): Probe => [...call(name, { a }), -32602]),
        ...['pair', 'none', 'late'].flatMap((name) => malformed.map((args): Probe => [...call(name, args), -32602])),
        ...['pair', 'late'].flatMap((name) =>
          [...invalid, { a, c: 1 }].map((args): Probe => [
            ...call(name, args),
            failure(expect.stringMatching('not valid')),
          ]),
        ),
        [...call('none', { a }), failure(expect.stringMatching('not valid'))],
      ]);
      expect(given).toEqual([]);
      for (const { ask } of ways) {
        const { error } = await ask(...call('Pair'));
        expect(error?.message).toBe('Unknown tool: Pair');
        for (const [name, args] of [
          ['pair', { a: '' }],
          ['late', { a: '0', b: -1 }],
          ['none', {}],
        ] as const) {
          expect((await ask(...call(name, args))).result).toMatchObject({ content: [{ text: 'ran' }] });
          expect({ ...(given.pop() as object) }).toEqual(args);
        }
      }
      expect(given).toEqual([]);
    },
  );

  eachRevisionOf(['TOOL-11', 'TOOL-32'], 'shows the model in its result that the tool has failed', async (revision) => {
    const coded = Object.assign(new Error('secret'), { code: -32000 });
    const errors = [
      new ToolError('No.'),
      new ToolError(''),
      new TypeError('secret'),
      coded,
      { code: -32602 },
      'secret',
    ];
    const thrown = [...errors, '', 0, false, null, undefined];
    const fail = ({ kind, at }: JsonObject) => FAILING[kind as keyof typeof FAILING](thrown[at as number]);
    const ways = await waysOf(revision, ({ options, guard }) => {
      const server = serverOf(options);
      server.addTool({ name: 'plain', input: ANY, ...guard }, fail);
      server.addTool({ name: 'structured', input: ANY, output: DEGREES, ...guard }, fail as never);
      return server;
    });
    const masked = expect.stringMatching(/^(?!.*secret)./);
    const probes = Object.keys(FAILING).flatMap((kind) =>
      thrown.flatMap((error, at) =>
        ['plain', 'structured'].map((name): Probe => {
          return [...call(name, { kind, at }), failure(error instanceof ToolError ? error.message : masked)];
        }),
      ),
    );
    await answersAlike(ways, probes);
  });

  eachRevisionOf(
    ['TOOL-19', 'TOOL-20', 'TOOL-21', 'TOOL-22', 'TOOL-12'],
    'has a structured result that fits its schema and is text too, or fails',
    async (revision) => {
      const list: JsonObject = { type: 'array', items: { type: 'integer' } };
      const outputs: Record<string, JsonObject> = {
        degrees: DEGREES,
        list,
        number: { type: 'integer' },
        text: { type: 'string' },
        flag: { type: 'boolean' },
        nothing: { type: ['null', 'string'] },
        object: { type: 'object' },
      };
      const odd = [{ degrees: '1' }, { degrees: null }, { degrees: 1, more: 1 }, { degrees: Number.NaN }];
      const wrong = [null, undefined, 0, '', false, [], {}, [{ degrees: 1 }], ...odd];
      const right: readonly (readonly [output: string, value: unknown])[] = [
        ['degrees', { degrees: 0 }],
        ['list', []],
        ['list', [0, 1]],
        ['number', 0],
        ['text', ''],
        ['flag', false],
        ['nothing', null],
        ['object', {}],
      ];
      const sent = (output: string, value: unknown) => {
        if (revision < '2025-06-18') return {};
        return { structuredContent: revision === STATELESS || isObject(output) ? value : { result: value } };
      };
      const isObject = (output: string) => outputs[output]?.['type'] === 'object';
      const whole = (structuredContent: unknown) => toolResult({ content: 'So.', structuredContent });
      const values = [...wrong, ...wrong.map(whole), ...right.map(([, value]) => value)];
      const ways = await waysOf(revision, ({ options, guard }) => {
        const server = serverOf(options);
        for (const [name, output] of Object.entries(outputs)) {
          const run = ({ kind, at }: JsonObject) => RETURNING[kind as keyof typeof RETURNING](values[at as number]);
          server.addTool({ name, output, input: ANY, ...guard }, run as never);
        }
        return server;
      });
      const probes = Object.keys(RETURNING).flatMap((kind) => [
        ...Array.from({ length: 2 * wrong.length }, (_value, at): Probe => {
          return [...call('degrees', { kind, at }), failure(expect.stringMatching(/./))];
        }),
        ...right.map(([output, value], at): Probe => {
          const result = { content: [{ type: 'text', text: JSON.stringify(value) }], ...sent(output, value) };
          return [...call(output, { kind, at: 2 * wrong.length + at }), result];
        }),
      ]);
      await answersAlike(ways, probes);
    },
  );
});
