// Messages over HTTP that get a status of their own, in each state of a client, for each Accept header.
import { once } from 'node:events';

import { describe, expect } from '@jest/globals';
import { type ListenOptions, MemorySessionStore } from '@decorum/http';

import { EventReader } from '../../packages/http/test/events.js';
import { type Fields, json, request, serve } from '../../packages/http/test/fixture.js';
import { eachRevision, eachSessionRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { ADD, carried, HttpClient, initialize, MALFORMED } from './http-client.js';

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

  eachSessionRevision('HTTP-08', 'or with one: each kind is served, in each way', async (revision) => {
    for (const way of WAYS) {
      const { client } = await connect(revision, way);
      for (const id of [0, 7, -1, '', 'x']) {
        const response = await client.post(request(id, 'ping'));
        expect([id, response.status, await json(response)]).toEqual([id, 200, { jsonrpc: '2.0', id, result: {} }]);
      }
      for (const message of [...NOTIFICATIONS, ...RESPONSES]) {
        expect([message, (await client.post(message)).status]).toEqual([message, 202]);
      }
      const batch = await client.post([request(0, 'ping'), ...NOTIFICATIONS, request('', 'ping'), ...RESPONSES]);
      expect(batch.status).toBe(revision === '2025-03-26' ? 200 : 400);
      const answers = [(await batch.json()) as { id?: unknown }].flat();
      expect(answers.map(({ id }) => id)).toEqual(
        revision === '2025-03-26' ? [0, ''] : [revision === '2025-06-18' ? null : undefined],
      );
    }
  });
});

describe('a POST that is not acceptable', () => {
  for (const id of ['HTTP-11', 'HTTP-12'])
    eachRevision(id, 'gets an HTTP error as JSON, even if the client accepts only streams', async (revision) => {
      for (const way of WAYS) {
        const { client } = await connect(revision, way);
        for (const [body, code] of MALFORMED) {
          const response = await client.post(body, { accept: 'text/event-stream' });
          const type = response.headers.get('content-type')?.split(';')[0];
          const { id: answered = null, error } = await json(response);
          const found = [String(body), response.status, type, answered, error?.code];
          expect(found).toEqual([String(body), 400, 'application/json', null, code]);
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
          const response = await client.post(
            client.buildMessage(0, method, params),
            accept === undefined ? {} : { accept },
          );
          const found = response.headers.get('content-type')?.split(';')[0];
          expect([method, params, accept, response.status, found]).toEqual([method, params, accept, 200, type]);
          if (type === 'application/json') expect((await json(response)).id).toBe(0);
          else expect(carried(await new EventReader(response).rest())).toEqual([0]);
        }
      }
    }
  });
});

describe('an unsupported MCP-Protocol-Version', () => {
  eachSessionRevision('HTTP-37', 'is answered with 400 for each kind of message', async (revision) => {
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
      expect((await client.post(request(2, 'ping'))).status).toBe(200);
    }
  });

  inStateless('HDR-03', 'is answered with 400 and -32022 for each method, as are those of sessions', async () => {
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
      for (const version of ['v999', '2025-11-25', '2024-11-05', '__proto__']) {
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
  });
});

describe('a method that does not exist', () => {
  inStateless('HDR-04', 'is answered with 404, whoever asks and whatever is accepted', async () => {
    const methods = ['resources/subscribe', 'sampling/createMessage', 'elicitation/create', 'roots/list', 'tasks/get'];
    for (const way of WAYS) {
      const { client } = await connect(STATELESS, way);
      for (const [at, method] of [...methods, '__proto__', 'constructor', 'TOOLS/LIST', 'tools'].entries()) {
        for (const accept of ACCEPTS) {
          const response = await client.post(client.buildMessage(at, method, { _meta: { progressToken: 1 } }), accept);
          const { id, error, result } = await json(response);
          const found = [method, response.status, id, error?.code, result];
          expect(found).toEqual([method, 404, at, -32601, undefined]);
          expect(response.headers.get('content-type')).toMatch(/^application\/json/);
        }
      }
    }
  });
});

/** All that a client may send to a session. */
const IN_SESSION = [
  request(0, 'ping'),
  request('', 'tools/list'),
  NOTIFICATIONS[0],
  RESPONSES[0],
  [request(1, 'ping')],
];

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
      const began = once(probe, 'began');
      const pending = next.call('waits', 'wait');
      await began;
      expect(await next.end()).toBe(204);
      expect((await pending).status).toBe(404);
      await expectUnknown(next, 'deleted');
    }
    // in the process that started it, by another
    const [one, other] = [await serve({ sessionStore }), await serve({ sessionStore })];
    const shared = await HttpClient.open(one.url, revision);
    const { id } = (await (await shared.stream(1, 'steps')).rest()).at(-1) ?? {};
    expect(await shared.at(other.url).end()).toBe(204);
    await expectUnknown(shared, 'deleted elsewhere', id);
    await expectUnknown(shared.at(other.url), 'deleted here');
    // by the end of the process
    const gone = await HttpClient.open((await serve()).url, revision);
    await expectUnknown(gone.at(one.url), 'gone');
  });

  eachSessionRevision('SESS-04', 'or that is not named is not started by anything but a request', async (revision) => {
    for (const options of [{}, { sessionStore: new MemorySessionStore() }]) {
      const { client } = await connect(revision, options);
      const { id: _id, ...begun } = initialize(revision);
      const batches = [[initialize(revision)], [begun]];
      for (const message of [
        ...IN_SESSION,
        ...NOTIFICATIONS,
        ...RESPONSES,
        begun,
        ...batches,
        request(1, 'no/method'),
      ]) {
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
