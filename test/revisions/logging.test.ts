// Log messages to the client.
import { describe, expect } from '@jest/globals';
import { Completion, type Context, type JsonObject, NoInput, Prompt, Resource, Tool } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { RawClient } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, STATELESS } from '../support/requirements.js';
import { listen } from './neutral.js';
import { deferred, Log, serverOf, serverWith } from './servers.js';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
const talk = (context: Context) => LEVELS.forEach((level) => context.log[level](level));
const LEVEL = 'io.modelcontextprotocol/logLevel';
const INVALID = { error: { code: -32602 } };

class Everything {
  @Prompt({ input: { type: 'object', properties: { name: { type: 'string' } } } })
  prompt() {
    return 'Hi';
  }

  @Completion({ for: 'prompt', argument: 'name' })
  names() {
    return ['Ada'];
  }

  @Resource('docs://page')
  page() {
    return 'a page';
  }
}

const heard = (client: RawClient) => client.of('notifications/message').map(({ params }) => params?.['level']);

describe('log messages', () => {
  eachRevision('LOG-01', 'are declared', async (revision) => {
    const client = await RawClient.connect(serverOf(), { revision, begins: false });
    expect((await client.begin())['capabilities']).toMatchObject({ logging: {} });
  });

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
    class Talker {
      @Tool({ name: 'talk' })
      tool(_input: NoInput, context: Context) {
        talk(context);
      }

      @Prompt({ name: 'talk', input: { type: 'object', properties: { to: { type: 'string' } } } })
      prompt(_input: object, context: Context) {
        talk(context);
        return 'talked';
      }

      @Resource('docs://talk')
      resource(_input: NoInput, context: Context) {
        talk(context);
        return 'talked';
      }

      @Completion({ for: 'prompt', argument: 'to' })
      names(_typed: string, context: Context) {
        talk(context);
        return [];
      }
    }
    const methods = [
      ['tools/call', { name: 'talk' }],
      ['prompts/get', { name: 'talk' }],
      ['resources/read', { uri: 'docs://talk' }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'talk' }, argument: { name: 'to', value: '' } }],
    ] as const;
    for (const transport of Object.values(transportsOf(STATELESS))) {
      for (const [method, params] of methods) {
        const server = serverOf({ providers: [Talker], logLevel: 'debug' });
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

  inStateless('LOG-09', 'have one of the eight levels, or else the request is rejected', async () => {
    let runs = 0;
    const client = await RawClient.connect(serverWith({ run: () => (runs += 1) }), { revision: STATELESS });
    for (const level of ['loud', 'INFO', '', 3, null, {}]) {
      const params = { name: 'run', _meta: { [LEVEL]: level } };
      expect(await client.error('tools/call', params)).toMatchObject({ code: -32602 });
    }
    expect(runs).toBe(0);
  });

  inStateless('LOG-09', 'have a valid level in the requests of all methods', async () => {
    const server = serverWith({ tool: () => 'ran' });
    server.addProvider(Everything);
    const client = await RawClient.connect(server, { revision: STATELESS });
    const calls: readonly (readonly [method: string, params?: JsonObject])[] = [
      ['server/discover'],
      ['tools/list'],
      ['tools/call', { name: 'tool' }],
      ['prompts/list'],
      ['prompts/get', { name: 'prompt' }],
      ['resources/list'],
      ['resources/templates/list'],
      ['resources/read', { uri: 'docs://page' }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'prompt' }, argument: { name: 'name', value: '' } }],
    ];
    for (const [method, params] of calls) {
      const leveled = (level: unknown) => client.request(method, { ...params, _meta: { [LEVEL]: level } });
      for (const level of ['loud', null]) expect([method, await leveled(level)]).toMatchObject([method, INVALID]);
      expect([method, await leveled('error')]).toMatchObject([method, { result: {} }]);
    }
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
