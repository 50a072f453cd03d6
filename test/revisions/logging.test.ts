// Log messages to the client.
import { describe, expect } from '@jest/globals';
import { type Context, type JsonObject } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { RawClient } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, STATELESS } from '../support/requirements.js';
import { membersOf, RUNNING } from './members.js';
import { listen } from './neutral.js';
import { deferred, Log, serverOf, serverWith } from './servers.js';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
const talk = (context: Context) => LEVELS.forEach((level) => context.log[level](level));
const LEVEL = 'io.modelcontextprotocol/logLevel';
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

  eachSessionRevision('LOG-03', 'have one of the eight levels', async (revision) => {
    const client = await RawClient.connect(serverOf(), { revision });
    for (const level of ['loud', 'INFO', '', 3, null, undefined]) {
      expect(await client.error('logging/setLevel', { level })).toMatchObject({ code: -32602 });
    }
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

  eachRevision('LOG-05', 'have a level, an optional logger, and any data', async (revision) => {
    const values = ['text', 7, null, false, ['a'], { a: { b: [] } }];
    const server = serverWith({
      say(context) {
        for (const value of values) context.log.error(value);
        context.log.write('notice', 'who', 'weather');
      },
    });
    const client = await RawClient.connect(server, { revision, logLevel: 'info' });
    await client.call('say');
    expect(client.of('notifications/message').map(({ params }) => params)).toEqual([
      ...values.map((data) => ({ level: 'error', data })),
      { level: 'notice', logger: 'weather', data: 'who' },
    ]);
  });

  inStateless('LOG-06', 'are not sent for a request that does not ask for them', async () => {
    for (const transport of Object.values(transportsOf(STATELESS))) {
      for (const [method, params] of RUNNING) {
        const members = membersOf((context) => (talk(context), 'talked'));
        const server = serverOf({ providers: [members], logLevel: 'debug' });
        const client = await RawClient.connect(server, { revision: STATELESS }, transport);
        await client.result(method, { ...params, _meta: { [LEVEL]: 'debug' } });
        const before = heard(client);
        expect([method, before]).toEqual([method, LEVELS]);
        for (let time = 0; time < 2; time += 1) await client.result(method, params);
        await client.settled();
        expect([method, heard(client)]).toEqual([method, before]);
      }
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

  inStateless('LOG-08', 'have at least the level of their request, and precede its response', async () => {
    for (const transport of Object.values(transportsOf(STATELESS))) {
      for (const [index, logLevel] of LEVELS.entries()) {
        const client = await RawClient.connect(serverWith({ talk }), { revision: STATELESS, logLevel }, transport);
        await client.call('talk');
        expect(heard(client)).toEqual(LEVELS.slice(index));
        expect(client.received.at(-1)).toHaveProperty('result');
      }
    }
  });

  inStateless(
    'LOG-09',
    'have a valid level in the requests of all methods, or else the request is rejected',
    async () => {
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
    },
  );

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

describe('a name or a URL in ctx.log', () => {
  eachRevision('LOG-11', 'is redacted if it implies a secret', async (revision) => {
    const names = ['sessionId', 'session_id', 'Mcp-Session-Id', 'sid', 'jwt', 'Set-Cookie', 'signing_key', 'dbPass'];
    const urls = [
      'redis://:pw-in-url@cache.example:6379/0',
      'postgres://ada:pw-in-url@db.example/app',
      'amqp://ada:pw-in-url:more@queue.example',
      'https://ada:pw-in-url@[::1]:8443/?a=b',
    ];
    const server = serverWith({
      talk({ log }) {
        for (const name of names) for (const data of [{ [name]: 'hunter2' }, `${name}=hunter2`]) log.error(data);
        log.error({ requestId: 'r-7', sessionCount: 'two' });
        for (const url of urls) for (const data of [url, { url }, [`cannot reach ${url}.`]]) log.error(data);
        return 'done';
      },
    });
    const client = await RawClient.connect(server, { revision, logLevel: 'error' });
    await client.call('talk');
    const sent = client.of('notifications/message').map(({ params }) => params?.['data']);
    expect(sent.splice(0, 17)).toEqual([
      ...names.flatMap((name) => [{ [name]: '[redacted]' }, `${name}=[redacted]`]),
      { requestId: 'r-7', sessionCount: 'two' },
    ]);
    expect(sent).toHaveLength(12);
    for (const data of sent) expect(JSON.stringify(data)).toMatch(/:\/\/\[redacted\]@[a-z[]/);
    expect(JSON.stringify(sent)).not.toContain('pw-in-url');
  });
});
