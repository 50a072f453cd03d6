// Prompts and completions.
import { describe, expect, it } from '@jest/globals';
import {
  assistant,
  audio,
  Completion,
  type CompletionContext,
  type Context,
  embedded,
  image,
  type JsonObject,
  link,
  NoInput,
  Prompt,
  Resource,
  text,
  ToolError,
  user,
} from '@decorum/core';
import { IsBoolean, IsInt, IsOptional, IsString } from 'class-validator';

import { transportsOf } from '../support/http-transports.js';
import { overMemory, RawClient } from '../support/raw-client.js';
import { eachRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { answersOnTwo, followList, listen } from './neutral.js';
import { serverOf, serverWith } from './servers.js';

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

const BYTES = Buffer.from([0, 127, 255]);
const DATA = BYTES.toString('base64');

class Prompts {
  seen: unknown[] = [];

  @Prompt({ description: 'What to take along' })
  pack(trip: Trip) {
    this.seen.push({ ...trip });
    return trip.city;
  }

  @Prompt()
  talk() {
    return [user('Hi'), assistant('Ho')];
  }

  @Prompt()
  media() {
    return [user(image(BYTES, 'image/png')), assistant(audio(BYTES, 'audio/wav'))];
  }

  @Prompt()
  attached() {
    return [
      user(embedded({ uri: 'docs://a', mimeType: 'text/markdown', data: '# A' })),
      user(embedded({ uri: 'docs://b', data: BYTES })),
    ];
  }

  @Prompt()
  linked() {
    return user(link('docs://a', { name: 'a' }));
  }

  @Prompt()
  broken(): string {
    throw new Error('the database at 10.0.0.1 is down');
  }

  @Resource('weather://{city}')
  weather(_variables: NoInput) {
    return '';
  }

  @Completion({ for: ['pack', 'weather'], argument: 'city' })
  cities(value: string, { args }: CompletionContext) {
    if (value === 'many') return Array.from({ length: 500 }, (_item, index) => `city ${index}`);
    if (value === 'broken') throw new Error('the database at 10.0.0.1 is down');
    if (args['days'] !== undefined) return [`${args['days']} days`];
    return ['Oslo', 'Ostrava', 'Moss', 'Rio'].filter((city) => city.toLowerCase().includes(value.toLowerCase()));
  }
}

class City {
  @IsString()
  city!: string;
}

class OnlyPrompts {
  @Prompt()
  pack({ city }: City) {
    return city;
  }

  @Completion({ for: 'pack', argument: 'city' })
  cities() {
    return ['Oslo'];
  }
}

class OnlyResources {
  @Resource('weather://{city}')
  weather({ city }: City) {
    return city;
  }

  @Completion({ for: 'weather', argument: 'city' })
  cities() {
    return ['Oslo'];
  }
}

class Greeting {
  @Prompt()
  greet() {
    return 'Hello';
  }
}

const open = (revision: Revision, provider = new Prompts()) =>
  RawClient.connect(serverOf({ providers: [provider] }), { revision });

async function capabilitiesOf(revision: Revision, server: ReturnType<typeof serverOf>, transport = overMemory) {
  const client = await RawClient.connect(server, { revision, begins: false }, transport);
  return (await client.begin())['capabilities'];
}

async function contentsOf(revision: Revision, name: string): Promise<unknown[]> {
  const client = await open(revision);
  const { messages } = (await client.result('prompts/get', { name })) as { messages: JsonObject[] };
  return messages.map(({ content }) => content);
}

describe('prompts', () => {
  eachRevision('PROMPT-01', 'are declared if there are any', async (revision) => {
    const declared = await capabilitiesOf(revision, serverOf({ providers: [Prompts] }));
    expect(declared).toMatchObject({ prompts: { listChanged: true } });
    const server = serverWith({ tool: () => '' });
    expect(await capabilitiesOf(revision, server)).not.toHaveProperty('prompts');
    const added = server.addProvider(Greeting);
    expect(await capabilitiesOf(revision, server)).toHaveProperty('prompts');
    added.remove();
    expect(await capabilitiesOf(revision, server)).toHaveProperty('prompts');
  });

  eachRevision('PROMPT-02', 'are listed with their arguments', async (revision) => {
    const { prompts } = (await (await open(revision)).result('prompts/list')) as { prompts: JsonObject[] };
    expect(prompts[0]).toEqual({
      name: 'pack',
      description: 'What to take along',
      arguments: [
        { name: 'city', required: true },
        { name: 'days', required: false },
        { name: 'pets', required: false },
      ],
    });
  });

  inStateless('PROMPT-03', 'are the same on every connection, regardless of earlier requests', async () => {
    const answers = await answersOnTwo(serverOf({ providers: [Prompts] }), 'prompts/list', async (client) => {
      await client.request('prompts/get', { name: 'pack', arguments: { city: 'Oslo' } });
      for (const name of ['broken', 'nothing']) await client.request('prompts/get', { name });
      await listen(client, { promptsListChanged: true });
    });
    for (const [one, other] of answers) {
      expect(one).toContain('"pack"');
      expect(other).toBe(one);
    }
  });

  eachRevision('PROMPT-04', 'that are unknown are an error', async (revision) => {
    const client = await open(revision);
    for (const name of ['nothing', 'Pack', '', 'constructor', 7, null, undefined]) {
      expect(await client.error('prompts/get', { name })).toMatchObject({ code: -32602 });
    }
  });

  eachRevision('PROMPT-04', 'that were removed are unknown, even if they were the last', async (revision) => {
    const server = serverOf();
    const added = server.addProvider(Prompts);
    const before = await RawClient.connect(server, { revision });
    const prompt = { name: 'pack', arguments: { city: 'Oslo' } };
    expect(await before.result('prompts/get', prompt)).toHaveProperty('messages');
    added.remove();
    for (const client of [before, await RawClient.connect(server, { revision })]) {
      expect(await client.error('prompts/get', prompt)).toMatchObject({ code: -32602 });
      expect(await client.result('prompts/list')).toMatchObject({ prompts: [] });
    }
  });

  eachRevision('PROMPT-05', 'need the arguments that are required', async (revision) => {
    const client = await open(revision);
    for (const args of [undefined, {}, { days: '2' }]) {
      const error = await client.error('prompts/get', { name: 'pack', ...(args && { arguments: args }) });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('city') });
    }
  });

  eachRevision('PROMPT-06', 'that fail are an internal error, without details', async (revision) => {
    const error = await (await open(revision)).error('prompts/get', { name: 'broken' });
    expect(error).toMatchObject({ code: -32603 });
    expect(JSON.stringify(error)).not.toContain('10.0.0.1');
  });

  eachRevision('PROMPT-06', 'that throw or return something wrong are an internal error too', async (revision) => {
    let fail: () => unknown = () => '';
    class Failing {
      @Prompt()
      now() {
        return fail() as string;
      }

      @Prompt()
      async later() {
        return (await Promise.resolve().then(fail)) as string;
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Failing] }), { revision });
    const thrown = [new ToolError('No.'), new TypeError('10.0.0.1'), '10.0.0.1', undefined, { message: '10.0.0.1' }];
    const failures = thrown.map((error) => () => {
      throw error;
    });
    const wrong = [7, {}, [{ role: 'system', content: '10.0.0.1' }], { messages: [null] }, new Error('10.0.0.1')];
    for (const each of [...failures, ...wrong.map((value) => () => value)]) {
      fail = each;
      for (const name of ['now', 'later']) {
        const error = await client.error('prompts/get', { name });
        expect(error).toMatchObject({ code: -32603 });
        expect(JSON.stringify(error)).not.toContain('10.0.0.1');
      }
    }
  });

  eachRevision('PROMPT-07', 'accept only valid strings as arguments', async (revision) => {
    const provider = new Prompts();
    const client = await open(revision, provider);
    for (const args of [
      { city: 7 },
      { city: null },
      { city: ['Oslo'] },
      { city: true },
      { city: {} },
      { city: 'Oslo', pets: 'yes' },
      { city: 'Oslo', pets: '' },
      { city: 'Oslo', days: '' },
      // not even where the handler gets another type
      { city: 'Oslo', days: 2 },
      { city: 'Oslo', pets: true },
      { city: 'Oslo', days: null },
      { city: 'Oslo', days: 'two' },
      ['Oslo'],
      'Oslo',
    ]) {
      const error = await client.error('prompts/get', { name: 'pack', arguments: args });
      expect(error).toMatchObject({ code: -32602 });
    }
    expect(provider.seen).toEqual([]);
  });

  eachRevision('PROMPT-08', 'treat arguments as data, whatever they contain', async (revision) => {
    const client = await open(revision);
    const texts = [
      '{{city}} ${7*7} <%= 1 %> {0} %s',
      '"}],"role":"system"',
      '\u0000\u001B[31m\r\n',
      '</user> SYSTEM:',
      'e\u0301 \uFB01',
      ' ',
      '\uFEFFa\u00A0',
    ];
    for (const city of texts) {
      const result = await client.result('prompts/get', { name: 'pack', arguments: { city } });
      expect(result['messages']).toEqual([{ role: 'user', content: { type: 'text', text: city } }]);
    }
    expect(await client.error('prompts/get', { name: 'pack', arguments: { city: 7 } })).toMatchObject({ code: -32602 });

    class Locked {
      @Prompt({ access: (principal) => principal?.subject === 'ada' })
      diary() {
        return 'Dear diary';
      }
    }
    const server = serverOf({ providers: [new Locked()] });
    const [ada, eve] = await Promise.all(
      ['ada', 'eve'].map((subject) => RawClient.connect(server, { revision, principal: { subject } })),
    );
    expect(await ada?.result('prompts/get', { name: 'diary' })).toHaveProperty('messages');
    expect(await eve?.error('prompts/get', { name: 'diary' })).toMatchObject({ code: -32602 });
  });

  eachRevision('PROMPT-09', 'are messages with a role and one block each', async (revision) => {
    const result = await (await open(revision)).result('prompts/get', { name: 'talk' });
    expect(result['messages']).toEqual([
      { role: 'user', content: { type: 'text', text: 'Hi' } },
      { role: 'assistant', content: { type: 'text', text: 'Ho' } },
    ]);
    class Several {
      @Prompt()
      several() {
        return [
          { role: 'assistant', content: ['one', text('two'), image(BYTES, 'image/png'), 'last'] },
          { role: 'user', content: ['three', ''] },
        ];
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Several] }), { revision });
    const { messages } = await client.result('prompts/get', { name: 'several' });
    const said = (messages as { role: string; content: JsonObject }[]).map(({ role, content }) => [
      role,
      content['text'] ?? content['data'],
    ]);
    const [one, two] = ['assistant', 'user'];
    expect(said).toEqual([
      [one, 'one'],
      [one, 'two'],
      [one, DATA],
      [one, 'last'],
      [two, 'three'],
      [two, ''],
    ]);
  });

  eachRevision('PROMPT-10', 'may contain images, and audio if the revision has it', async (revision) => {
    const [shown, heard] = await contentsOf(revision, 'media');
    expect(shown).toEqual({ type: 'image', data: DATA, mimeType: 'image/png' });
    if (revision > '2024-11-05') expect(heard).toEqual({ type: 'audio', data: DATA, mimeType: 'audio/wav' });
    else expect(heard).toMatchObject({ type: 'resource', resource: { mimeType: 'audio/wav', blob: DATA } });
  });

  eachRevision('PROMPT-11', 'may contain resources with URI, type and content', async (revision) => {
    expect(await contentsOf(revision, 'attached')).toEqual([
      { type: 'resource', resource: { uri: 'docs://a', mimeType: 'text/markdown', text: '# A' } },
      { type: 'resource', resource: { uri: 'docs://b', mimeType: 'application/octet-stream', blob: DATA } },
    ]);
  });

  eachRevision('PROMPT-12', 'may contain links', async (revision) => {
    expect(await contentsOf(revision, 'linked')).toEqual([{ type: 'resource_link', uri: 'docs://a', name: 'a' }]);
  });

  eachRevision(
    'PROMPT-09',
    'have each block in a form that the revision has, also with annotations',
    async (revision) => {
      const annotations = { audience: ['user' as const], priority: 0.5 };
      const server = serverOf();
      class Annotated {
        @Prompt()
        all() {
          return [
            user(text('text', { annotations })),
            user(image(BYTES, 'image/png', { annotations })),
            user(audio(BYTES, 'audio/wav', { annotations })),
            user(link('docs://a', { name: 'a', annotations })),
            user(embedded({ uri: 'docs://b', data: 'b', annotations })),
          ];
        }
      }
      server.addProvider(Annotated);
      const client = await RawClient.connect(server, { revision });
      const { messages } = await client.result('prompts/get', { name: 'all' });
      const contents = (messages as { content: JsonObject }[]).map(({ content }) => content);
      const sound = revision === '2024-11-05' ? 'resource' : 'audio';
      const linked = revision < '2025-06-18' ? 'text' : 'resource_link';
      expect(contents.map(({ type }) => type)).toEqual(['text', 'image', sound, linked, 'resource']);
      for (const content of contents) expect(content['annotations']).toEqual(annotations);
      expect(JSON.stringify(contents[3])).toContain('docs://a');
    },
  );

  eachRevision('PROMPT-13', 'cause a notification when one is added or removed', async (revision) => {
    const server = serverOf({ providers: [Greeting] });
    const client = await RawClient.connect(server, { revision });
    await followList(client, 'prompts');
    const changed = async (times: number) => {
      await client.find(() => client.of('notifications/prompts/list_changed').length === times);
      return ((await client.result('prompts/list'))['prompts'] as unknown[]).length;
    };
    const added = server.addProvider(Prompts);
    expect(await changed(1)).toBe(7);
    added.remove();
    expect(await changed(2)).toBe(1);
  });

  inStateless('PROMPT-14', 'may start with a question', async () => {
    class Asking {
      @Prompt()
      async ask(_input: NoInput, context: Context) {
        return (await context.confirm('In French?')) ? 'Bonjour' : 'Hello';
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Asking] }), {
      revision: STATELESS,
      capabilities: { elicitation: {} },
      answers: { 'elicitation/create': () => ({ result: { action: 'accept', content: { confirmed: true } } }) },
    });
    const { messages } = await client.result('prompts/get', { name: 'ask' });
    expect(messages).toMatchObject([{ content: { text: 'Bonjour' } }]);
    expect(client.questions).toMatchObject([{ params: { message: 'In French?' } }]);
  });

  eachRevision('PROMPT-15', 'parse numbers and booleans from text', async (revision) => {
    const provider = new Prompts();
    const client = await open(revision, provider);
    for (const [args, seen] of [
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
      expect(provider.seen.at(-1)).toEqual(seen);
    }
  });
});

const PACK = { type: 'ref/prompt', name: 'pack' };
const WEATHER = { type: 'ref/resource', uri: 'weather://{city}' };

async function complete(client: RawClient, value: string, params: JsonObject = {}): Promise<JsonObject> {
  const { completion } = await client.result('completion/complete', {
    ref: PACK,
    argument: { name: 'city', value },
    ...params,
  });
  return completion as JsonObject;
}

describe('completions', () => {
  eachRevision('COMP-01', 'are declared if there are any', async (revision) => {
    const servers = {
      prompts: serverOf({ providers: [OnlyPrompts] }),
      resources: serverOf({ providers: [OnlyResources] }),
      both: serverOf({ providers: [Prompts] }),
    };
    const without = serverOf({ providers: [Greeting] });
    for (const transport of Object.values(transportsOf(revision))) {
      for (const server of Object.values(servers)) {
        expect(await capabilitiesOf(revision, server, transport)).toHaveProperty('completions', {});
      }
      expect(await capabilitiesOf(revision, without, transport)).toHaveProperty('prompts');
      expect(await capabilitiesOf(revision, without, transport)).not.toHaveProperty('completions');
    }
  });

  it('are served but not declared in the first revision, which has no capability for them', async () => {
    for (const transport of Object.values(transportsOf('2024-11-05'))) {
      const server = serverOf({ providers: [Prompts] });
      const declared = await capabilitiesOf('2024-11-05', server, transport);
      expect(declared).toHaveProperty('prompts');
      expect(declared).not.toHaveProperty('completions');
      const client = await RawClient.connect(server, { revision: '2024-11-05' }, transport);
      expect(await complete(client, 'rio')).toEqual({ values: ['Rio'] });
    }
  });

  eachRevision('COMP-02', 'are capped at 100 and say if there are more', async (revision) => {
    const client = await open(revision);
    const { values, ...rest } = await complete(client, 'many');
    expect(values).toHaveLength(100);
    expect(rest).toEqual({ total: 500, hasMore: true });
    expect(await complete(client, 'rio')).toEqual({ values: ['Rio'] });
  });

  eachRevision('COMP-02', 'are complete up to the cap, and cut one beyond it', async (revision) => {
    for (const [count, rest, given] of [
      [0, {}],
      [99, {}],
      [100, {}],
      [101, { total: 101, hasMore: true }],
      // as the handler says
      [0, { total: 0, hasMore: false }, { total: 0, hasMore: false }],
      [2, { total: 7, hasMore: true }, { total: 7, hasMore: true }],
      [100, { hasMore: false }, { hasMore: false }],
      [101, { total: 200, hasMore: true }, { total: 200, hasMore: false }],
    ] as const) {
      class Counted {
        @Prompt()
        pack(_trip: Trip) {
          return '';
        }

        @Completion({ for: 'pack', argument: 'city' })
        cities() {
          const values = Array.from({ length: count }, (_city, at) => `c${at}`);
          return given ? { values, ...given } : values;
        }
      }
      const client = await RawClient.connect(serverOf({ providers: [Counted] }), { revision });
      const { values, ...others } = await complete(client, '');
      expect([(values as string[]).length, others]).toEqual([Math.min(count, 100), rest]);
    }
  });

  eachRevision('COMP-03', 'are for prompts, and for resources by template or URI', async (revision) => {
    const client = await open(revision);
    for (const ref of [PACK, WEATHER, { type: 'ref/resource', uri: 'weather://Os' }]) {
      expect(await complete(client, 'os', { ref })).toEqual({ values: ['Oslo', 'Ostrava', 'Moss'] });
    }
  });

  eachRevision('COMP-04', 'have protocol errors', async (revision) => {
    const client = await open(revision);
    const argument = { name: 'city', value: '' };
    const wrong = [undefined, {}, { ref: PACK }, { argument }, { ref: PACK, argument: { name: 'city' } }];
    for (const params of [...wrong, { ref: { ...PACK, name: 'nothing' }, argument }]) {
      expect(await client.error('completion/complete', params)).toMatchObject({ code: -32602 });
    }
    const failing = { ref: PACK, argument: { name: 'city', value: 'broken' } };
    const error = await client.error('completion/complete', failing);
    expect(error).toMatchObject({ code: -32603 });
    expect(JSON.stringify(error)).not.toContain('10.0.0.1');
    const none = await RawClient.connect(serverWith({ tool: () => '' }), { revision });
    expect(await none.error('completion/complete', { ref: PACK, argument })).toMatchObject({ code: -32601 });
  });

  eachRevision('COMP-05', 'receive the arguments that are already filled in', async (revision) => {
    for (const ref of [PACK, WEATHER, { type: 'ref/resource', uri: 'weather://Os' }]) {
      for (const days of ['3', '0', '']) {
        const params = { ref, context: { arguments: { days } } };
        expect(await complete(await open(revision), '', params)).toEqual({ values: [`${days} days`] });
      }
      for (const context of [{}, { arguments: {} }]) {
        expect(await complete(await open(revision), 'rio', { ref, context })).toEqual({ values: ['Rio'] });
      }
    }
  });

  eachRevision('COMP-06', 'keep the order of the author, and reject unknown references', async (revision) => {
    const client = await open(revision);
    expect(await complete(client, 'OS')).toEqual({ values: ['Oslo', 'Ostrava', 'Moss'] });
    const { values } = await complete(client, 'many');
    expect(values).toEqual(Array.from({ length: 100 }, (_item, index) => `city ${index}`));
    for (const ref of [{ type: 'ref/tool', name: 'pack' }, { type: 7 }, 'pack', null]) {
      const params = { ref, argument: { name: 'city', value: '' } };
      expect(await client.error('completion/complete', params)).toMatchObject({ code: -32602 });
    }
  });

  eachRevision('COMP-08', 'are empty for an argument without completions', async (revision) => {
    const client = await open(revision);
    for (const name of ['days', 'unheard-of', '']) {
      for (const ref of [PACK, WEATHER, { type: 'ref/resource', uri: 'weather://Os' }]) {
        expect(await complete(client, '', { ref, argument: { name, value: '' } })).toEqual({ values: [] });
      }
    }
  });

  inStateless('COMP-09', 'cannot ask the client questions', async () => {
    let met: unknown;
    class Asking {
      @Prompt()
      pack({ city }: Trip) {
        return city;
      }

      @Completion({ for: 'pack', argument: 'city' })
      async cities(_value: string, context: CompletionContext): Promise<string[]> {
        met = await context.confirm('Sure?').catch((error: unknown) => error);
        throw met;
      }
    }
    const client = await RawClient.connect(serverOf({ providers: [Asking] }), {
      revision: STATELESS,
      capabilities: { elicitation: {} },
    });
    const params = { ref: PACK, argument: { name: 'city', value: '' } };
    expect(await client.error('completion/complete', params)).toMatchObject({ code: -32603 });
    expect(met).toMatchObject({ message: expect.stringContaining('cannot ask') });
    expect(client.questions).toEqual([]);
    const answered = { ...params, inputResponses: { '#1': { action: 'accept', content: { confirmed: true } } } };
    expect(await client.error('completion/complete', answered)).toMatchObject({ code: -32603 });
  });
});
