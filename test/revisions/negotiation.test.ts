// Beginning a session: what is agreed, and what is sent before that and after.
import { describe, expect } from '@jest/globals';
import { Completion, type Context, type JsonObject, type McpServer, Prompt, Resource } from '@decorum/core';
import { IsString } from 'class-validator';

import { json, post, request, serve } from '../../packages/http/test/fixture.js';
import { overHttpSse, transportsOf } from '../support/http-transports.js';
import { RawClient, textOf } from '../support/raw-client.js';
import {
  eachRevisionOf,
  eachSessionRevision,
  SESSION_REVISIONS,
  type SessionRevision,
  STATELESS,
} from '../support/requirements.js';
import { ASKING, membersOf } from './members.js';
import { ANSWERS } from './rounds.js';
import { serverOf, serverWith } from './servers.js';
import { storyServer } from './story.js';

const NEWEST = '2025-11-25';
const clientInfo = { name: 'raw', version: '1' };
const hello = (protocolVersion: unknown, capabilities: unknown = {}): JsonObject => ({
  protocolVersion,
  capabilities,
  clientInfo,
});

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

/** A server whose members ask in one way, and tell whether that failed. */
function asking(how: string): McpServer {
  const [ask] = QUESTIONS[how] as (typeof QUESTIONS)[string];
  const tried = (context: Context) =>
    ask(context).then(
      () => 'answered',
      (error: Error) => `failed: ${error.message}`,
    );
  return serverOf({ providers: [membersOf(tried)] });
}

describe('the revision of a session', () => {
  const UNKNOWN = ['1999-01-01', '9999-12-31', '', '2025-11-26', STATELESS, ` ${NEWEST}`, '2024-11-05-draft', 'latest'];

  eachRevisionOf(['LIFE-03', 'LIFE-04'], 'is the newest with sessions if another is unknown', async (revision) => {
    const server = serverWith({ revision: (context) => context.revision });
    const transports = Object.entries({ ...transportsOf(revision), 'HTTP+SSE': overHttpSse });
    for (const [at, [name, transport]] of transports.entries()) {
      for (const unknown of [UNKNOWN[at], `${revision} `]) {
        const client = await RawClient.connect(server, { revision: NEWEST, begins: false }, transport);
        const { protocolVersion } = await client.result('initialize', hello(unknown));
        expect([name, unknown, protocolVersion]).toEqual([name, unknown, NEWEST]);
        await client.notify('notifications/initialized');
        expect([name, textOf(await client.call('revision'))]).toEqual([name, NEWEST]);
      }
    }
    // also where the server keeps no sessions
    const { url } = await serve({ sessions: false });
    for (const unknown of [...UNKNOWN, `${revision} `]) {
      const begun = await json(await post(url, request(1, 'initialize', hello(unknown))));
      expect([unknown, begun]).toMatchObject([unknown, { id: 1, result: { protocolVersion: NEWEST } }]);
    }
  });

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

class City {
  @IsString()
  city!: string;
}

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

describe('a session', () => {
  eachSessionRevision('LIFE-06', 'has the capabilities that are served', async (revision) => {
    const transports = Object.entries(transportsOf(revision));
    for (const [at, [create, expected]] of SERVERS.entries()) {
      const [name, transport] = transports[at % transports.length] as (typeof transports)[number];
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
  });

  eachSessionRevision(
    'LIFE-07',
    'is told of no changes before it is initialized, but may be pinged',
    async (revision) => {
      const capabilities = { sampling: { tools: {} }, roots: {}, elicitation: { form: {}, url: {} } };
      const [how] = questionsOf(revision as SessionRevision) as [string];
      const answers = { ...ANSWERS, ping: () => ({ result: {} }) };
      for (const [name, transport] of Object.entries(transportsOf(revision))) {
        const server = asking(how);
        server.addTool({ name: 'alive' }, async (_input, context) => await context.ping());
        const client = await RawClient.connect(server, { revision, capabilities, answers, begins: false }, transport);
        await client.result('initialize', hello(revision, capabilities));
        server.notify.toolsChanged();
        server.notify.promptsChanged();
        server.notify.resourcesChanged();
        await client.result('ping');
        expect([name, client.questions, client.received.filter(({ method }) => method)]).toEqual([name, [], []]);
        if (name === 'memory') expect(await client.call('alive')).not.toHaveProperty('isError');
        await client.notify('notifications/initialized');
        for (const [method, params] of ASKING) {
          const said = JSON.stringify(await client.result(method, params));
          expect([name, method, said]).toEqual([name, method, expect.stringContaining('answered')]);
        }
      }
    },
  );

  eachRevisionOf(
    ['LIFE-09', 'LIFE-10'],
    'is asked what its client has declared, and only that, by handlers of every kind',
    async (revision) => {
      for (const [how, [, needed, lacking]] of Object.entries(QUESTIONS)) {
        const exists = questionsOf(revision as SessionRevision).includes(how);
        for (const [capabilities, isEnough] of [
          [needed, exists] as const,
          ...[{}, ...lacking].map((each) => [each, false] as const),
        ]) {
          if (how === 'require' && revision === NEWEST && capabilities === needed) continue;
          // before the newest of these revisions, a client could not say which kinds of questions it answers
          if (revision < NEWEST && !isEnough && exists && JSON.stringify(capabilities).includes('"url"')) continue;
          const client = await RawClient.connect(asking(how), { revision, capabilities, answers: ANSWERS });
          for (const [method, params] of ASKING.slice(0, 3)) {
            const said = JSON.stringify(await client.result(method, params));
            const outcome = expect.stringContaining(isEnough ? '"answered"' : '"failed: ');
            expect([how, capabilities, method, said]).toEqual([how, capabilities, method, outcome]);
          }
          expect([how, capabilities, client.questions.length]).toEqual([how, capabilities, isEnough ? 3 : 0]);
        }
      }
    },
  );

  eachSessionRevision('LIFE-18', 'can begin after a failed start, over every transport', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const client = await RawClient.connect(serverWith({ hi: () => 'hi' }), { revision, begins: false }, transport);
      const long = { ...hello(revision), x: 'x'.repeat(70_000) };
      for (const params of [undefined, {}, hello(7), hello(null), hello([revision]), long]) {
        const { code } = await client.error('initialize', params);
        expect([name, params, code]).toEqual([name, params, -32602]);
      }
      expect([name, await client.begin()]).toMatchObject([name, { protocolVersion: revision }]);
      expect(textOf(await client.call('hi'))).toBe('hi');
    }
  });
});
