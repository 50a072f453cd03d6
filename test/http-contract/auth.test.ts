// Who calls: `auth` and its simple form `principal`, who gets 401, 403 or 400, when, and with which challenge.
import { EventEmitter, once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';

import { expect, it } from '@jest/globals';
import type { JsonObject } from '@decorum/core';
import type { Auth, Denial } from '@decorum/http';

import { stopClock } from '../../packages/http/test/clock.js';
import { Connection } from '../../packages/http/test/connection.js';
import { cancelOf, type Fields, json, request } from '../../packages/http/test/messages.js';
import { post, raw, statusOf } from '../../packages/http/test/sending.js';
import { doorsOf, enter, HttpClient, initialize, SseClient, TOKEN } from '../support/http-client.js';
import { ANN, AUTH, as, BAD, BASE, BOB, PublicFiles, serveFiles, shut, WRITER } from './auth-fixture.js';
import {
  inAnyRevision,
  inEveryRevision,
  inEverySessionRevision,
  inTheFirstRevision,
  inTheStatelessRevision,
  overEveryBinding,
  overEveryHost,
  serveOn,
} from './contract.js';
import type { HostOptions } from './hosts.js';

/** The only revision in which messages can be sent together. */
const WITH_BATCHES = '2025-03-26';

const JSON_TYPE = { 'content-type': 'application/json' };
const NEEDED = [BASE, 'files:write'];

/** Status, challenge and body of a refusal. */
async function refusalOf(response: Response): Promise<unknown[]> {
  return [response.status, response.headers.get('www-authenticate'), await json(response)];
}

const errorFor = (id: unknown, message: string, scopes: readonly string[]) => ({
  jsonrpc: '2.0',
  ...(id !== undefined && { id }),
  error: { code: -32600, message, data: { scopes } },
});

const forbidden = (id: unknown, scopes: readonly string[]) => [
  403,
  `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`,
  errorFor(id, 'The caller lacks scopes that this request needs.', scopes),
];

const unauthorized = (id: unknown, scopes: readonly string[]) => [
  401,
  `Bearer scope="${scopes.join(' ')}"`,
  errorFor(id, 'Authorization is required.', scopes),
];

const NOTICE = { jsonrpc: '2.0', method: 'notifications/initialized' };

const callOf = (id: number, name: string, meta?: JsonObject) =>
  request(id, 'tools/call', { name, arguments: {}, ...(meta && { _meta: meta }) });

overEveryBinding('auth', (host) => {
  inEveryRevision('refuses a caller without a token, and runs nothing [AUTHRS-07]', async (revision) => {
    const { url, files } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    const none = await client.post(client.buildMessage(1, 'tools/list'), { authorization: undefined });
    expect(await refusalOf(none)).toEqual(unauthorized(undefined, [BASE]));
    const bad = await client.post(client.buildMessage(1, 'tools/call', { name: 'list', arguments: {} }), BAD);
    expect([bad.status, bad.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
    expect(await json(bad)).toMatchObject({ error: { code: -32600, message: 'Authentication is required.' } });
    expect(files.ran).toEqual([]);
  });

  inEveryRevision('names all scopes of an operation that the caller lacks scopes for [AUTHRS-12]', async (revision) => {
    const { url, files } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    for (const accept of [{}, { accept: 'text/event-stream' }]) {
      const response = await client.call(1, 'write', { headers: accept });
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await refusalOf(response)).toEqual(forbidden(1, NEEDED));
    }
    const purge = await client.call(2, 'purge', { headers: WRITER });
    expect(await refusalOf(purge)).toEqual(forbidden(2, [...NEEDED, 'files:admin']));
    const poor = await client.call(4, 'write', { headers: as({ scopes: ['other'] }) });
    expect(await refusalOf(poor)).toEqual(forbidden(4, NEEDED));
    expect((await client.call(3, 'write', { headers: WRITER })).status).toBe(200);
    expect(files.ran).toEqual(['write']);
  });

  inEveryRevision(
    'asks for the same scopes if a tool is called by an alias, which headers mirror',
    async (revision) => {
      const { url, files } = await serveFiles(host);
      const client = await HttpClient.open(url, revision, ANN);
      expect(await refusalOf(await client.call(1, 'put'))).toEqual(forbidden(1, NEEDED));
      expect((await client.call(2, 'put', { headers: WRITER })).status).toBe(200);
      if (client.stateless) {
        const other = await client.call(3, 'put', { headers: { ...WRITER, 'mcp-name': 'write' } });
        expect([other.status, await json(other)]).toMatchObject([400, { error: { code: -32020 } }]);
      }
      expect(files.ran).toEqual(['write']);
    },
  );

  inEveryRevision(
    'answers 403 without a scope and 400 with two Authorization headers [AUTHRS-10]',
    async (revision) => {
      const { url, files } = await serveFiles(host);
      const client = await HttpClient.open(url, revision, ANN);
      expect((await client.call(1, 'write')).status).toBe(403);
      const connection = await Connection.open(url);
      const message = client.buildMessage(2, 'tools/call', { name: 'list', arguments: {} });
      connection.post(message, { ...client.headersOf(message), Authorization: ANN['authorization'] as string });
      const text = await connection.until(/\r\n\r\n.*\}/s);
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(text).toContain('Bearer error="invalid_request"');
      expect(files.ran).toEqual([]);
    },
  );

  inEveryRevision('refuses after a slow access function, however long that takes', async (revision) => {
    const { url, files } = await serveFiles(host, { keepAliveMs: 5 });
    const open = shut();
    const client = await HttpClient.open(url, revision, ANN);
    const refused = client.call(1, 'guarded');
    // at least two ticks of keep-alives, which open the stream of a call that runs
    const waiting = await client.call(2, 'steps', { meta: TOKEN });
    await waiting.text();
    const other = client.call(3, 'wait', { headers: WRITER });
    await once(files, 'began');
    expect((await other).headers.get('content-type')).toBe('text/event-stream');
    files.emit('go');
    open();
    expect(await refusalOf(await refused)).toEqual(forbidden(1, NEEDED));
    expect(files.ran).toEqual([]);
  });

  inEveryRevision('refuses scopes that a handler requires, until it has sent something', async (revision) => {
    const { url, files } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    expect(await refusalOf(await client.call(1, 'project'))).toEqual(forbidden(1, [BASE, 'project:7']));
    const events = await (await client.stream(2, 'late')).rest();
    const error = { code: -32600, data: { scopes: [BASE, 'project:7'] } };
    expect(events.at(-1)?.message).toMatchObject({ id: 2, error });
    expect((await client.call(3, 'project', { headers: as({ scopes: [BASE, 'project:7'] }) })).status).toBe(200);
    expect(files.ran).toEqual(['project']);
  });

  it('refuses a batch as a whole, with all scopes of its requests', async () => {
    const { url, files } = await serveFiles(host);
    const client = await HttpClient.open(url, WITH_BATCHES, ANN);
    const batch = (first: string, second: string) => [callOf(1, 'list'), callOf(2, first), callOf(3, second)];
    for (const [second, scopes] of [
      ['purge', [...NEEDED, 'files:admin']],
      ['guarded', NEEDED],
    ] as const) {
      expect(await refusalOf(await client.post(batch('write', second)))).toEqual(forbidden(undefined, scopes));
    }
    expect(files.ran).toEqual([]);
    expect((await client.post(batch('write', 'list'), WRITER)).status).toBe(200);
    expect(files.ran).toEqual(['list', 'write', 'list']);
  });

  it('refuses a batch without a request that is judged to a token without what every request needs', async () => {
    const { url, files } = await serveFiles(host);
    const client = await HttpClient.open(url, WITH_BATCHES, ANN);
    const began = once(files, 'began');
    const running = client.call(1, 'wait');
    await began;
    const cancel = cancelOf(1);
    for (const others of [
      [],
      [{ jsonrpc: '2.0', id: 's1', result: {} }],
      [{ jsonrpc: '1.0', id: 2, method: 'ping' }],
      [request(3, 'nobody/knows')],
      // in flight
      [request(1, 'ping')],
    ]) {
      const answer = await client.post([...others, cancel], as({ scopes: ['other'] }));
      expect(await refusalOf(answer)).toEqual(forbidden(undefined, [BASE]));
    }
    expect(files.aborted).toBe(0);
    expect((await client.post([cancel])).status).toBe(202);
    expect((await running).status).toBe(202);
    expect(files.aborted).toBe(1);
  });

  inEveryRevision('refuses every method and route to a token without what every request needs', async (revision) => {
    const { url } = await serveFiles(host, { legacySse: true });
    const client = await HttpClient.open(url, revision, ANN);
    const poor = as({ scopes: ['other'] });
    const answers = [
      client.post(client.buildMessage(1, 'tools/list'), poor),
      client.post(NOTICE, poor),
      client.post({ jsonrpc: '2.0', id: 's1', result: {} }, poor),
      client.get(poor),
      fetch(url, { method: 'DELETE', headers: { ...client.headers, ...poor } }),
      fetch(new URL('/sse', url), { headers: poor }),
    ];
    if (!client.stateless) answers.push(post(url, initialize(revision), poor));
    for (const answer of await Promise.all(answers)) {
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual(forbidden(1, [BASE]).slice(0, 2));
    }
  });

  inEveryRevision('asks `challenge` for status and headers, with the scopes and the caller', async (revision) => {
    const denials: Denial[] = [];
    const challenge = (denial: Denial) => {
      denials.push(denial);
      return { status: denial.reason === 'unauthorized' ? 401 : 403, headers: { 'WWW-Authenticate': 'Mine' } };
    };
    const { url } = await serveFiles(host, { auth: { ...AUTH, challenge } });
    const client = await HttpClient.open(url, revision, ANN);
    const answers = [await client.call(1, 'write'), await client.call(2, 'write', { headers: { authorization: '' } })];
    expect(answers.map(({ status, headers }) => [status, headers.get('www-authenticate')])).toEqual([
      [403, 'Mine'],
      [401, 'Bearer error="invalid_token"'],
    ]);
    expect((await client.post(client.buildMessage(3, 'tools/list'), { authorization: undefined })).status).toBe(401);
    // also where sessions are not kept: its client would lose scopes too, by asking for exactly those of a challenge
    const { url: other } = await serveFiles(host, { sessions: false, auth: { ...AUTH, challenge } });
    expect((await HttpClient.alone(other, revision).call(1, 'write', { headers: ANN })).status).toBe(403);
    const inSession = !client.stateless;
    const denied = { reason: 'insufficient-scope', scopes: NEEDED, principal: { subject: 'ann', scopes: [BASE] } };
    expect(denials).toEqual([
      { ...denied, inSession },
      { reason: 'unauthorized', scopes: [BASE], principal: undefined, inSession },
      { ...denied, inSession },
    ]);
    // a notification, too, is refused in its session
    expect(await statusOf(url, { ...client.headers, ...as({ scopes: ['other'] }) }, NOTICE)).toBe(403);
    expect(denials.at(-1)).toMatchObject({ scopes: [BASE], inSession });
    // but a request that would start one is not in it
    expect(await statusOf(url, as({ scopes: ['other'] }), HELLO)).toBe(403);
    expect(denials.at(-1)).toMatchObject({ scopes: [BASE], inSession: false });
  });

  it('answers with a masked 500 if `challenge` throws or returns what is no answer', async () => {
    const wrong: NonNullable<Auth['challenge']>[] = [
      () => {
        throw Object.assign(new Error('a secret'), { statusCode: 404 });
      },
      () => ({ status: 200, headers: {} }),
      () => ({ status: 403, headers: { 'www-authenticate': 'a\nb' } }),
      () => undefined as never,
      (async () => ({ status: 403, headers: {} })) as never,
    ];
    let challenge = wrong[0];
    const auth: Auth = { ...AUTH, challenge: (...denial) => challenge?.(...denial) as never };
    const { url, files, errors } = await serveFiles(host, { auth });
    const client = await HttpClient.open(url, '2025-11-25', ANN);
    for (challenge of wrong) {
      const answers = [await client.call(1, 'write'), await client.get({ authorization: '' }), await post(url, '{}')];
      expect(answers.map(({ status }) => status)).toEqual([500, 401, 500]);
      for (const answer of [answers[0], answers[2]]) {
        expect(await json(answer as Response)).toMatchObject({ error: { code: -32603, message: 'Internal error' } });
      }
    }
    expect([errors.length, files.ran]).toEqual([2 * wrong.length, []]);
    expect(errors.slice(0, 2).map(String)).toEqual(['Error: a secret', 'Error: a secret']);
  });

  inEveryRevision('keeps the token from handlers and logs [AUTHRS-09]', async (revision) => {
    const auth = { ...AUTH, credentialHeaders: ['x-my-key'] };
    const { url, files, log, errors } = await serveFiles(host, { auth });
    const client = await HttpClient.open(url, revision, { ...ANN, 'x-my-key': 'a-key' });
    const began = once(files, 'began');
    const pending = client.call(1, 'wait');
    await began;
    const seen = files.contexts.map(({ principal, transport }) => [principal, transport.headers]);
    files.emit('go');
    await pending;
    await client.call(2, 'fail');
    const told = JSON.stringify([seen, log, errors.map(String)]);
    expect(told).toContain('"subject":"ann"');
    for (const secret of [ANN['authorization']?.slice(7) as string, 'a-key']) expect(told).not.toContain(secret);
  });

  inEveryRevision('can be about a key in a header of its own [AUTHRS-21]', async (revision) => {
    const auth: Auth = {
      authenticate: ({ headers: { 'x-key': key } }) =>
        key === undefined ? undefined : key === 'right' ? { subject: 'ci', kind: 'apiKey' } : { status: 401 },
    };
    const { url, files } = await serveFiles(host, { auth, legacySse: true });
    const client = await HttpClient.open(url, revision, { 'x-key': 'right' });
    expect((await client.call(1, 'list')).status).toBe(200);
    for (const headers of [{ 'x-key': 'wrong' }, { 'x-key': undefined }]) {
      expect((await client.post(client.buildMessage(2, 'tools/list'), headers)).status).toBe(401);
    }
    expect((await fetch(new URL('/sse', url))).status).toBe(401);
    expect(files.ran).toEqual(['list']);
  });

  it('lets pages of an allowed origin send its key', async () => {
    const origin = 'https://app.example.com';
    const auth = { ...AUTH, credentialHeaders: ['x-key'] };
    const { url } = await serveFiles(host, { auth, allowedOrigins: [origin] });
    const asked = { 'access-control-request-headers': 'content-type, X-Key, x-other' };
    const [answer] = await raw(url, 'OPTIONS', { origin, ...asked });
    expect(answer.headers['access-control-allow-headers']).toBe('content-type, X-Key');
  });

  inTheFirstRevision('answers on the POST of HTTP+SSE, also after a slow access function', async () => {
    const { url, files } = await serveFiles(host, { legacySse: true });
    const sse = new URL('/sse', url).href;
    const client = await SseClient.open(sse, ANN);
    expect(await refusalOf(await client.send(callOf(1, 'write')))).toEqual(forbidden(1, NEEDED));
    const open = shut();
    const slow = client.send(callOf(2, 'guarded'));
    const allowed = client.send(callOf(3, 'guarded'), WRITER);
    expect((await client.send(callOf(4, 'list'))).status).toBe(202);
    open();
    expect(await refusalOf(await slow)).toEqual(forbidden(2, NEEDED));
    expect((await allowed).status).toBe(202);
    expect((await client.reader.message()).message).toMatchObject({ id: 4 });
    expect((await client.reader.message()).message).toMatchObject({ id: 3, result: {} });
    expect((await client.send(callOf(5, 'list'), { authorization: '' })).status).toBe(401);
    expect(files.ran).toEqual(['list', 'guarded']);
    // a call is accepted before its handler ends
    expect((await client.send(callOf(6, 'wait'))).status).toBe(202);
    files.emit('go');
    expect((await client.reader.message()).message).toMatchObject({ id: 6, result: {} });
  });

  it('does not start for scopes if nothing tells who calls', async () => {
    const served = serveFiles(host, { auth: undefined as never });
    await expect(served).rejects.toThrow(/Pass `auth`.*DECORUM_NO_AUTHORIZATION/s);
  });

  inEveryRevision('judges the callers that `principal` knows', async (revision) => {
    const principal = (header: (name: string) => string | undefined) => {
      const subject = header('x-user');
      return subject === undefined ? undefined : { subject, scopes: header('x-scopes')?.split(' ') ?? [] };
    };
    const { url } = await serveFiles(host, { auth: undefined as never, principal });
    const client = await HttpClient.open(url, revision, { 'x-user': 'ann' });
    expect((await client.call(1, 'write', { headers: { 'x-scopes': 'files:write' } })).status).toBe(200);
    expect(await refusalOf(await client.call(2, 'write'))).toEqual(forbidden(2, ['files:write']));
    const nobody = await HttpClient.open(url, revision);
    expect(await refusalOf(await nobody.call(3, 'write'))).toEqual(unauthorized(3, ['files:write']));
  });
});

overEveryBinding('auth, with a public member,', (host) => {
  const NOBODY: Fields = {};

  inEveryRevision('lets callers without a token connect, list, and use what is public', async (revision) => {
    const { url, files } = await serveFiles(host, {}, new PublicFiles());
    const client = await HttpClient.open(url, revision, NOBODY);
    const { result } = await json(await client.post(client.buildMessage(1, 'tools/list')));
    expect(result?.['tools']).toContainEqual(expect.objectContaining({ name: 'write' }));
    expect((await client.call(2, 'about')).status).toBe(200);
    expect(await refusalOf(await client.call(3, 'list'))).toEqual(unauthorized(3, [BASE]));
    expect(await refusalOf(await client.call(4, 'write'))).toEqual(unauthorized(4, NEEDED));
    // a bad token is refused even for what is public
    expect((await client.call(5, 'about', { headers: BAD })).status).toBe(401);
    expect(files.ran).toEqual(['about']);
    // a session belongs to the first who has one (#22)
    expect((await client.call(6, 'list', { headers: ANN })).status).toBe(200);
    if (client.stateless) return;
    const statuses = [];
    for (const headers of [NOBODY, BOB, ANN]) statuses.push((await client.call(7, 'about', { headers })).status);
    expect(statuses).toEqual([401, 404, 200]);
  });

  inEverySessionRevision("never lets anybody take over a principal's session [SESS-10]", async (revision) => {
    const { url } = await serveFiles(host, {}, new PublicFiles());
    const own = await HttpClient.open(url, revision, ANN);
    const { authorization: _token, ...stolen } = own.headers;
    const body = JSON.stringify(own.buildMessage(1, 'tools/list'));
    for (const [more, status] of [
      [{}, 401],
      [BOB, 404],
    ] as const) {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const headers = { accept: 'application/json, text/event-stream', ...JSON_TYPE, ...stolen, ...more };
        const [answer] = await raw(url, method, headers, method === 'POST' ? body : '');
        expect([method, answer.statusCode]).toEqual([method, status]);
        if (status === 401) expect(answer.headers['www-authenticate']).toBe(`Bearer scope="${BASE}"`);
      }
    }
    expect(await own.status()).toBe(200);
  });

  it('is told of members that are added while the server runs', async () => {
    const { url, server } = await serveFiles(host);
    expect((await post(url, initialize('2025-11-25'))).status).toBe(401);
    server.addTool({ name: 'hello', description: 'Says hello', public: true }, () => 'hello');
    const client = await HttpClient.open(url, '2025-11-25');
    expect((await client.call(1, 'hello')).status).toBe(200);
  });
});

type Authenticate = Auth['authenticate'];

const HELLO = initialize('2025-11-25');
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
const TRUSTED = { authorization: 'Bearer ann' };

/** An `authenticate` that asks a remote service, which answers on `open`. */
class Slow extends EventEmitter {
  readonly authenticate: Authenticate = async ({ headers }) => {
    if (headers['x-slow'] === undefined) return { subject: 'ann' };
    const opened = once(this, 'open');
    this.emit('asked');
    await opened;
    return { subject: 'ann' };
  };
}
const SLOW = { 'x-slow': 'yes' };

/** The principal that a handler sees. */
async function whoIs(client: HttpClient, headers: Fields = {}): Promise<unknown> {
  const { result } = await json(await client.call('who', 'who', { headers }));
  return (JSON.parse(result?.content?.[0]?.text ?? '') as { principal?: unknown }).principal;
}

const fails = (): never => {
  throw new Error('The secret store is down.');
};

overEveryHost('authenticate', (host) => {
  inAnyRevision('refuses callers before the body is read', async () => {
    const { url, log } = await serveFiles(host);
    for (const [headers, challenge] of [
      [{}, `Bearer scope="${BASE}"`],
      [BAD, 'Bearer error="invalid_token"'],
    ] as const) {
      const text = await (await Connection.open(url)).endless('POST', { ...JSON_TYPE, ...headers }).closed();
      expect(text).toMatch(/^HTTP\/1\.1 401 /);
      expect(text.toLowerCase()).toContain(`\r\nwww-authenticate: ${challenge.toLowerCase()}\r\n`);
    }
    expect(log).toEqual([]);
  });

  inEveryRevision('passes the principal to handlers', async (revision) => {
    const { url } = await serveOn(host, { auth: { authenticate: byToken } });
    const client = await HttpClient.open(url, revision, TRUSTED);
    expect(await whoIs(client)).toEqual({ subject: 'ann', scopes: ['read'] });
    const reader = await client.stream(1, 'steps');
    expect((await reader.rest()).at(-1)?.message).toMatchObject({ id: 1, result: {} });
  });

  inEveryRevision(
    'rejects with its own status, headers and body on every route and method [SESS-08]',
    async (revision) => {
      const { url, probe } = await serveOn(host, { auth: { authenticate: byToken }, legacySse: true });
      for (const door of await doorsOf(url, revision, TRUSTED)) {
        const { authorization: _token, ...headers } = door.headers;
        const [answer, text] = await raw(door.url, door.method, headers, door.body);
        // a preflight has no credentials, but must be answered
        const isPreflight = door.method === 'OPTIONS';
        const expected = isPreflight ? [204, ''] : [401, REFUSAL.body];
        expect([door.name, answer.statusCode, text]).toEqual([door.name, ...expected]);
        if (!isPreflight) expect(answer.headers).toMatchObject(REFUSAL.headers);
        expect([door.name, (await enter(door)).status]).toEqual([door.name, door.served]);
      }
      expect(probe.contexts).toEqual([]);
    },
  );

  inEverySessionRevision('is asked for the token of each request on a connection [SESS-08]', async (revision) => {
    const { url } = await serveOn(host, { auth: { authenticate: byToken } });
    const client = await HttpClient.open(url, revision, TRUSTED);
    const { authorization: _token, ...without } = client.headers;
    const { 'mcp-session-id': _id, ...stranger } = without;
    const list = client.buildMessage(1, 'tools/list');
    for (const [message, headers] of [
      [list, without],
      [initialize(revision), stranger],
    ] as const) {
      const connection = await Connection.open(url);
      for (const [posted, all, status] of [
        [list, client.headers, 200],
        [message, headers, 401],
      ] as const) {
        connection.text = '';
        connection.post(posted, { accept: 'application/json, text/event-stream', ...all });
        expect(await connection.until(/\r\n\r\n.*\}/s)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      }
    }
  });

  it('gets method, headers, address and the host’s request, once per request that passes the guard', async () => {
    const asked: unknown[] = [];
    const { url } = await serveOn(host, {
      auth: {
        authenticate: ({ method, url: path, headers, remoteAddress }, req) => {
          asked.push([method, path, headers['x-custom'], remoteAddress, typeof req]);
          return { subject: 'ann' };
        },
      },
    });
    const custom = { 'X-Custom': 'Yes' };
    await raw(url, 'POST', { ...JSON_TYPE, ...custom }, JSON.stringify(HELLO));
    for (const method of ['GET', 'DELETE']) await raw(url, method, custom);
    // requests rejected by the guard are not authenticated
    for (const foreign of [{ host: 'evil.example' }, { origin: 'http://evil.example' }])
      await raw(url, 'POST', { ...JSON_TYPE, ...foreign }, '{}');
    expect(asked).toEqual(['POST', 'GET', 'DELETE'].map((method) => [method, '/mcp', 'Yes', '127.0.0.1', 'object']));
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
      ...headers.map((each) => ({ status: 401, headers: each })),
    ];
    const wrong = [{}, { subject: '' }, 'ann', null, true, ...refusals];
    let found: unknown;
    const authenticate = ({ headers: { 'x-late': late } }: { headers: Fields }) =>
      late ? Promise.resolve(found) : found;
    const { url, errors, probe } = await serveOn(host, { auth: { authenticate: authenticate as Authenticate } });
    for (found of wrong) {
      for (const late of [{}, { 'x-late': 'yes' }]) {
        const [answer, text] = await raw(url, 'POST', { ...JSON_TYPE, ...late }, JSON.stringify(HELLO));
        const told = JSON.stringify(found);
        expect([told, answer.statusCode, text]).toEqual([told, 500, expect.stringContaining('"Internal error"')]);
      }
    }
    expect([errors.length, probe.contexts]).toEqual([2 * wrong.length, []]);
  });

  it.each<[string, HostOptions]>([
    ['throws', { auth: { authenticate: fails } }],
    ['rejects', { auth: { authenticate: async () => fails() } }],
    ['is the option `principal` and throws', { principal: fails }],
  ])('that %s is reported and answered with a masked 500', async (_how, options) => {
    const { url, errors, probe } = await serveOn(host, options);
    const [answer, text] = await raw(url, 'POST', JSON_TYPE, JSON.stringify(HELLO));
    const error = { code: -32603, message: 'Internal error' };
    expect([answer.statusCode, JSON.parse(text)]).toMatchObject([500, { jsonrpc: '2.0', error }]);
    expect([errors, probe.contexts]).toEqual([[new Error('The secret store is down.')], []]);
  });

  inTheStatelessRevision('that resolves after a disconnect runs nothing', async (revision) => {
    const auth = new Slow();
    const { url, probe, errors } = await serveOn(host, { auth });
    const client = await HttpClient.open(url, revision);
    const message = client.buildMessage(1, 'tools/call', { name: 'wait', arguments: {}, _meta: TOKEN });
    const connection = await Connection.open(url);
    const asked = once(auth, 'asked');
    connection.post(message, { ...client.headersOf(message), ...SLOW });
    await asked;
    connection.leave();
    // on other connections, because the earlier one is closed
    for (let n = 0; n < 3; n++) expect(await client.status()).toBe(200);
    auth.emit('open');
    for (let n = 0; n < 3; n++) expect(await client.status()).toBe(200);
    expect([probe.contexts.every(({ signal }) => signal.aborted), errors]).toEqual([true, []]);
  });

  it.each(['resolves after server.close() is answered with', 'never resolves does not block server.close(), but gets'])(
    'that %s 503',
    async (how) => {
      const auth = new Slow();
      const { url, server } = await serveOn(host, { auth, closeDeadlineMs: 20 });
      const asked = once(auth, 'asked');
      const answer = statusOf(url, SLOW, HELLO);
      await asked;
      const closing = server.close({ deadlineMs: how.startsWith('never') ? 20 : 1000 });
      if (!how.startsWith('never')) auth.emit('open');
      expect(await answer).toBe(503);
      await closing;
    },
  );
});

overEveryHost('principal', (host) => {
  const principal: HostOptions['principal'] = (header) => {
    const subject = header('x-user');
    return subject === undefined ? undefined : { subject };
  };

  inEveryRevision('gets the host’s own request and passes the principal to handlers', async (revision) => {
    const { url } = await serveOn(host, { principal });
    const client = await HttpClient.open(url, revision, { 'x-user': 'ann' });
    expect(await whoIs(client)).toEqual({ subject: 'ann' });
    expect(await whoIs(await HttpClient.open(url, revision))).toBeUndefined();
    if (client.stateless) expect(await whoIs(client, { 'x-user': 'bob' })).toEqual({ subject: 'bob' });
    else expect((await client.post(client.buildMessage(1, 'tools/list'), { 'x-user': 'bob' })).status).toBe(404);
  });

  inEveryRevision('answers 401 from the millisecond on in which it expires (#22)', async (revision) => {
    const wind = stopClock();
    const expiresAt = Date.now() + 60_000;
    const { url } = await serveOn(host, { principal: () => ({ subject: 'ann', expiresAt }) });
    const client = await HttpClient.open(url, revision);
    wind(59_999);
    expect(await client.status()).toBe(200);
    wind(1);
    const refused = await client.post(client.buildMessage(1, 'tools/list'));
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
    expect((await json(refused)).error).toMatchObject({ code: -32600, message: 'The credentials have expired.' });
  });

  it('cannot be combined with auth', async () => {
    const served = serveOn(host, { principal, auth: { authenticate: byToken } });
    await expect(served).rejects.toMatchObject({ code: 'DECORUM_INVALID_OPTION' });
  });
});
