// Messages over HTTP that get a status of their own, in each state of a client, for each Accept header.
import { networkInterfaces } from 'node:os';

import { describe, expect } from '@jest/globals';
import { McpError, Resource } from '@decorum/core';
import { type ListenOptions, MemorySessionStore } from '@decorum/http';

import { EventReader } from '../../packages/http/test/events.js';
import { serve, whenBegun } from '../../packages/http/test/fixture.js';
import { type Fields, json, request } from '../../packages/http/test/messages.js';
import { ADD, carried, HttpClient, initialize, MALFORMED } from '../support/http-client.js';
import { eachRevision, eachSessionRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';

/** The Accept headers of clients that take both kinds of answer, or only streams. */
const ACCEPTS: readonly Fields[] = [{}, { accept: 'text/event-stream' }];

/** Ways to serve sessions, or none. */
const WAYS: readonly ListenOptions[] = [{}, { sessions: false }];

/** Connects a client of the revision in one way. */
async function connect(revision: Revision, options: ListenOptions = {}) {
  const served = await serve(options);
  const alone = options.sessions === false;
  const client = alone ? HttpClient.alone(served.url, revision) : await HttpClient.open(served.url, revision);
  return { ...served, client };
}

const notification = (method: string, params?: object) => ({ jsonrpc: '2.0', method, ...(params && { params }) });

/** Notifications that a client may send, and some that nobody knows. */
const NOTIFICATIONS = [
  notification('notifications/initialized'),
  notification('notifications/roots/list_changed'),
  notification('notifications/progress', { progressToken: 'unknown', progress: 1 }),
  notification('notifications/cancelled', { requestId: 'unknown' }),
  notification('notifications/cancelled', {}),
  notification('notifications/unknown', { _meta: {} }),
  notification('tools/list'),
  notification('no/method', {}),
];

/** Responses to questions that nobody asked. */
const RESPONSES = [
  { jsonrpc: '2.0', id: 0, result: {} },
  { jsonrpc: '2.0', id: 's1', result: { action: 'accept' } },
  { jsonrpc: '2.0', id: '', error: { code: -1, message: 'No' } },
  { jsonrpc: '2.0', id: 7, error: { code: -32603, message: 'No', data: [1] } },
];

describe('a message without a response', () => {
  eachRevision('HTTP-10', 'gets 202 and no body, whatever it is and however it is served', async (revision) => {
    for (const way of WAYS) {
      const { client } = await connect(revision, way);
      const batches = revision === '2025-03-26' ? [NOTIFICATIONS, RESPONSES, [...NOTIFICATIONS, ...RESPONSES]] : [];
      const others = client.stateless ? [] : [...RESPONSES, ...batches];
      for (const message of [...NOTIFICATIONS, ...others]) {
        for (const accept of ACCEPTS) {
          const response = await client.post(message, accept);
          const { headers, status } = response;
          expect([message, status, await response.text()]).toEqual([message, 202, '']);
          expect([headers.get('content-type'), headers.get('mcp-session-id')]).toEqual([null, null]);
        }
      }
    }
  });

  inStateless('HTTP-09', 'is never a response, whatever its id and whatever session it names', async () => {
    for (const way of WAYS) {
      const { client, url } = await connect(STATELESS, way);
      const ids: Fields[] = [{}, { 'mcp-session-id': 'nonsense' }];
      if (way.sessions !== false)
        ids.push({ 'mcp-session-id': (await HttpClient.open(url, '2025-11-25')).headers['mcp-session-id'] as string });
      for (const headers of ids) {
        for (const accept of ACCEPTS) {
          for (const message of [...RESPONSES, RESPONSES, [request(1, 'tools/list')]]) {
            const response = await client.post(message, { ...accept, ...headers });
            const found = [message, response.status, (await json(response)).error?.code];
            expect(found).toEqual([message, 400, -32600]);
          }
        }
      }
    }
  });
});

describe('the answer to a request', () => {
  eachRevision('HTTP-12', 'is JSON or a stream for each method and outcome', async (revision) => {
    for (const way of WAYS) {
      const { client } = await connect(revision, way);
      const requests = [
        ['tools/list', {}],
        ['tools/call', { name: 'add', arguments: ADD }],
        ['tools/call', { name: 'fail' }],
        ['tools/call', { name: 'no-such-tool' }],
        ['prompts/get', { name: 'greet' }],
        ['resources/read', { uri: 'docs://guide' }],
        ['resources/templates/list', {}],
      ] as const;
      for (const [method, params] of requests) {
        for (const { accept } of ACCEPTS) {
          const type = accept ?? 'application/json';
          const response = await client.post(client.buildMessage(0, method, params), accept ? { accept } : {});
          const found = response.headers.get('content-type')?.split(';')[0];
          expect([method, params, accept, response.status, found]).toEqual([method, params, accept, 200, type]);
          if (type === 'application/json') expect((await json(response)).id).toBe(0);
          else expect(carried(await new EventReader(response).rest())).toEqual([0]);
        }
      }
    }
  });
});

describe('a POST', () => {
  eachRevision(
    'HTTP-11',
    'that is no message is answered with 400, as JSON, and with its id if it has one',
    async (revision) => {
      for (const way of WAYS) {
        const { client } = await connect(revision, way);
        const wrong = [{ jsonrpc: '1.0' }, { jsonrpc: 2 }, { method: 7 }, { method: null }, { jsonrpc: undefined }];
        const withId = [7, 0, '', 'x'].flatMap((id) =>
          wrong.map((part) => [{ ...client.buildMessage(id, 'tools/list'), ...part }, -32600, id] as const),
        );
        for (const [body, code, id = null] of [...MALFORMED, ...withId]) {
          for (const accept of ACCEPTS) {
            const response = await client.post(body, accept);
            const type = response.headers.get('content-type')?.split(';')[0];
            const { id: answered = null, error } = await json(response);
            const found = [String(body), response.status, type, answered, error?.code];
            expect(found).toEqual([String(body), 400, 'application/json', id, code]);
          }
        }
      }
    },
  );

  eachRevision('HTTP-13', 'must accept JSON or event streams, or else the answer is 406', async (revision) => {
    const { client } = await connect(revision);
    const statusOf = async (accept: string) => {
      const response = await client.call(1, 'add', { args: ADD, headers: { accept } });
      await response.text();
      return response.status;
    };
    // a weight has up to three digits (RFC 9110, section 12.4.2)
    const refused = ['', '.', '.0', '.00', '.000'].map((digits) => `application/json;q=0${digits}`);
    const others = ['text/html', 'image/*', '', '*/*;q=0', 'text/event-stream;q=0.', 'text/*; q=0.0, a/b; q=0.000'];
    for (const accept of [...refused, ...others]) expect([accept, await statusOf(accept)]).toEqual([accept, 406]);
    for (const accept of [
      '*/*',
      'application/json',
      'text/event-stream, application/json',
      'a/b, */*;q=0.1',
      'application/json;q=0.001',
      'application/json;xq=0',
      'application/*',
      'text/*',
      'Application/JSON',
      'TEXT/EVENT-STREAM;charset=utf-8',
      'text/html ,application/json ; Q=0.5',
    ]) {
      expect([accept, await statusOf(accept)]).toEqual([accept, 200]);
    }
    // a stream for those who accept both, and only if there is more to send than the response
    for (const accept of ['*/*', 'application/*, text/*', 'text/event-stream, application/json']) {
      const headers = { accept };
      const kinds = [
        await client.call(1, 'add', { args: ADD, headers }),
        await client.call(2, 'steps', { meta: { progressToken: 2 }, headers }),
      ].map((response) => response.headers.get('content-type')?.split(';')[0]);
      expect([accept, ...kinds]).toEqual([accept, 'application/json', 'text/event-stream']);
    }
  });
});

describe('MCP-Protocol-Version', () => {
  eachSessionRevision(
    'HTTP-38',
    'defaults to 2025-03-26, the revision with batches, if nothing names a revision',
    async (revision) => {
      const client = HttpClient.alone((await serve({ sessions: false })).url, revision);
      const batch = [client.buildMessage(1, 'ping'), client.buildMessage(2, 'ping')];
      const unknown = await client.post(batch, { 'mcp-protocol-version': undefined });
      expect(unknown.status).toBe(200);
      expect(await unknown.json()).toHaveLength(2);
      expect((await client.post(batch)).status).toBe(400);
    },
  );

  eachSessionRevision('HTTP-39', 'does not change the revision of a session', async (revision) => {
    const { client } = await connect(revision);
    const batch = [client.buildMessage(1, 'ping')];
    for (const version of [undefined, '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
      const headers = { 'mcp-protocol-version': version };
      expect((await client.post(client.buildMessage(1, 'ping'), headers)).status).toBe(200);
      expect((await client.post(batch, headers)).status).toBe(400);
    }
  });

  eachSessionRevision(
    'HTTP-37',
    'that is not supported is answered with 400 for each kind of message',
    async (revision) => {
      for (const way of WAYS) {
        const { client, probe } = await connect(revision, way);
        const began: unknown[] = [];
        probe.on('began', () => began.push(1));
        const calls = [request(1, 'tools/call', { name: 'wait' }), request('', 'no/method'), request(0, 'ping')];
        const batch = [request(1, 'ping')];
        for (const version of ['1.0', '', '2025-06-19', `${revision}x`]) {
          for (const message of [...calls, ...NOTIFICATIONS, ...RESPONSES, batch, initialize(revision)]) {
            const own = message === batch || !('method' in message) || message.method !== 'initialize';
            const headers = { 'mcp-protocol-version': version, ...(!own && { 'mcp-session-id': undefined }) };
            const response = await client.post(message, headers);
            const found = [version, message, response.status, response.headers.get('mcp-session-id')];
            expect(found).toEqual([version, message, 400, null]);
            expect(await json(response)).toMatchObject({ error: { code: -32600 } });
          }
        }
        expect(began).toEqual([]);
        if (way.sessions !== false) {
          const headers = { 'mcp-protocol-version': '1.0' };
          expect([(await client.get(headers)).status, await client.end(headers)]).toEqual([400, 400]);
        }
        expect((await client.post(request(2, 'ping'))).status).toBe(200);
      }
    },
  );

  inStateless(
    ['HDR-03', 'LIFE-22'],
    'that is not supported is answered with 400 and -32022 for each method, as are those of sessions',
    async () => {
      for (const way of WAYS) {
        const { client } = await connect(STATELESS, way);
        const requests = [
          ['server/discover', {}],
          ['tools/list', {}],
          ['tools/call', { name: 'add', arguments: ADD }],
          ['prompts/get', { name: 'greet' }],
          ['resources/read', { uri: 'docs://guide' }],
          ['subscriptions/listen', { notifications: {} }],
          ['no/method', {}],
        ] as const;
        for (const version of ['v999.0.0', '2099-01-01', '2025-11-25', '2024-11-05', '__proto__']) {
          for (const [at, [method, params]] of requests.entries()) {
            const meta = { 'io.modelcontextprotocol/protocolVersion': version };
            const message = client.buildMessage(at, method, { ...params, _meta: meta });
            const response = await client.post(message, { 'mcp-protocol-version': version });
            const { id, error } = await json(response);
            expect([method, version, response.status, id, error?.code]).toEqual([method, version, 400, at, -32022]);
            expect(error?.data).toEqual({ requested: version, supported: expect.arrayContaining([STATELESS]) });
          }
        }
      }
    },
  );
});

/** All that a client may send to a session. */
const IN_SESSION = [request(0, 'ping'), request('', 'tools/list'), NOTIFICATIONS[0], RESPONSES[0], [request(1, 'x')]];

describe('a session that is over', () => {
  /** Expects that a client's session is unknown. */
  async function expectUnknown(client: HttpClient, why: string, lost?: string): Promise<void> {
    for (const message of IN_SESSION) {
      const response = await client.post(message);
      expect([why, message, response.status]).toEqual([why, message, 404]);
      expect(await json(response)).toMatchObject({ error: { code: -32600 } });
    }
    expect([why, (await client.get()).status]).toEqual([why, 404]);
    if (lost !== undefined) expect([why, (await client.get({ 'last-event-id': lost })).status]).toEqual([why, 404]);
    expect([why, await client.end()]).toEqual([why, 404]);
  }

  eachSessionRevision('SESS-06', 'is unknown, whatever has ended it', async (revision) => {
    const sessionStore = new MemorySessionStore();
    for (const options of [{ limits: { maxSessions: 1 } }, { sessionStore, limits: { maxSessions: 1 } }]) {
      const { client, url, probe } = await connect(revision, options);
      const lost = (await (await client.stream(1, 'steps')).rest()).at(-1)?.id as string;
      // evicted
      const next = await HttpClient.open(url, revision);
      if (!('sessionStore' in options)) await expectUnknown(client, 'evicted', lost);
      // deleted during a call, by its own client
      const [pending] = await whenBegun(probe, next.call('waits', 'wait'));
      expect(await next.end()).toBe(204);
      expect((await pending).status).toBe(404);
      await expectUnknown(next, 'deleted');
    }
    // in the process that started it, by another
    const [one, other] = [await serve({ sessionStore }), await serve({ sessionStore })];
    const shared = await HttpClient.open(one.url, revision);
    const last = (await (await shared.stream(1, 'steps')).rest()).at(-1)?.id;
    expect(await shared.at(other.url).end()).toBe(204);
    await expectUnknown(shared, 'deleted elsewhere', last);
    await expectUnknown(shared.at(other.url), 'deleted here');
    // by the end of the process, or never begun; nor can a client choose its id
    const gone = await HttpClient.open((await serve()).url, revision);
    await expectUnknown(gone.at(one.url), 'gone');
    for (const id of ['bogus', '__proto__']) {
      gone.headers['mcp-session-id'] = id;
      await expectUnknown(gone.at(one.url), id);
      expect((await gone.at(one.url).post(initialize(revision))).status).toBe(404);
    }
  });

  eachSessionRevision('SESS-04', 'or that is not named is not started by anything but a request', async (revision) => {
    for (const options of [{}, { sessionStore: new MemorySessionStore() }]) {
      const { client } = await connect(revision, options);
      const { id: _id, ...begun } = initialize(revision);
      const others = [...NOTIFICATIONS, ...RESPONSES, begun, [initialize(revision)], [begun], request(1, 'no/method')];
      for (const message of [...IN_SESSION, ...others]) {
        const response = await client.post(message, { 'mcp-session-id': undefined });
        expect([message, response.status]).toEqual([message, 400]);
        expect([response.headers.get('mcp-session-id'), (await json(response)).result]).toEqual([null, undefined]);
      }
      const { 'mcp-session-id': _session, ...headers } = client.headers;
      for (const method of ['GET', 'DELETE']) {
        const response = await fetch(client.url, { method, headers: { accept: 'text/event-stream', ...headers } });
        expect([method, response.status]).toEqual([method, 400]);
      }
    }
  });
});

describe('the endpoint', () => {
  eachRevision(
    ['HTTP-05', 'SEC-11'],
    'can be reached only from this machine, whatever its options',
    async (revision) => {
      const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
      const others = all.filter(({ internal }) => !internal);
      const addresses = others.filter(({ family }) => family === 'IPv4').map(({ address }) => address);
      for (const options of [
        { legacySse: true },
        { allowedHosts: ['mcp.example.com'], allowedOrigins: ['https://app.example.com'] },
        { sessions: false, path: '/other' },
        { auth: { authenticate: () => ({ subject: 'ann' }) } },
        { host: 'localhost', keepAliveMs: 1000 },
      ]) {
        const { url, port } = await serve(options);
        expect(['127.0.0.1', 'localhost', '[::1]']).toContain(new URL(url).hostname);
        const client = HttpClient.alone(url, revision);
        const hello = client.stateless ? client.buildMessage('hello', 'tools/list') : initialize(revision);
        expect((await client.post(hello)).status).toBe(200);
        // a server on all interfaces would also listen on a second loopback address
        for (const address of ['127.0.0.2', ...addresses]) {
          await expect(fetch(`http://${address}:${port}/mcp`)).rejects.toThrow('fetch failed');
        }
      }
    },
  );
});

describe('GET and DELETE', () => {
  inStateless('HTTP-34', 'are answered with 405', async () => {
    for (const sessions of [true, false]) {
      const { client } = await connect('2026-07-28', { sessions });
      for (const method of ['GET', 'DELETE']) {
        const headers = { accept: 'text/event-stream', ...client.headers };
        for (const all of [headers, { ...headers, 'mcp-session-id': 'any', 'last-event-id': 'any' }]) {
          const response = await fetch(client.url, { method, headers: all });
          expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST']);
        }
      }
    }
    // not even the id of a session makes a difference, and nothing happens to the session
    const { client, url } = await connect('2025-11-25');
    for (const method of ['GET', 'DELETE']) {
      const headers = { accept: 'text/event-stream', ...client.headers, 'mcp-protocol-version': '2026-07-28' };
      expect([method, (await fetch(url, { method, headers })).status]).toEqual([method, 405]);
    }
    expect(await client.status()).toBe(200);
  });
});

describe('a stream without a session', () => {
  inStateless('HTTP-43', 'has 200 for every error that a handler chooses, at once or later', async () => {
    const { client, server } = await connect('2026-07-28');
    const kinds = ['parse-error', 'invalid-request', 'method-not-found', 'invalid-params', 'internal-error'] as const;
    const more = ['unknown-tool', 'unknown-resource', 'invalid-cursor', 'unsupported-version', 'closing'] as const;
    for (const kind of [...kinds, ...more, 'too-many-requests', 4711, -32700, -32601, -32603] as const) {
      const deny = (): string => {
        throw new McpError(kind, 'No.');
      };
      const input = { type: 'object' } as const;
      server.addTool({ name: `${kind}`, input }, deny);
      server.addTool({ name: `${kind}-later`, input }, async () => await Promise.resolve().then(deny));
      class Denied {
        @Resource(`deny://${kind}`)
        resource() {
          return deny();
        }
      }
      server.addProvider(Denied);
      for (const message of [
        client.buildMessage(1, 'tools/call', { name: `${kind}` }),
        client.buildMessage(0, 'tools/call', { name: `${kind}-later` }),
        client.buildMessage('', 'resources/read', { uri: `deny://${kind}` }),
      ]) {
        const response = await client.post(message);
        expect([kind, response.status, await json(response)]).toMatchObject([kind, 200, { id: message.id, error: {} }]);
      }
    }
  });
});
