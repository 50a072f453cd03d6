// Arrays of messages, which only 2025-03-26 has.
import { describe, expect, it } from '@jest/globals';
import { listen, MemorySessionStore } from '@decorum/http';

import { post } from '../../packages/http/test/fixture.js';
import { HttpClient, initialize } from '../support/http-client.js';
import { LateSessionStore } from '../support/late-stores.js';
import { endpointOf, transportsOf } from '../support/http-transports.js';
import { type Message, RAW_TRANSPORTS, RawClient } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, type Revision } from '../support/requirements.js';
import { echo, probe, responseTo } from './neutral.js';
import { serverOf, serverWith } from './servers.js';

const open = (revision: Revision) => RawClient.connect(serverWith(echo), { revision });
const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' });

const NOTIFICATIONS = ['notifications/nothing', 'notifications/roots/list_changed'].map((method) => ({
  jsonrpc: '2.0',
  method,
}));
const RESPONSES = [
  { jsonrpc: '2.0', id: 'nobody-asked', result: {} },
  { jsonrpc: '2.0', id: 's1', error: { code: -1, message: 'No' } },
];

describe('batches', () => {
  eachSessionRevision(['RPC-16', 'STDIO-05'], 'are answered by an array, whatever their size', async (revision) => {
    const server = serverWith({ now: () => 'now', later: async () => await Promise.resolve('later') });
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const client = await RawClient.connect(server, { revision }, transport);
      let calls = 0;
      for (const tools of [['now'], ['later'], ['now', 'later'], ['later', 'now', 'no-such-tool']]) {
        for (const others of [[], NOTIFICATIONS]) {
          const requests = tools.map((tool) => {
            calls += 1;
            return { jsonrpc: '2.0', id: `${calls}`, method: 'tools/call', params: { name: tool } };
          });
          const before = client.texts.length;
          await client.send([...others, ...requests]);
          await client.response(`${calls}`);
          const [answer, ...more] = client.texts.slice(before).map((text) => JSON.parse(text) as Message[]);
          expect([name, answer?.map(({ id }) => id), more]).toEqual([name, requests.map(({ id }) => id), []]);
        }
      }
    }
  });

  it.each([
    ['at once', () => 'said'],
    ['later', async () => await Promise.resolve('said')],
  ] as [string, () => string | Promise<string>][])(
    'answer one of two requests with the same id, and refuse the other: those answered %s',
    async (_when, say) => {
      const runs: unknown[] = [];
      const server = serverWith({ say: (_context, input) => (runs.push(input), say()) });
      const client = await RawClient.connect(server, { revision: '2025-03-26' });
      const call = (id: number | string, n: number) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'say', arguments: { n } },
      });
      await client.send([
        call(1, 1),
        call(1, 2),
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: [] },
        call('1', 3),
      ]);
      const answers = JSON.parse(client.texts.at(-1) as string) as Message[];
      const error = { code: -32600, message: 'Another request has this id.' };
      expect(answers).toMatchObject([
        { id: 1, result: {} },
        { id: null, error },
        { id: null, error },
        { id: '1', result: {} },
      ]);
      expect(runs).toEqual([{ n: 1 }, { n: 3 }]);
    },
  );

  eachSessionRevision('RPC-17', 'may mix requests, notifications and responses', async (revision) => {
    const server = serverWith({ ask: (context) => context.ping().then(() => 'pong') });
    for (const [answer, said] of [
      [{ result: {} }, 'pong'],
      [{ error: { code: -1, message: 'No ping today' } }, expect.stringContaining('No ping today')],
    ]) {
      const client = await RawClient.connect(server, { revision });
      void client.send({ jsonrpc: '2.0', id: 'call', method: 'tools/call', params: { name: 'ask' } });
      await client.find(({ method }) => method === 'ping');
      const [question] = client.of('ping');
      await client.send([
        { jsonrpc: '2.0', method: 'notifications/nothing' },
        { jsonrpc: '2.0', id: question?.id, ...(answer as object) },
        ping(7),
      ]);
      expect(await client.response(7)).toMatchObject({ result: {} });
      expect(await client.response('call')).toMatchObject({ result: { content: [{ text: said }] } });
    }
  });

  eachSessionRevision('RPC-18', 'do not start a session', async (revision) => {
    const client = await RawClient.connect(serverOf(), { revision, begins: false });
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'batch', version: '1' } };
    const beginning = { jsonrpc: '2.0', method: 'initialize', params };
    for (const batch of [[{ ...beginning, id: 1 }], [ping(1), { ...beginning, id: 2 }], [beginning]]) {
      expect(await responseTo(client, batch)).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32600, message: expect.any(String) },
      });
    }
    expect(await client.error('tools/list')).toMatchObject({ code: -32600 });
    await client.begin();
    await client.send([ping(1), { jsonrpc: '2.0', id: 2, method: 'initialize', params }]);
    expect(client.received.at(-1)).toMatchObject({ id: null, error: { code: -32600 } });
  });

  eachSessionRevision(['RPC-19', 'STDIO-05'], 'are not answered if nothing in them needs that', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const client = await RawClient.connect(serverWith(echo), { revision }, transport);
      for (const batch of [NOTIFICATIONS, RESPONSES, [...NOTIFICATIONS, ...RESPONSES]]) {
        const before = client.texts.length;
        await client.send(batch);
        await client.result('ping');
        // only the response to the ping arrives, not even an empty array
        expect(client.texts.slice(before)).toHaveLength(1);
      }
    }
  });

  eachSessionRevision('RPC-19', 'are then accepted with no body, even if that takes time (#22)', async (revision) => {
    for (const sessionStore of [new LateSessionStore(), new MemorySessionStore()]) {
      const { url, close } = await listen(serverWith(echo), { port: 0, sessionStore });
      const client = await HttpClient.open(url, revision);
      for (const batch of [NOTIFICATIONS, RESPONSES, [...NOTIFICATIONS, ...RESPONSES]]) {
        const response = await client.post(batch);
        expect([response.status, await response.text()]).toEqual([202, '']);
      }
      const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
      for (const others of [[], [...NOTIFICATIONS, ...RESPONSES]]) {
        const begun = await post(url, initialize(revision));
        const headers = { 'mcp-session-id': begun.headers.get('mcp-session-id') as string };
        await begun.text();
        // the first of its kind is stored
        const response = await post(url, [...others, initialized], headers);
        expect([response.status, await response.text()]).toEqual([202, '']);
      }
      await close();
    }
  });

  eachSessionRevision('RPC-20', 'are one invalid request if they are empty', async (revision) => {
    const error = { code: -32600, message: expect.any(String) };
    for (const transport of Object.values(RAW_TRANSPORTS)) {
      const client = await RawClient.connect(serverWith(echo), { revision }, transport);
      for (const empty of ['[]', '[ ]']) {
        expect(await responseTo(client, empty)).toEqual({ jsonrpc: '2.0', id: null, error });
        expect(client.texts.at(-1)).toMatch(/^\{/);
      }
      await client.settled();
    }
    const { url } = await endpointOf(serverWith(echo));
    const response = await (await HttpClient.open(url, revision)).post([]);
    expect([response.status, await response.json()]).toMatchObject([400, { error }]);
  });

  eachRevision('RPC-21', 'are one invalid request in revisions without batches', async (revision) => {
    for (const transport of Object.values(RAW_TRANSPORTS)) {
      const client = await RawClient.connect(serverWith(echo), { revision }, transport);
      const one = probe(client, 1);
      const batches = [[one], [one, probe(client, 2)], [one, ...NOTIFICATIONS], [...RESPONSES, one]];
      // without a request that names its revision, a pipe may be one of 2025-03-26
      for (const batch of client.stateless ? batches : [...batches, [], NOTIFICATIONS, RESPONSES]) {
        const { id = null, ...answer } = await responseTo(client, batch);
        expect([batch, id, answer]).toMatchObject([batch, null, { error: { code: -32600 } }]);
      }
      await client.settled();
    }
  });

  eachSessionRevision('RPC-17', 'have no answer to an invalid notification or response', async (revision) => {
    const odd = [
      { jsonrpc: '2.0', method: 'notifications/nothing', params: [1] },
      { jsonrpc: '1.0', method: 'notifications/nothing' },
      { jsonrpc: '2.0', method: 'tools/list', params: 7 },
      { jsonrpc: '2.0', result: {}, error: {} },
    ];
    for (const transport of Object.values(transportsOf(revision))) {
      const client = await RawClient.connect(serverWith(echo), { revision }, transport);
      for (const batch of [
        [...odd, ping('all')],
        [ping('all'), ...odd],
      ]) {
        const from = client.received.length;
        await client.send(batch);
        await client.at(from);
        await client.settled();
        expect(client.received.slice(from).map(({ id }) => id)).toEqual(['all', expect.stringMatching(/^r/)]);
      }
    }
  });

  eachSessionRevision('RPC-22', 'do no harm in revisions that do not mention them', async (revision) => {
    const client = await open(revision);
    await client.send([ping(1)]);
    expect(await client.result('ping')).toEqual({});
  });
});
