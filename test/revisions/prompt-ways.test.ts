// Prompts and completions, in every way that a request can take.
import { describe, expect } from '@jest/globals';
import {
  audio,
  Completion,
  embedded,
  image,
  type JsonObject,
  Prompt,
  Resource,
  text,
  ToolError,
  user,
} from '@decorum/core';

import { eachRevisionOf } from '../support/requirements.js';
import { serverOf } from './servers.js';
import { answersAlike, type Probe, type Setting, waysOf } from './ways.js';

const TRIP: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' }, pets: { type: 'boolean' } },
  required: ['city'],
  additionalProperties: false,
};
const ANY: JsonObject = { type: 'object', properties: { at: { type: 'string' } } };
const BYTES = Buffer.from([0, 127, 255, 62, 63]);
const DATA = BYTES.toString('base64');

const get = (name: unknown, args?: unknown): [method: string, params: JsonObject] => [
  'prompts/get',
  { name, ...(args !== undefined && { arguments: args }) },
];
const complete = (ref: unknown, argument: unknown, more: JsonObject = {}): [method: string, params: JsonObject] => [
  'completion/complete',
  { ref, argument, ...more },
];
const said = (content: object) => ({ messages: [{ role: 'user', content }] });
const WHEN = ['now', 'later'] as const;
const FAILED = { code: -32603, message: expect.stringMatching(/^(?!.*secret)./) };

/** Prompts that return or throw what has a place in a list, and completions that do the same. */
function deskOf(outcomes: readonly (() => unknown)[], seen: unknown[] = []) {
  return ({ options, guard }: Setting) => {
    const outcome = (at: string) => outcomes[Number(at)]?.();
    class Desk {
      @Prompt({ input: TRIP, ...guard })
      pack(trip: { city: string }) {
        seen.push(trip);
        return trip.city;
      }

      @Prompt({ input: ANY, ...guard })
      now({ at }: { at: string }) {
        return outcome(at);
      }

      @Prompt({ input: ANY, ...guard })
      async later({ at }: { at: string }) {
        return await Promise.resolve().then(() => outcome(at));
      }

      @Resource('docs://{at}', { input: ANY, ...guard })
      page({ at }: { at: string }) {
        return at;
      }

      @Completion({ for: ['now', 'page'], argument: 'at' })
      soon(at: string) {
        return outcome(at) as string[];
      }

      @Completion({ for: 'later', argument: 'at' })
      async late(at: string) {
        return await Promise.resolve().then(() => outcome(at) as string[]);
      }
    }
    return serverOf({ providers: [new Desk()], ...options });
  };
}

const failing = [
  new ToolError('No.'),
  new TypeError('secret'),
  Object.assign(new Error('secret'), { code: -32602 }),
  { code: -32602 },
  'secret',
  '',
  0,
  null,
  undefined,
].map((error) => () => {
  throw error;
});

describe('a prompt, however it is asked for,', () => {
  eachRevisionOf(
    ['PROMPT-04', 'PROMPT-05', 'PROMPT-07', 'PROMPT-08'],
    'runs only if it exists and gets valid texts, which it gets unchanged',
    async (revision) => {
      const seen: unknown[] = [];
      const ways = await waysOf(revision, deskOf([], seen));
      const city = 'Oslo';
      const wrong = [{ city: 7 }, { city: null }, { city: [city] }, { city, more: 'x' }, { city, days: 2 }];
      const unparsable = [
        { city, days: 'two' },
        { city, days: '' },
        { city, days: '1.5' },
        { city, pets: 'yes' },
      ];
      const missing = [undefined, {}, { days: '2' }, { City: city }].map((args): Probe => {
        return [
          ...get('pack', args),
          { code: -32602, message: expect.stringContaining('city'), data: expect.anything() },
        ];
      });
      await answersAlike(ways, [
        ...missing,
        ...['nothing', 'Pack', 'pack ', '', '0', 'toString', 7, 0, null, undefined, [], {}].flatMap((name) =>
          [undefined, { city }].map((args): Probe => [...get(name, args), -32602]),
        ),
        ...[...wrong, ...unparsable, { city, pets: true }, [], [city], city, '', 0, null, false].map((args): Probe => {
          return [...get('pack', args), -32602];
        }),
      ]);
      expect(seen).toEqual([]);
      const texts = [
        '',
        '0',
        ' ',
        'null',
        '{{city}} ${7*7} %s',
        '"}],"role":"system"',
        '\u0000\u001B[31m\r\n',
        'e\u0301',
        '\uFEFFa',
      ];
      await answersAlike(
        ways,
        texts.map((each): Probe => [...get('pack', { city: each }), said({ type: 'text', text: each })]),
      );
    },
  );

  eachRevisionOf(['PROMPT-06'], 'is an internal error without details if its handler fails', async (revision) => {
    const wrong = [7, {}, { messages: [null] }, [{ role: 'system', content: 'secret' }], new Error('secret')];
    const outcomes = [...failing, ...wrong.map((value) => () => value)];
    const probes = outcomes.flatMap((_outcome, at) =>
      WHEN.map((name): Probe => [...get(name, { at: `${at}` }), FAILED]),
    );
    await answersAlike(await waysOf(revision, deskOf(outcomes)), probes);
  });

  eachRevisionOf(
    ['PROMPT-09', 'PROMPT-10', 'PROMPT-11'],
    'fails rather than send a block that lacks something (#22)',
    async (revision) => {
      const blocks = [
        { type: 'text' },
        ...['image', 'audio'].flatMap((type) => [
          { type, data: DATA },
          { type, mimeType: 'audio/wav' },
        ]),
        { type: 'resource' },
        { type: 'resource', resource: { uri: 'docs://a' } },
        { type: 'resource', resource: { text: '' } },
      ];
      const outcomes = blocks.flatMap((block) => [block, [block], [{ role: 'user', content: block }]]);
      const ways = await waysOf(revision, deskOf(outcomes.map((outcome) => () => outcome)));
      const probes = outcomes.flatMap((_outcome, at) =>
        WHEN.map((name): Probe => [...get(name, { at: `${at}` }), FAILED]),
      );
      await answersAlike(ways, probes);
    },
  );

  eachRevisionOf(['PROMPT-09', 'PROMPT-10', 'PROMPT-11'], 'has one block in each message', async (revision) => {
    const sound = { mimeType: 'audio/wav' };
    const heard = { type: 'audio', ...sound, data: DATA };
    const uri = 'docs://a';
    const outcomes: readonly (readonly [value: unknown, content: object])[] = [
      ['', { type: 'text', text: '' }],
      [text('0'), { type: 'text', text: '0' }],
      [image(BYTES, 'image/png'), { type: 'image', mimeType: 'image/png', data: DATA }],
      [
        user(audio(BYTES, 'audio/wav')),
        revision > '2024-11-05'
          ? heard
          : { type: 'resource', resource: { uri: expect.any(String), ...sound, blob: DATA } },
      ],
      [embedded({ uri, data: '' }), { type: 'resource', resource: { uri, mimeType: 'text/plain', text: '' } }],
      [
        [user(embedded({ uri, data: BYTES }))],
        { type: 'resource', resource: { uri, mimeType: 'application/octet-stream', blob: DATA } },
      ],
    ];
    const ways = await waysOf(
      revision,
      deskOf(
        outcomes.map(
          ([value]) =>
            () =>
              value,
        ),
      ),
    );
    const probes = outcomes.flatMap(([, content], at) =>
      WHEN.map((name): Probe => [...get(name, { at: `${at}` }), said(content)]),
    );
    await answersAlike(ways, probes);
  });
});

describe('a completion, however it is asked for,', () => {
  const PROMPTS = ['now', 'later'].map((name) => ({ type: 'ref/prompt', name }));
  const TEMPLATES = ['docs://{at}', 'docs://a'].map((uri) => ({ type: 'ref/resource', uri }));
  const REFS = [...PROMPTS, ...TEMPLATES];

  eachRevisionOf(
    ['COMP-04', 'COMP-06', 'COMP-07', 'COMP-08'],
    'is for a known reference and a text, and its failures are internal errors',
    async (revision) => {
      const wrong = [7, [7], [null], 'secret', new Error('secret'), { values: 'secret' }, { values: ['a', 1] }];
      const outcomes = [...failing, ...wrong.map((value) => () => value)];
      const ways = await waysOf(revision, deskOf(outcomes));
      const argument = { name: 'at', value: '' };
      const [ref] = PROMPTS;
      const unknown = [
        ...['nothing', 'Now', '', 'toString', 7, null, undefined].map((name) => ({ type: 'ref/prompt', name })),
        ...['docs://', 'docs://{id}', 'other://a', '', 7, null, undefined].map((uri) => ({
          type: 'ref/resource',
          uri,
        })),
        { type: 'ref/tool', name: 'now' },
        { type: 'ref/Prompt', name: 'now' },
        { name: 'now' },
      ];
      const malformed = [undefined, null, 'at', [], {}, { name: 'at' }, { value: '' }, { name: 0, value: '' }];
      const values = [0, null, false, [], {}].map((value) => ({ name: 'at', value }));
      await answersAlike(ways, [
        ...[...unknown, undefined, null, 'now', []].map((each): Probe => [...complete(each, argument), -32602]),
        ...[...malformed, ...values].flatMap((each) => REFS.map((one): Probe => [...complete(one, each), -32602])),
        ...['x', { arguments: 'x' }, { arguments: { more: 1 } }, null].map((context): Probe => {
          return [...complete(ref, argument, { context }), -32602];
        }),
        ...outcomes.flatMap((_outcome, at) =>
          REFS.map((each): Probe => [...complete(each, { name: 'at', value: `${at}` }), FAILED]),
        ),
        ...['other', '', 'toString'].flatMap((name) =>
          REFS.map((each): Probe => [...complete(each, { name, value: '0' }), { completion: { values: [] } }]),
        ),
      ]);
    },
  );

  eachRevisionOf(['COMP-02', 'COMP-03'], 'has at most 100 values, in the order of the handler', async (revision) => {
    const counts = [0, 1, 99, 100, 101, 500];
    const listed = (count: number) => Array.from({ length: count }, (_value, at) => `${(at * 7) % count}`);
    const ways = await waysOf(revision, deskOf(counts.map((count) => () => listed(count))));
    const probes = counts.flatMap((count, at) => {
      const more = count > 100 ? { total: count, hasMore: true } : {};
      const completion = { values: listed(count).slice(0, 100), ...more };
      return REFS.map((ref): Probe => [...complete(ref, { name: 'at', value: `${at}` }), { completion }]);
    });
    await answersAlike(ways, probes);
  });
});
