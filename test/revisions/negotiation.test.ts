// Beginning a session: what is agreed, and what is sent before that and after.
import { describe, expect } from '@jest/globals';
import {
  Completion,
  type Context,
  type JsonObject,
  type McpServer,
  NoInput,
  Prompt,
  Resource,
  Tool,
  ToolError,
} from '@decorum/core';
import { IsString } from 'class-validator';

import { json, post, request, serve } from '../../packages/http/test/fixture.js';
import { endpointOf, overHttpSse, transportsOf } from '../support/http-transports.js';
import { RawClient, type RawOptions, textOf } from '../support/raw-client.js';
import {
  eachSessionRevision,
  inStateless,
  SESSION_REVISIONS,
  type SessionRevision,
  STATELESS,
} from '../support/requirements.js';
import { answerTo, asked, declares, VERSION } from '../support/stateless-post.js';
import { serverOf, serverWith } from './servers.js';
import { storyServer } from './story.js';

const NEWEST = '2025-11-25';
const clientInfo = { name: 'raw', version: '1' };
const hello = (protocolVersion: unknown, capabilities: unknown = {}): JsonObject => ({
  protocolVersion,
  capabilities,
  clientInfo,
});

class City {
  @IsString()
  city!: string;
}

const SAMPLED = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Ho' } };
const ANSWERS: RawOptions['answers'] = {
  ping: () => ({ result: {} }),
  'sampling/createMessage': () => ({ result: SAMPLED }),
  'roots/list': () => ({ result: { roots: [] } }),
  'elicitation/create': () => ({ result: { action: 'accept', content: {} } }),
};

const FORM = { type: 'object', properties: {} };
const URL_TO_VISIT = { message: 'Sign in', url: 'https://example.com' };

/** Each way to ask the client, with the capabilities that it needs and those that are not enough. */
const QUESTIONS: Readonly<
  Record<
    string,
    readonly [ask: (context: Context) => Promise<unknown>, needed: JsonObject, lacking: readonly JsonObject[]]
  >
> = {
  sample: [(ctx) => ctx.sample({ messages: 'Hi', maxTokens: 1 }), { sampling: {} }, [{ roots: {}, elicitation: {} }]],
  use: [
    (ctx) => ctx.sample({ messages: 'Hi', maxTokens: 1, tools: [{ name: 't', inputSchema: { type: 'object' } }] }),
    { sampling: { tools: {} } },
    [{ sampling: {} }, { sampling: { context: {} } }, { sampling: { tools: false } }, { tools: {} }],
  ],
  roots: [(ctx) => ctx.roots(), { roots: {} }, [{ sampling: {}, elicitation: {} }, { roots: 'yes' }]],
  elicit: [
    (ctx) => ctx.elicit(FORM, { message: 'Name?' }),
    { elicitation: {} },
    [{ sampling: {}, roots: {} }, { elicitation: { url: {} } }],
  ],
  confirm: [(ctx) => ctx.confirm('Sure?'), { elicitation: {} }, [{ sampling: {} }, { elicitation: { url: {} } }]],
  visit: [
    (ctx) => ctx.elicitUrl(URL_TO_VISIT),
    { elicitation: { url: {} } },
    [{ elicitation: {} }, { elicitation: { form: {} } }, { elicitation: { url: true } }],
  ],
  require: [(ctx) => ctx.requireUrl(URL_TO_VISIT), { elicitation: { url: {} } }, [{ elicitation: {} }, {}]],
};

/** Questions that exist in a revision. */
function questionsOf(revision: SessionRevision): readonly string[] {
  if (revision === NEWEST) return Object.keys(QUESTIONS).filter((name) => name !== 'require');
  return revision === '2025-06-18' ? ['sample', 'roots', 'elicit', 'confirm'] : ['sample', 'roots'];
}

/** Asks, and tells whether that failed. */
async function tried(how: string, context: Context): Promise<string> {
  const [ask] = QUESTIONS[how] as (typeof QUESTIONS)[string];
  return await ask(context).then(
    () => 'answered',
    (error: Error) => `failed: ${error.message}`,
  );
}

/** One member of each kind that asks. */
class Asking {
  @Tool()
  async tool({ city }: City, context: Context) {
    return await tried(city, context);
  }

  @Prompt()
  async prompt({ city }: City, context: Context) {
    return await tried(city, context);
  }

  @Resource('asking://{city}')
  async resource({ city }: City, context: Context) {
    return await tried(city, context);
  }
}

/** Requests that run them. */
const asks = (city: string): readonly (readonly [method: string, params: JsonObject])[] => [
  ['tools/call', { name: 'tool', arguments: { city } }],
  ['prompts/get', { name: 'prompt', arguments: { city } }],
  ['resources/read', { uri: `asking://${city}` }],
];

describe('the revision of a session', () => {
  const UNKNOWN = ['1999-01-01', '9999-12-31', '', '2025-11-26', STATELESS, ` ${NEWEST}`, '2024-11-05-draft', 'latest'];

  for (const id of ['LIFE-03', 'LIFE-04']) {
    eachSessionRevision(
      id,
      'is the newest with sessions over every transport, if another is unknown',
      async (revision) => {
        const server = serverWith({ revision: (context) => context.revision });
        for (const [name, transport] of Object.entries({ ...transportsOf(revision), 'HTTP+SSE': overHttpSse })) {
          for (const unknown of ['1999-01-01', '', STATELESS, `${revision} `]) {
            const client = await RawClient.connect(server, { revision: NEWEST, begins: false }, transport);
            const { protocolVersion } = await client.result('initialize', hello(unknown));
            expect([name, unknown, protocolVersion]).toEqual([name, unknown, NEWEST]);
            await client.notify('notifications/initialized');
            expect([name, textOf(await client.call('revision'))]).toEqual([name, NEWEST]);
          }
        }
      },
    );

    eachSessionRevision(id, 'is so too where the server keeps no sessions', async (revision) => {
      const { url } = await serve({ sessions: false });
      for (const unknown of [...UNKNOWN, `${revision} `]) {
        const begun = await json(await post(url, request(1, 'initialize', hello(unknown))));
        expect([unknown, begun]).toMatchObject([unknown, { id: 1, result: { protocolVersion: NEWEST } }]);
      }
    });
  }

  eachSessionRevision('LIFE-02', 'is the one in the message, whatever the header says', async (revision) => {
    for (const options of [{}, { sessions: false } as const]) {
      const { url } = await serve(options);
      for (const declared of SESSION_REVISIONS) {
        const headers = { 'mcp-protocol-version': declared };
        const begun = await json(await post(url, request(1, 'initialize', hello(revision)), headers));
        expect([declared, begun]).toMatchObject([declared, { result: { protocolVersion: revision } }]);
      }
    }
  });
});

class Prompts {
  @Prompt()
  pack({ city }: City) {
    return city;
  }

  @Completion({ for: 'pack', argument: 'city' })
  cities() {
    return ['Oslo'];
  }
}

class Docs {
  @Resource('docs://a')
  doc() {
    return '';
  }
}

/** Servers with different features, each with the names of its capabilities in all but the oldest revision. */
const SERVERS: readonly (readonly [create: () => McpServer, capabilities: readonly string[]])[] = [
  [() => serverOf(), ['logging']],
  [() => serverWith({ tool: () => '' }), ['logging', 'tools']],
  [() => serverOf({ providers: [Prompts] }), ['completions', 'logging', 'prompts']],
  [() => serverOf({ providers: [Docs] }), ['logging', 'resources']],
  [storyServer, ['completions', 'logging', 'prompts', 'resources', 'tools']],
];

const PROBES: Readonly<Record<string, readonly (readonly [method: string, params: JsonObject])[]>> = {
  tools: [['tools/list', {}]],
  prompts: [['prompts/list', {}]],
  resources: [
    ['resources/list', {}],
    ['resources/templates/list', {}],
  ],
  logging: [['logging/setLevel', { level: 'info' }]],
};
const COMPLETE = { ref: { type: 'ref/prompt', name: 'pack' }, argument: { name: 'city', value: '' } };

describe('the capabilities of a session', () => {
  eachSessionRevision('LIFE-06', 'match what is served over every transport', async (revision) => {
    for (const [create, expected] of SERVERS) {
      for (const [name, transport] of Object.entries(transportsOf(revision))) {
        const client = await RawClient.connect(create(), { revision, begins: false }, transport);
        const { capabilities } = (await client.begin()) as { capabilities: JsonObject };
        const known = revision === '2024-11-05' ? expected.filter((each) => each !== 'completions') : expected;
        expect([name, Object.keys(capabilities).sort()]).toEqual([name, known]);
        for (const [capability, probes] of Object.entries(PROBES)) {
          for (const [method, params] of probes) {
            const { error } = await client.request(method, params);
            const code = capability in capabilities ? undefined : -32601;
            expect([name, method, error?.code]).toEqual([name, method, code]);
          }
        }
        const { error } = await client.request('completion/complete', COMPLETE);
        expect([name, expected, error?.code]).toEqual([
          name,
          expected,
          expected.includes('completions') ? undefined : -32601,
        ]);
      }
    }
  });

  eachSessionRevision('LIFE-06', 'promise only notifications that are sent', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const server = storyServer();
      const client = await RawClient.connect(server, { revision, begins: false }, transport);
      const { capabilities } = await client.begin();
      const listChanged = true;
      expect(capabilities).toMatchObject({
        tools: { listChanged },
        prompts: { listChanged },
        resources: { listChanged, subscribe: true },
      });
      await client.result('resources/subscribe', { uri: 'docs://a' });
      server.notify.toolsChanged();
      server.notify.promptsChanged();
      server.notify.resourcesChanged();
      server.notify.resourceUpdated('docs://a');
      for (const what of [
        'tools/list_changed',
        'prompts/list_changed',
        'resources/list_changed',
        'resources/updated',
      ]) {
        await client.find(({ method }) => method === `notifications/${what}`);
      }
    }
  });

  /** What a server declares and how it answers `tools/list`: without a tool, with one, and after its removal. */
  const declarations = async (revision: SessionRevision | typeof STATELESS) => {
    const server = serverOf();
    const declared = async () => {
      const client = await RawClient.connect(server, { revision, begins: false });
      const { capabilities } = await client.begin();
      const { error } = await client.request('tools/list');
      return [Object.keys(capabilities as object).sort(), error?.code];
    };
    const before = await declared();
    const { remove } = server.addTool({ name: 'tool', input: NoInput }, () => '');
    const added = await declared();
    remove();
    return [before, added, await declared()];
  };
  const [NOTHING, TOOLS] = [
    [['logging'], -32601],
    [['logging', 'tools'], undefined],
  ];

  eachSessionRevision('LIFE-06', 'follow members that are added and removed', async (revision) => {
    const [before, added, removed] = await declarations(revision);
    expect([before, added]).toEqual([NOTHING, TOOLS]);
    expect([NOTHING, TOOLS]).toContainEqual(removed);
  });

  inStateless('DISC-04', 'follow members that are added and removed', async () => {
    const [before, added, removed] = await declarations(STATELESS);
    expect([before, added]).toEqual([NOTHING, TOOLS]);
    expect([NOTHING, TOOLS]).toContainEqual(removed);
  });

  inStateless('DISC-04', 'promise only notifications that are sent', async () => {
    const listChanged = true;
    const wanted = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['docs://a'],
    };
    for (const transport of Object.values(transportsOf(STATELESS))) {
      const client = await RawClient.connect(storyServer(), { revision: STATELESS }, transport);
      expect((await client.begin())['capabilities']).toMatchObject({
        tools: { listChanged },
        prompts: { listChanged },
        resources: { listChanged, subscribe: true },
      });
      void client.send(asked('listening', 'subscriptions/listen', { notifications: wanted }));
      const { params } = await client.find(({ method }) => method === 'notifications/subscriptions/acknowledged');
      expect(params?.['notifications']).toEqual(wanted);
    }
  });
});

describe('a server', () => {
  eachSessionRevision('LIFE-07', 'tells of no changes before the client is initialized', async (revision) => {
    const capabilities = { sampling: { tools: {} }, roots: {}, elicitation: { form: {}, url: {} } };
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const server = serverOf({ providers: [Asking] });
      const options = { revision, capabilities, answers: ANSWERS, begins: false };
      const client = await RawClient.connect(server, options, transport);
      await client.result('initialize', hello(revision, capabilities));
      server.notify.toolsChanged();
      server.notify.promptsChanged();
      server.notify.resourcesChanged();
      await client.result('ping');
      expect([name, client.questions, client.received.filter(({ method }) => method)]).toEqual([name, [], []]);
      await client.notify('notifications/initialized');
      for (const how of questionsOf(revision)) {
        for (const [method, params] of asks(how)) {
          const said = JSON.stringify(await client.result(method, params));
          expect([name, how, method, said]).toEqual([name, how, method, expect.stringContaining('"answered"')]);
        }
      }
    }
  });

  eachSessionRevision('LIFE-07', 'may ping before the client is initialized', async (revision) => {
    const server = serverWith({ alive: (context) => context.ping().then(() => 'pong') });
    const client = await RawClient.connect(server, { revision, answers: ANSWERS, begins: false });
    await client.result('initialize', hello(revision));
    expect(textOf(await client.call('alive'))).toBe('pong');
  });

  for (const id of ['LIFE-09', 'LIFE-10']) {
    eachSessionRevision(
      id,
      'asks what the client has declared, and only that, in handlers of every kind',
      async (revision) => {
        for (const [how, [, needed, lacking]] of Object.entries(QUESTIONS)) {
          const exists = questionsOf(revision).includes(how);
          for (const [capabilities, isEnough] of [
            [needed, exists] as const,
            ...[{}, ...lacking].map((each) => [each, false] as const),
          ]) {
            if (how === 'require' && revision === NEWEST && capabilities === needed) continue;
            // before the newest of these revisions, a client could not say which kinds of questions it answers
            if (revision < NEWEST && !isEnough && exists && JSON.stringify(capabilities).includes('"url"')) continue;
            const client = await RawClient.connect(serverOf({ providers: [Asking] }), {
              revision,
              capabilities,
              answers: ANSWERS,
            });
            for (const [method, params] of asks(how)) {
              const said = JSON.stringify(await client.result(method, params));
              const outcome = isEnough ? '"answered"' : '"failed: ';
              expect([how, capabilities, method, said]).toEqual([
                how,
                capabilities,
                method,
                expect.stringContaining(outcome),
              ]);
            }
            expect([how, capabilities, client.questions.length]).toEqual([how, capabilities, isEnough ? 3 : 0]);
          }
        }
      },
    );
  }

  eachSessionRevision('LIFE-18', 'survives a failed start over every transport', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const server = serverWith({ hi: () => 'hi' });
      const client = await RawClient.connect(server, { revision, begins: false }, transport);
      const wrong = [
        undefined,
        {},
        hello(7),
        hello(null),
        hello([revision]),
        { ...hello(revision), x: 'x'.repeat(70_000) },
      ];
      for (const params of wrong) {
        const { code } = await client.error('initialize', params);
        expect([name, params, code]).toEqual([name, params, -32602]);
      }
      expect([name, await client.begin()]).toMatchObject([name, { protocolVersion: revision }]);
      expect(textOf(await client.call('hi'))).toBe('hi');
    }
  });
});

describe('a request without a session', () => {
  const UNKNOWN = [
    'v999.0.0',
    ` ${STATELESS}`,
    `${STATELESS} `,
    `${STATELESS}T00:00:00Z`,
    '2026-07-27',
    '__proto__',
    ...SESSION_REVISIONS,
  ];

  inStateless(
    'LIFE-21',
    'is rejected if its revision is unknown, over every transport and for every method',
    async () => {
      const { url } = await endpointOf(storyServer());
      for (const method of [
        'tools/list',
        'tools/call',
        'server/discover',
        'resources/read',
        'subscriptions/listen',
        'no/such',
      ]) {
        for (const requested of UNKNOWN) {
          const message = asked(1, method, { name: 'x', uri: 'docs://a' }, { [VERSION]: requested });
          const data = { supported: expect.arrayContaining([STATELESS]), requested };
          const error = { code: -32022, data };
          if (requested === requested.trim()) {
            const response = await post(url, message, { 'mcp-protocol-version': requested, 'mcp-method': method });
            expect([method, requested, response.status, await json(response)]).toMatchObject([
              method,
              requested,
              400,
              { id: 1, error },
            ]);
          }
          for (const transport of Object.values(transportsOf(STATELESS)).slice(0, 2)) {
            const client = await RawClient.connect(storyServer(), { revision: STATELESS }, transport);
            await client.send(message);
            expect([method, requested, await client.response(1)]).toMatchObject([method, requested, { error }]);
          }
        }
      }
    },
  );

  inStateless('LIFE-23', 'cannot use session methods, even where a session has begun', async () => {
    const { HTTP: _separate, ...pipes } = transportsOf(STATELESS);
    for (const transport of Object.values(pipes)) {
      const client = await RawClient.connect(storyServer(), { revision: NEWEST }, transport);
      for (const method of [
        'initialize',
        'notifications/initialized',
        'ping',
        'logging/setLevel',
        'resources/subscribe',
        'resources/unsubscribe',
        'notifications/roots/list_changed',
        'tasks/result',
        'tasks/list',
      ]) {
        const message = asked(method, method, { ...hello(NEWEST), level: 'info', uri: 'docs://a', taskId: '1' });
        await client.send(message);
        const { error } = await client.response(method);
        expect([method, error?.code]).toEqual([method, -32601]);
      }
      expect(await client.result('ping')).toEqual({});
    }
  });

  for (const id of ['LIFE-27', 'EXT-04']) {
    inStateless(id, 'uses each method of an extension that it declares, and no other', async () => {
      const extensions = ['one', 'two'].map((name) => ({
        id: `com.example/${name}`,
        methods: {
          [`${name}/now`]: () => ({ is: 'now' }),
          [`${name}/later`]: async () => await Promise.resolve({ is: 'later' }),
          [`${name}/fails`]: () => {
            throw new ToolError('No.');
          },
        },
      }));
      const server = serverOf({ extensions });
      const methods = extensions.flatMap((each) => Object.keys(each.methods));
      for (const method of methods) {
        const [own, other] = method.startsWith('one')
          ? ['com.example/one', 'com.example/two']
          : ['com.example/two', 'com.example/one'];
        for (const declared of [{}, { [other]: {} }, { [own]: [] }, { [own.toUpperCase()]: {} }]) {
          const answer = await answerTo(server, asked(1, method, {}, declares({ extensions: declared })));
          const data = { requiredCapabilities: { extensions: { [own]: {} } } };
          expect([method, declared, ...answer]).toMatchObject([
            method,
            declared,
            400,
            { error: { code: -32021, data } },
          ]);
        }
        const [status, { result, error }] = await answerTo(
          server,
          asked(1, method, {}, declares({ extensions: { [own]: {} } })),
        );
        expect([method, status]).toEqual([method, 200]);
        if (method.endsWith('fails')) expect(error?.code).not.toBe(-32021);
        else expect(result).toMatchObject({ resultType: 'complete', is: method.slice(4) });
      }
    });
  }
});
