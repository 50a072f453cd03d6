// `auth`, whose `authenticate` runs before the body is read, and `principal`, its simple form.
import { EventEmitter, once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';

import { expect, it, jest } from '@jest/globals';
import type { Auth } from '@decorum/http';

import { afterwards, type Fields, json, post, raw } from '../../packages/http/test/fixture.js';
import { doorsOf, enter, HttpClient, initialize, TOKEN } from '../support/http-client.js';
import type { Revision } from '../support/requirements.js';
import { Connection } from './connection.js';
import { inEveryRevision, inEverySessionRevision, inTheStatelessRevision, overEveryHost, serveOn } from './contract.js';
import type { HostOptions } from './hosts.js';

type Authenticate = Auth['authenticate'];

const JSON_TYPE = { 'content-type': 'application/json' };
const CHALLENGE = 'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource"';
const REFUSAL = {
  status: 401,
  headers: { 'www-authenticate': CHALLENGE, 'content-type': 'application/problem+json; charset=utf-8' },
  body: '{"title":"Who are you?"}',
};

/** Trusts any bearer token as the name of the caller, and rejects requests without one. */
const byToken: Authenticate = async ({ headers }) => {
  // simulates a remote token lookup, during which the body arrives
  for (let n = 0; n < 3; n++) await turn();
  const subject = /^Bearer (\w+)$/.exec(headers['authorization'] ?? '')?.[1];
  // the server sets the length itself
  const all = { ...REFUSAL.headers, 'Content-Length': '2' };
  return subject === undefined ? { ...REFUSAL, headers: all } : { subject, scopes: ['read'] };
};

const ANN = { authorization: 'Bearer ann' };
/** The principal that a handler sees. */
async function whoIs(client: HttpClient, headers: Fields = {}): Promise<unknown> {
  const { result } = await json(await client.call('who', 'who', { headers }));
  return (JSON.parse(result?.content?.[0]?.text ?? '') as { principal?: unknown }).principal;
}

overEveryHost('auth', (host) => {
  inEveryRevision('passes the principal to handlers', async (revision) => {
    const { url } = await serveOn(host, { auth: { authenticate: byToken } });
    const client = await HttpClient.open(url, revision, ANN);
    expect(await whoIs(client)).toEqual({ subject: 'ann', scopes: ['read'] });
    const reader = await client.stream(1, 'steps');
    expect((await reader.rest()).at(-1)?.message).toMatchObject({ id: 1, result: {} });
  });

  inEveryRevision(
    'rejects with its own status, headers and body on every route and method [SESS-08]',
    async (revision) => {
      const { url, probe } = await serveOn(host, { auth: { authenticate: byToken }, legacySse: true });
      for (const door of await doorsOf(url, revision, ANN)) {
        // a preflight has no credentials, but must be answered
        if (door.method === 'OPTIONS') {
          const { authorization: _token, ...without } = door.headers;
          expect((await enter({ ...door, headers: without })).status).toBe(204);
          continue;
        }
        const { authorization: _token, ...headers } = door.headers;
        const [answer, text] = await raw(door.url, door.method, headers, door.body);
        expect([door.name, answer.statusCode, text]).toEqual([door.name, 401, REFUSAL.body]);
        expect(answer.headers).toMatchObject(REFUSAL.headers);
        expect([door.name, (await enter(door)).status]).toEqual([door.name, door.served]);
      }
      expect(probe.contexts).toEqual([]);
    },
  );

  inEverySessionRevision('asks for the token of each request on a connection [SESS-08]', async (revision) => {
    const { url, probe } = await serveOn(host, { auth: { authenticate: byToken } });
    const client = await HttpClient.open(url, revision, ANN);
    const { authorization: _token, ...without } = client.headers;
    const { 'mcp-session-id': _id, ...stranger } = without;
    const accept = { accept: 'application/json, text/event-stream' };
    const list = client.buildMessage(1, 'tools/list');
    const answer = /\r\n\r\n.*\}/s;
    for (const [message, headers] of [
      [list, without],
      [initialize(revision), stranger],
    ] as const) {
      const connection = await Connection.open(url);
      connection.post(list, { ...accept, ...client.headers });
      expect(await connection.until(answer)).toMatch(/^HTTP\/1\.1 200 /);
      connection.text = '';
      connection.post(message, { ...accept, ...headers });
      expect(await connection.until(answer)).toMatch(/^HTTP\/1\.1 401 /);
    }
    expect(probe.contexts).toEqual([]);
  });

  it('gets method, headers, address and the host’s request, once per request that passes the guard', async () => {
    const asked: unknown[] = [];
    const { url } = await serveOn(host, {
      allowedOrigins: ['https://app.example.com'],
      auth: {
        authenticate: ({ method, url: path, headers, remoteAddress }, request) => {
          asked.push([method, path, headers['x-custom'], remoteAddress, typeof request]);
          return { subject: 'ann' };
        },
      },
    });
    const custom = { 'x-custom': 'Yes' };
    await raw(url, 'POST', { ...JSON_TYPE, 'X-Custom': 'Yes' }, JSON.stringify(initialize('2025-11-25')));
    await raw(url, 'GET', custom);
    await raw(url, 'DELETE', custom);
    const told = ['/mcp', 'Yes', '127.0.0.1', 'object'];
    expect(asked).toEqual([
      ['POST', ...told],
      ['GET', ...told],
      ['DELETE', ...told],
    ]);
    // requests rejected by the guard are not authenticated
    await raw(url, 'POST', { ...JSON_TYPE, host: 'evil.example' }, '{}');
    await raw(url, 'POST', { ...JSON_TYPE, origin: 'http://evil.example' }, '{}');
    expect(asked).toHaveLength(3);
  });

  it('lets pages of an allowed origin read a rejection', async () => {
    const origin = 'https://app.example.com';
    const { url } = await serveOn(host, { auth: { authenticate: byToken }, allowedOrigins: [origin] });
    const [answer] = await raw(url, 'POST', { ...JSON_TYPE, origin }, '{}');
    expect(answer.headers).toMatchObject({
      'www-authenticate': CHALLENGE,
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate',
    });
  });

  it('fails closed with a masked 500 when it returns anything else', async () => {
    const headers = [{ 'www-authenticate': 1 }, { a: 'a\nb' }, { a: '\u4e2d' }, { 'www authenticate': 'Bearer' }];
    const refusals = [
      { status: 200 },
      { status: 401, body: {} },
      ...headers.map((all) => ({ status: 401, headers: all })),
    ];
    const wrong = [{}, { subject: '' }, 'ann', null, true, ...refusals];
    let found: unknown;
    const authenticate = ({ headers: { 'x-late': late } }: { headers: Fields }) =>
      late ? Promise.resolve(found) : found;
    const { url, errors, probe } = await serveOn(host, { auth: { authenticate: authenticate as Authenticate } });
    for (found of wrong) {
      for (const late of [{}, { 'x-late': 'yes' }]) {
        const [answer, text] = await raw(
          url,
          'POST',
          { ...JSON_TYPE, ...late },
          JSON.stringify(initialize('2025-11-25')),
        );
        const told = JSON.stringify(found);
        expect([told, answer.statusCode, text]).toEqual([told, 500, expect.stringContaining('"Internal error"')]);
      }
    }
    expect([errors.length, probe.contexts]).toEqual([2 * wrong.length, []]);
  });

  it.each(['throws', 'rejects'])('that %s is reported and answered with a masked 500', async (how) => {
    const error = new Error('The secret store is down.');
    const authenticate =
      how === 'throws'
        ? () => {
            throw error;
          }
        : async () => {
            throw error;
          };
    const { url, errors, probe } = await serveOn(host, { auth: { authenticate } });
    const [answer, text] = await raw(url, 'POST', JSON_TYPE, JSON.stringify(initialize('2025-11-25')));
    expect([answer.statusCode, JSON.parse(text)]).toMatchObject([
      500,
      { jsonrpc: '2.0', error: { code: -32603, message: 'Internal error' } },
    ]);
    expect([errors, probe.contexts]).toEqual([[error], []]);
  });

  inTheStatelessRevision('that resolves after a disconnect runs nothing', async (revision) => {
    const gate = new EventEmitter();
    const { url, probe, errors } = await serveOn(host, {
      auth: {
        async authenticate({ headers }) {
          if (headers['x-slow'] === undefined) return { subject: 'ann' };
          const opened = once(gate, 'open');
          gate.emit('asked');
          await opened;
          return { subject: 'ann' };
        },
      },
    });
    const client = await HttpClient.open(url, revision);
    const message = client.buildMessage(1, 'tools/call', { name: 'wait', arguments: {}, _meta: TOKEN });
    const connection = await Connection.open(url);
    const asked = once(gate, 'asked');
    connection.post(message, { ...client.headersOf(message), 'x-slow': 'yes' });
    await asked;
    connection.leave();
    // on other connections, because the earlier one is closed
    for (let n = 0; n < 3; n++) expect(await client.status()).toBe(200);
    gate.emit('open');
    for (let n = 0; n < 3; n++) expect(await client.status()).toBe(200);
    expect([probe.contexts.every(({ signal }) => signal.aborted), errors]).toEqual([true, []]);
  });

  it('that resolves after server.close() is answered with 503', async () => {
    const gate = new EventEmitter();
    const { url, server } = await serveOn(host, {
      auth: {
        async authenticate() {
          const opened = once(gate, 'open');
          gate.emit('asked');
          await opened;
          return { subject: 'ann' };
        },
      },
    });
    const asked = once(gate, 'asked');
    const answer = post(url, initialize('2025-11-25'));
    await asked;
    const closing = server.close();
    gate.emit('open');
    expect((await answer).status).toBe(503);
    await closing;
  });

  it('that never resolves does not block server.close(), whose caller gets 503', async () => {
    const asked = new EventEmitter();
    const { url, server } = await serveOn(host, {
      closeDeadlineMs: 20,
      auth: {
        authenticate() {
          asked.emit('asked');
          return new Promise(() => {});
        },
      },
    });
    const told = once(asked, 'asked');
    const answer = post(url, initialize('2025-11-25'));
    await told;
    await server.close({ deadlineMs: 20 });
    expect((await answer).status).toBe(503);
  });
});

overEveryHost('principal', (host) => {
  const principal: HostOptions['principal'] = (header) => {
    const subject = header('x-user');
    return subject === undefined ? undefined : { subject };
  };

  inEveryRevision('gets the host’s own request and passes the principal to handlers', async (revision: Revision) => {
    const { url } = await serveOn(host, { principal });
    const client = await HttpClient.open(url, revision, { 'x-user': 'ann' });
    expect(await whoIs(client)).toEqual({ subject: 'ann' });
    expect(await whoIs(await HttpClient.open(url, revision))).toBeUndefined();
    if (client.stateless) expect(await whoIs(client, { 'x-user': 'bob' })).toEqual({ subject: 'bob' });
    else expect((await client.post(client.buildMessage(1, 'tools/list'), { 'x-user': 'bob' })).status).toBe(404);
  });

  inEveryRevision('answers 401 from the millisecond on in which it expires (#22)', async (revision) => {
    const expiresAt = Date.now() + 60_000;
    const { url } = await serveOn(host, { principal: () => ({ subject: 'ann', expiresAt }) });
    const client = await HttpClient.open(url, revision);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(expiresAt - 1);
    afterwards(() => clock.mockRestore());
    expect(await client.status()).toBe(200);
    clock.mockReturnValue(expiresAt);
    const refused = await client.post(client.buildMessage(1, 'tools/list'));
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
    expect((await json(refused)).error).toMatchObject({ code: -32600, message: 'The credentials have expired.' });
  });

  it('that throws is reported and answered with a masked 500', async () => {
    const error = new Error('The secret store is down.');
    const { url, errors } = await serveOn(host, {
      principal: () => {
        throw error;
      },
    });
    const [answer, text] = await raw(url, 'POST', JSON_TYPE, JSON.stringify(initialize('2025-11-25')));
    expect([answer.statusCode, JSON.parse(text)]).toMatchObject([500, { error: { message: 'Internal error' } }]);
    expect(errors).toEqual([error]);
  });

  it('cannot be combined with auth', async () => {
    await expect(serveOn(host, { principal, auth: { authenticate: byToken } })).rejects.toMatchObject({
      code: 'DECORUM_INVALID_OPTION',
    });
  });
});
