// Prompts and completions.
import { describe, expect } from '@jest/globals';
import {
  audio,
  Completion,
  type CompletionContext,
  embedded,
  image,
  type JsonObject,
  link,
  Prompt,
  Resource,
  text,
  ToolError,
  user,
} from '@decorum/core';
import { IsBoolean, IsInt, IsOptional, IsString } from 'class-validator';

import { RawClient } from '../support/raw-client.js';
import { eachRevision, inStateless, STATELESS } from '../support/requirements.js';
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
  eachRevision(['PROMPT-04', 'PROMPT-05', 'PROMPT-07', 'PROMPT-08'], 'gets valid texts unchanged', async (revision) => {
    const seen: unknown[] = [];
    const ways = await waysOf(revision, deskOf([], seen));
    const city = 'Oslo';
    const odd = [7, null, [city], true, {}].map((each) => ({ city: each }));
    const unparsable = [
      ...['two', '', '1.5'].map((days) => ({ city, days })),
      { city, pets: 'yes' },
      { city, pets: '' },
    ];
    const wrong = [...odd, ...unparsable, { city, days: null }, { city, more: 'x' }, { city, days: 2 }];
    const missing = [undefined, {}, { days: '2' }, { City: city }].map((args): Probe => {
      return [
        ...get('pack', args),
        { code: -32602, message: expect.stringContaining('city'), data: expect.anything() },
      ];
    });
    await answersAlike(ways, [
      ...missing,
      ...['nothing', 'Pack', 'pack ', '', '0', 'toString', 'constructor', 7, 0, null, undefined, [], {}].flatMap(
        (name) => [undefined, { city }].map((args): Probe => [...get(name, args), -32602]),
      ),
      ...[...wrong, { city, pets: true }, [], [city], city, '', 0, null, false].map((args): Probe => {
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
  });

  eachRevision('PROMPT-06', 'is an internal error without details if its handler fails', async (revision) => {
    const wrong = [7, {}, { messages: [null] }, [{ role: 'system', content: 'secret' }], new Error('secret')];
    const outcomes = [...failing, ...wrong.map((value) => () => value)];
    const probes = outcomes.flatMap((_outcome, at) =>
      WHEN.map((name): Probe => [...get(name, { at: `${at}` }), FAILED]),
    );
    await answersAlike(await waysOf(revision, deskOf(outcomes)), probes);
  });

  eachRevision(['PROMPT-09', 'PROMPT-10', 'PROMPT-11'], 'fails if a block lacks something (#22)', async (revision) => {
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
  });

  eachRevision(['PROMPT-09', 'PROMPT-10', 'PROMPT-11'], 'has one block in each message', async (revision) => {
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

class Trip {
  @IsString()
  city!: string;

  @IsOptional()
  @IsInt()
  days?: number;

  @IsOptional()
  @IsBoolean()
  pets?: boolean;
}

describe('a prompt', () => {
  eachRevision('PROMPT-15', 'parses numbers and booleans from text', async (revision) => {
    const seen: Trip[] = [];
    class Packing {
      @Prompt()
      pack(trip: Trip) {
        seen.push(trip);
        return '';
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Packing] }), { revision });
    for (const [args, trip] of [
      [
        { city: '7', days: '2', pets: 'true' },
        { city: '7', days: 2, pets: true },
      ],
      [
        { city: 'true', days: '0', pets: 'false' },
        { city: 'true', days: 0, pets: false },
      ],
      [
        { city: '', days: '-12' },
        { city: '', days: -12 },
      ],
    ]) {
      await client.result('prompts/get', { name: 'pack', arguments: args });
      expect({ ...seen.pop() }).toEqual(trip);
    }
  });

  eachRevision(['PROMPT-09', 'PROMPT-12'], 'has each block in a message, as the revision has it', async (revision) => {
    const annotations = { audience: ['user' as const], priority: 0.5 };
    class Several {
      @Prompt()
      annotated() {
        return [
          user(text('text', { annotations })),
          user(image(BYTES, 'image/png', { annotations })),
          user(audio(BYTES, 'audio/wav', { annotations })),
          user(link('docs://a', { name: 'a', annotations })),
          user(embedded({ uri: 'docs://b', data: 'b', annotations })),
        ];
      }

      @Prompt()
      several() {
        return [
          { role: 'assistant', content: ['one', text('two'), image(BYTES, 'image/png'), 'last'] },
          { role: 'user', content: ['three', ''] },
        ];
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Several] }), { revision });
    const messagesOf = async (name: string) =>
      (await client.result('prompts/get', { name }))['messages'] as { role: string; content: JsonObject }[];
    const contents = (await messagesOf('annotated')).map(({ content }) => content);
    const sound = revision === '2024-11-05' ? 'resource' : 'audio';
    const linked = revision < '2025-06-18' ? 'text' : 'resource_link';
    expect(contents.map(({ type }) => type)).toEqual(['text', 'image', sound, linked, 'resource']);
    for (const content of contents) expect(content['annotations']).toEqual(annotations);
    if (linked === 'text') expect(JSON.stringify(contents[3])).toContain('docs://a');
    else expect(contents[3]).toEqual({ type: 'resource_link', uri: 'docs://a', name: 'a', annotations });
    const heard = (await messagesOf('several')).map(({ role, content }) => [role, content['text'] ?? content['data']]);
    expect(heard).toEqual([
      ...['one', 'two', DATA, 'last'].map((each) => ['assistant', each]),
      ...['three', ''].map((each) => ['user', each]),
    ]);
  });
});

const PROMPTS = ['now', 'later'].map((name) => ({ type: 'ref/prompt', name }));
const TEMPLATES = ['docs://{at}', 'docs://a'].map((uri) => ({ type: 'ref/resource', uri }));
const REFS = [...PROMPTS, ...TEMPLATES];

describe('a completion, however it is asked for,', () => {
  eachRevision(['COMP-04', 'COMP-06', 'COMP-07', 'COMP-08'], 'has a known reference and a text', async (revision) => {
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
  });

  eachRevision(['COMP-02', 'COMP-03'], 'has at most 100 values, in the order of the handler', async (revision) => {
    const listed = (count: number) => Array.from({ length: count }, (_value, at) => `${(at * 7) % count}`);
    const counts: readonly (readonly [count: number, more: object, given?: object])[] = [
      ...[0, 1, 99, 100].map((count) => [count, {}] as const),
      ...[101, 500].map((count) => [count, { total: count, hasMore: true }] as const),
      // as the handler says
      [0, { total: 0, hasMore: false }, { total: 0, hasMore: false }],
      [2, { total: 7, hasMore: true }, { total: 7, hasMore: true }],
      [100, { hasMore: false }, { hasMore: false }],
      [101, { total: 200, hasMore: true }, { total: 200, hasMore: false }],
    ];
    const outcomes = counts.map(
      ([count, , given]) =>
        () =>
          given ? { values: listed(count), ...given } : listed(count),
    );
    const probes = counts.flatMap(([count, more], at) => {
      const completion = { values: listed(count).slice(0, 100), ...more };
      return REFS.map((ref): Probe => [...complete(ref, { name: 'at', value: `${at}` }), { completion }]);
    });
    await answersAlike(await waysOf(revision, deskOf(outcomes)), probes);
  });
});

describe('a completion', () => {
  eachRevision('COMP-05', 'receives the arguments that are already filled in', async (revision) => {
    class Filled {
      @Prompt({ input: ANY })
      now() {
        return '';
      }

      @Resource('docs://{at}', { input: ANY })
      page() {
        return '';
      }

      @Completion({ for: ['now', 'page'], argument: 'at' })
      ats(_value: string, { args }: CompletionContext) {
        return [JSON.stringify(args)];
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Filled] }), { revision });
    for (const ref of [PROMPTS[0], ...TEMPLATES]) {
      for (const args of [{ days: '3' }, { days: '0' }, { days: '' }, {}, undefined]) {
        const context = { context: args ? { arguments: args } : {} };
        const [method, params] = complete(ref, { name: 'at', value: '' }, context);
        expect(await client.result(method, params)).toMatchObject({
          completion: { values: [JSON.stringify(args ?? {})] },
        });
      }
    }
  });

  inStateless('COMP-09', 'cannot ask the client questions', async () => {
    let met: unknown;
    class Asking {
      @Prompt({ input: ANY })
      now() {
        return '';
      }

      @Completion({ for: 'now', argument: 'at' })
      async ats(_value: string, context: CompletionContext): Promise<string[]> {
        met = await context.confirm('Sure?').catch((error: unknown) => error);
        throw met;
      }
    }
    const options = { revision: STATELESS, capabilities: { elicitation: {} } } as const;
    const client = await RawClient.connect(serverOf({ providers: [Asking] }), options);
    const answered = { inputResponses: { '#1': { action: 'accept', content: { confirmed: true } } } };
    for (const more of [{}, answered]) {
      expect(await client.error(...complete(PROMPTS[0], { name: 'at', value: '' }, more))).toMatchObject({
        code: -32603,
      });
      expect(met).toMatchObject({ message: expect.stringContaining('cannot ask') });
    }
    expect(client.questions).toEqual([]);
  });
});

describe('the entry of a prompt', () => {
  eachRevision('PROMPT-02', 'has all that the revision has about it and its arguments', async (revision) => {
    const city = { type: 'string', title: 'City', description: 'Where to' };
    class Described {
      @Prompt({ title: 'Pack a bag', input: { type: 'object', properties: { city, days: {} }, required: ['city'] } })
      pack() {
        return '';
      }

      @Prompt()
      none() {
        return '';
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Described] }), { revision });
    const hasTitles = revision >= '2025-06-18';
    expect((await client.result('prompts/list'))['prompts']).toEqual([
      {
        name: 'pack',
        ...(hasTitles && { title: 'Pack a bag' }),
        arguments: [
          { name: 'city', ...(hasTitles && { title: 'City' }), description: 'Where to', required: true },
          { name: 'days', required: false },
        ],
      },
      { name: 'none' },
    ]);
  });
});
