// What handlers tell the client while they run.
import { describe, expect } from '@jest/globals';
import { type Context, type JsonObject, McpError, NoInput, Tool } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { type Message, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { asked, declares, messagesOf, postTo } from '../support/stateless-post.js';
import { membersOf, RUNNING } from './members.js';
import { listen } from './neutral.js';
import { ADA, form } from './rounds.js';
import { deferred, Log, serverOf, serverWith } from './servers.js';
import { type Setting, waysOf } from './ways.js';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
const LEVEL = 'io.modelcontextprotocol/logLevel';
/** What the messages of each level say. */
const DATA = [0, '', 'text', { a: { b: [] } }, ['a'], null, 7, false] as const;
const PROGRESS = 'notifications/progress';

/** Members that do this, every other time later. */
function talking(work: (context: Context) => unknown) {
  let runs = 0;
  const either = (context: Context) => {
    runs += 1;
    if (runs % 2 === 0)
      return Promise.resolve(context)
        .then(work)
        .then(() => 'done');
    work(context);
    return 'done';
  };
  return ({ options, guard }: Setting) => {
    class Steps {
      @Tool({ input: NoInput, ...guard })
      *steps(_input: object, context: Context) {
        work(context);
        yield 'step';
        return 'done';
      }
    }
    return serverOf({ providers: [membersOf(either, guard), Steps], ...options });
  };
}

const REQUESTS = [...RUNNING, ['tools/call', { name: 'steps' }] as const];
type Request = (typeof RUNNING)[number];

describe('a log message, however its request arrives,', () => {
  eachRevision(['LOG-02', 'LOG-03', 'LOG-05', 'LOG-06', 'LOG-08', 'LOG-09'], 'has the set level', async (revision) => {
    const talk = ({ log }: Context) =>
      LEVELS.forEach((level, at) => log.write(level, DATA[at], at % 2 ? level : undefined));
    const spoken = LEVELS.map((level, at) => ({ level, data: DATA[at], ...(at % 2 && { logger: level }) }));
    const build = talking(talk);
    const messages = (client: RawClient) => client.of('notifications/message');
    for (const { name: way, client, ask } of await waysOf(revision, build)) {
      const setLevel = async (level: unknown) =>
        client.stateless ? { result: {} } : await ask('logging/setLevel', { level } as JsonObject);
      for (const [at, level, requests] of [
        [4, 'error', REQUESTS],
        [7, 'emergency', REQUESTS.slice(0, 2)],
      ] as const) {
        expect(await setLevel(level)).toMatchObject({ result: {} });
        for (const [method, params] of requests) {
          const before = messages(client).length;
          const { error } = await ask(method, { ...params, ...(client.stateless && { _meta: { [LEVEL]: level } }) });
          // they have arrived before the response
          const told = messages(client).slice(before);
          expect([way, method, error, told.map((message) => message.params)]).toEqual([
            way,
            method,
            undefined,
            spoken.slice(at),
          ]);
        }
      }
      const before = messages(client).length;
      for (const [index, wrong] of ['loud', 'ERROR', '', 3, 0, null, ['error'], false].entries()) {
        const [method, params] = REQUESTS[index % REQUESTS.length] as Request;
        const { error } = client.stateless
          ? await ask(method, { ...params, _meta: { [LEVEL]: wrong } })
          : await ask('logging/setLevel', { level: wrong });
        expect([way, wrong, error?.code]).toEqual([way, wrong, -32602]);
      }
      // a refused level changes nothing, and a stateless request without a level gets nothing
      for (const [method, params] of REQUESTS) await ask(method, params);
      await client.settled();
      const told = messages(client).slice(before);
      const last = client.stateless ? [] : REQUESTS.map(() => spoken[7]);
      expect([way, told.map((message) => message.params)]).toEqual([way, last]);
    }
  });
});

describe('progress, however its request arrives,', () => {
  eachRevision(
    ['PROG-01', 'PROG-02', 'PROG-03', 'PROG-04', 'PROG-06'],
    'grows until its request ends',
    async (revision) => {
      let contexts: Context[] = [];
      const report = (context: Context) => {
        contexts.push(context);
        const values = [2, 2, 1, -3, Number.NaN, 2.5, Number.NEGATIVE_INFINITY, 2.5, 4];
        for (const value of values) context.progress(value, 5, `at ${value}`);
      };
      const message = (value: number) => (revision === '2024-11-05' ? {} : { message: `at ${value}` });
      const ways = await waysOf(revision, talking(report));
      for (const [turn, { name: way, client, ask }] of ways.entries()) {
        // what the way itself reports is left out
        const told = () => client.of(PROGRESS).flatMap(({ params }) => (params?.['progress'] === 1 ? [] : [params]));
        const tokens = [0, '', '0', 7, 'a"b\\c\n€', -1, 'b', Number.MAX_SAFE_INTEGER];
        for (const [index, progressToken] of tokens.entries()) {
          const [method, params] = REQUESTS[(index + turn) % REQUESTS.length] as Request;
          contexts = [];
          const before = told().length;
          await ask(method, { ...params, _meta: { progressToken } });
          const expected = [2, 2.5, 4].map((progress) => ({ progressToken, progress, total: 5, ...message(progress) }));
          expect([way, method, told().slice(before)]).toEqual([way, method, expected]);
          for (const context of contexts) context.progress(9);
          await client.settled();
          expect(told()).toHaveLength(before + 3);
        }
        const before = told().length;
        for (const [index, [method, params]] of REQUESTS.entries()) {
          for (const meta of [{}, { progresstoken: 1 }]) await ask(method, { ...params, _meta: meta });
          const progressToken = [null, 1.5, true, {}, ['a'], [], false][index];
          const { error } = await ask(method, { ...params, _meta: { progressToken } });
          expect([way, progressToken, error?.code]).toEqual([way, progressToken, -32602]);
        }
        await client.settled();
        // only the way with a token of its own reports anything
        const later = told().slice(before);
        expect([way, later.filter((params) => params?.['progressToken'] !== 'way')]).toEqual([way, []]);
      }
    },
  );
});

const call = (client: RawClient, id: unknown, name: string, meta?: JsonObject) =>
  client.buildMessage(id as string, 'tools/call', { name, ...(meta && { _meta: meta }) });

/** The progress notifications that clients receive from a tool, over every transport alike. */
async function progressOf(revision: Revision, report: (context: Context) => void, token?: unknown) {
  const told = [];
  for (const transport of Object.values(transportsOf(revision))) {
    const client = await RawClient.connect(serverWith({ report }), { revision }, transport);
    await client.send(call(client, 'call', 'report', token === undefined ? undefined : { progressToken: token }));
    expect(await client.response('call')).toHaveProperty('result.content');
    told.push(client.of('notifications/progress').map(({ params }) => params));
  }
  for (const each of told) expect(each).toEqual(told[0]);
  return told[0] ?? [];
}

describe('progress', () => {
  eachRevision('PROG-02', 'grows, also if its total or its message changes (#22)', async (revision) => {
    const report = (context: Context) => {
      context.progress(5, 10, 'a');
      context.progress(1, 20, 'b');
      context.progress(5, undefined, 'b');
      context.progress(6, 5);
      context.progress(2, Number.NaN, 'c');
      context.progress(7, 10, 'a');
    };
    const told = await progressOf(revision, report, 't');
    expect(told.map((params) => [params?.['progress'], params?.['total']])).toEqual([
      [5, 10],
      [6, 5],
      [7, 10],
    ]);
  });

  eachRevision('PROG-03', 'stops when the request is answered, also with an error', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      let working = deferred<Context>();
      const fails = (context: Context) => {
        context.progress(1);
        working.resolve(context);
        throw new McpError('invalid-params', 'no');
      };
      const server = serverWith({ fails, rejects: async (context: Context) => fails(context) });
      const client = await RawClient.connect(server, { revision }, transport);
      for (const name of ['fails', 'rejects']) {
        working = deferred();
        const before = client.received.length;
        void client.send(call(client, name, name, { progressToken: name }));
        const late = await working.promise;
        expect((await client.response(name)).error?.code).toBe(-32602);
        late.progress(2);
        await client.settled();
        const told = client.received.slice(before).filter(({ method }) => method === PROGRESS);
        expect(told.map(({ params }) => params)).toEqual([{ progressToken: name, progress: 1 }]);
      }
    }
  });

  inStateless('PROG-03', 'stops when a question fails the request of a handler that goes on', async () => {
    for (const [name, transport] of Object.entries(transportsOf(STATELESS))) {
      const reached = deferred<Context>();
      const server = serverWith({
        async twice(context) {
          // two questions must not have the same key
          for (const key of ['a', 'a']) await context.confirm('Sure?', { key }).catch(() => {});
          reached.resolve(context);
          await new Promise(() => {});
        },
      });
      const client = await RawClient.connect(
        server,
        { revision: STATELESS, capabilities: { elicitation: {} } },
        transport,
      );
      void client.send(call(client, 'x', 'twice', { progressToken: 'x' }));
      const late = await reached.promise;
      expect([name, await client.response('x')]).toMatchObject([name, { error: { code: -32603 } }]);
      late.progress(1);
      await client.settled();
      expect([name, client.of(PROGRESS)]).toEqual([name, []]);
    }
  });

  eachRevision(['PROG-05', 'PROG-06'], 'may be a fraction of any total, with any message', async (revision) => {
    const steps: readonly (readonly [progress: number, total?: number | undefined, message?: string])[] = [
      [0.25],
      [0.5, 0.75, ''],
      [0.625, 0, 'a'],
      [1, 2, 'ü "q"\n\\'],
      [2, undefined, '0'],
      [3, 9, 'x'.repeat(100)],
    ];
    const told = await progressOf(revision, (context) => steps.forEach((step) => context.progress(...step)), 't');
    expect(told).toEqual(
      steps.map(([progress, total, message]) => ({
        progressToken: 't',
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && revision > '2024-11-05' && { message }),
      })),
    );
  });

  eachRevision(['PROG-06', 'PROG-08'], 'is what a generator yields, and nothing without', async (revision) => {
    const steps = [
      { progress: 1, total: 4, message: 'a' },
      { progress: 2, message: 'b' },
      { progress: 3, total: 4 },
    ];
    const shown = revision === '2024-11-05' ? steps.map(({ message: _message, ...step }) => step) : steps;
    class Generating {
      @Tool()
      *now() {
        yield* steps;
        return 'done';
      }

      @Tool()
      async *later() {
        yield* steps;
        return 'done';
      }

      @Tool()
      rest() {
        return 'done';
      }
    }
    const server = serverOf({ providers: [Generating] });
    for (const transport of Object.values(transportsOf(revision))) {
      const client = await RawClient.connect(server, { revision }, transport);
      for (const name of ['now', 'later', 'rest']) {
        const before = client.of(PROGRESS).length;
        const result = await client.result('tools/call', { name, _meta: { progressToken: name } });
        expect(textOf(result)).toBe('done');
        await client.settled();
        const told = client
          .of(PROGRESS)
          .slice(before)
          .map(({ params }) => params);
        expect(told).toEqual(name === 'rest' ? [] : shown.map((step) => ({ progressToken: name, ...step })));
      }
    }
  });
});

describe('progress without a session', () => {
  const revision = STATELESS;
  const working = () => serverWith({ work: (context) => context.progress(1, 2), rest: () => 'rested' });

  inStateless('PROG-11', 'turns the response to its request into a stream', async () => {
    const server = working();
    const client = await RawClient.connect(server, { revision });
    const typeOf = (response: Response) => response.headers.get('content-type');
    const stream = await postTo(server, call(client, 'x', 'work', { progressToken: 0 }));
    expect(typeOf(stream)).toBe('text/event-stream');
    expect(await messagesOf(stream)).toMatchObject([
      { method: PROGRESS, params: { progressToken: 0, progress: 1, total: 2 } },
      { id: 'x', result: { resultType: 'complete' } },
    ]);
    for (const message of [call(client, 1, 'work'), call(client, 2, 'rest', { progressToken: 0 })]) {
      const response = await postTo(server, message);
      expect(typeOf(response)).toMatch(/^application\/json/);
      expect(await response.json()).toHaveProperty('result');
    }
  });

  inStateless('PROG-11', 'stays on the stream of its own request if others have the same token (#22)', async () => {
    const [began, go] = [
      [deferred(), deferred()],
      [deferred(), deferred()],
    ];
    let calls = 0;
    const work = async (context: Context) => {
      const n = calls++;
      context.progress(10 + n);
      began[n]?.resolve();
      await go[n]?.promise;
      context.progress(20 + n);
    };
    const server = serverWith({ work });
    const responses = [];
    for (const n of [0, 1]) {
      const client = await RawClient.connect(server, { revision });
      responses.push(postTo(server, call(client, 1, 'work', { progressToken: 1 })));
      await began[n]?.promise;
    }
    for (const each of go.reverse()) each.resolve();
    for (const [n, response] of responses.entries()) {
      const told = (await messagesOf(await response)).map(({ params }) => params?.['progress']);
      expect(told).toEqual([10 + n, 20 + n, undefined]);
    }
  });

  inStateless('PROG-11', 'turns the response to a later round into a stream, after the last answer', async () => {
    const work = async (context: Context) => {
      for (const step of [1, 2]) {
        await form(context);
        context.progress(step);
      }
      return 'worked';
    };
    const server = serverWith({ work });
    const meta = { progressToken: 't', ...declares({ elicitation: {} }) };
    let more: JsonObject = {};
    for (const told of [[], [1], [2]]) {
      const response = await postTo(server, asked(1, 'tools/call', { name: 'work', ...more }, meta));
      const isStream = response.headers.get('content-type') === 'text/event-stream';
      const messages = isStream ? await messagesOf(response) : [(await response.json()) as Message];
      expect(messages.slice(0, -1).map(({ params }) => params?.['progress'])).toEqual(told);
      const { inputRequests = {}, requestState } = messages.at(-1)?.result ?? {};
      const keys = Object.keys(inputRequests as JsonObject);
      more = { inputResponses: Object.fromEntries(keys.map((key) => [key, ADA])), requestState };
    }
  });
});

const talk = (context: Context) => LEVELS.forEach((level) => context.log[level](level));
const INVALID = { error: { code: -32602 } };

const heard = (client: RawClient) => client.of('notifications/message').map(({ params }) => params?.['level']);

describe('log messages', () => {
  eachSessionRevision('LOG-02', 'have at least the level that the client sets in its session', async (revision) => {
    const server = serverWith({ talk });
    const [client, other] = await Promise.all([1, 2].map(() => RawClient.connect(server, { revision })));
    for (const [index, level] of LEVELS.entries()) {
      const before = heard(client!).length;
      expect(await client!.result('logging/setLevel', { level })).toEqual({});
      await client!.call('talk');
      expect(heard(client!).slice(before)).toEqual(LEVELS.slice(index));
    }
    await other!.call('talk');
    expect(heard(other!)).toEqual(LEVELS.slice(1));
  });

  eachSessionRevision('LOG-04', 'have the default level of the server before the client sets one', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const told = async (options: object) => {
        const client = await RawClient.connect(serverWith({ talk }, options), { revision }, transport);
        await client.call('talk');
        await client.settled();
        return heard(client);
      };
      expect(await told({})).toEqual(LEVELS.slice(1));
      for (const [at, logLevel] of LEVELS.entries()) expect(await told({ logLevel })).toEqual(LEVELS.slice(at));
    }
  });

  inStateless('LOG-07', 'are sent only on the stream of their request', async () => {
    for (const transport of Object.values(transportsOf(STATELESS))) {
      const [waiting, go] = [deferred<Context>(), deferred()];
      const server = serverWith({
        talk,
        async wait(context) {
          waiting.resolve(context);
          await go.promise;
        },
      });
      const open = () => RawClient.connect(server, { revision: STATELESS, logLevel: 'debug' }, transport);
      const [listener, waiter, talker] = await Promise.all([open(), open(), open()]);
      await listen(listener!, { toolsListChanged: true });
      const waited = waiter!.call('wait');
      const context = await waiting.promise;
      await talker!.call('talk');
      expect(heard(talker!)).toEqual(LEVELS);
      for (const { params } of talker!.of('notifications/message')) expect(params).not.toHaveProperty('_meta');
      go.resolve();
      await waited;
      // the request has ended
      context.log.emergency('late');
      await Promise.all([listener!.settled(), waiter!.settled()]);
      expect([heard(listener!), heard(waiter!)]).toEqual([[], []]);
    }
  });

  inStateless('LOG-09', 'have a valid level in all methods, or the request is rejected', async () => {
    let runs = 0;
    const server = serverOf({ providers: [membersOf(() => String((runs += 1)))] });
    const client = await RawClient.connect(server, { revision: STATELESS });
    const others = ['server/discover', 'tools/list', 'prompts/list', 'resources/templates/list'] as const;
    for (const [method, params] of [...RUNNING, ...others.map((each) => [each, {}] as const)]) {
      const leveled = (level: unknown) => client.request(method, { ...params, _meta: { [LEVEL]: level } });
      for (const level of ['loud', 'INFO', '', 3, null, {}])
        expect([method, await leveled(level)]).toMatchObject([method, INVALID]);
      expect([method, await leveled('error')]).toMatchObject([method, { result: {} }]);
    }
    expect(runs).toBe(RUNNING.length);
    const listening = { notifications: {}, _meta: { [LEVEL]: 'loud' } };
    expect(await client.error('subscriptions/listen', listening)).toMatchObject(INVALID.error);
  });

  inStateless('LOG-12', 'come only from handlers: the framework writes to the server log', async () => {
    const logger = new Log();
    const server = serverWith(
      {
        fail() {
          throw new Error('the database is down');
        },
      },
      { logger },
    );
    const client = await RawClient.connect(server, { revision: STATELESS, logLevel: 'debug' });
    expect(await client.call('fail')).toMatchObject({ isError: true });
    await client.settled();
    expect(heard(client)).toEqual([]);
    expect(logger.entries).toHaveLength(1);
  });
});

/** Secrets that no client may see. */
const CREDENTIALS = {
  password: 'hunter2-of-the-user',
  note: 'sent Bearer abc123.def456',
  url: 'https://ada:pw-in-url@bank.example/?access_token=tok-in-url',
};

describe('ctx.log', () => {
  eachRevision('LOG-11', 'shows the client no credentials, stacks and folders', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const cyclic: JsonObject = { ...CREDENTIALS, error: new Error('deep') };
      (cyclic as { self?: unknown }).self = cyclic;
      const failure = Object.assign(new Error("ENOENT: no such file, open '/srv/app/private/ada.json'"), {
        path: '/srv/app/private/ada.json',
      });
      const server = serverWith({
        talk({ log }) {
          log.error(CREDENTIALS, 'auth');
          log.error(CREDENTIALS.note);
          log.error(Object.assign(new Error('apiKey=key-in-error'), { password: 'hunter2-of-the-user' }));
          log.error({ failure });
          log.error(cyclic);
          log.error({ toJSON: () => CREDENTIALS });
          log.error({ tokens: 12, seat: '12A' });
          log.error({ password: ['hunter2', { deep: 'hunter2' }], plain: [['Bearer abc123.def456']] });
          return 'done';
        },
      });
      const client = await RawClient.connect(server, { revision, logLevel: 'error' }, transport);
      await client.call('talk');
      const sent = client.of('notifications/message').map(({ params }) => params?.['data']);
      const shown = {
        password: '[redacted]',
        note: 'sent Bearer [redacted]',
        url: 'https://[redacted]@bank.example/?access_token=[redacted]',
      };
      expect(sent.filter((_data, at) => at !== 4)).toEqual([
        shown,
        shown.note,
        'Error: apiKey=[redacted]',
        { failure: "Error: ENOENT: no such file, open 'ada.json'" },
        shown,
        { tokens: 12, seat: '12A' },
        { password: ['[redacted]', { deep: '[redacted]' }], plain: [['Bearer [redacted]']] },
      ]);
      expect(client.texts.join()).not.toMatch(/hunter2|abc123|pw-in-url|tok-in-url|key-in-error|\/srv|\bat .*:\d+:\d+/);
      await client.close();
    }
  });
});
