// Judging callers: who gets 401, 403 or 400, when, and with which challenge.
import { once } from 'node:events';

import { expect, it } from '@jest/globals';
import type { JsonObject } from '@decorum/core';
import type { Auth, Denial } from '@decorum/http';

import { EventReader } from '../../packages/http/test/events.js';
import { type Fields, json, post, raw, request } from '../../packages/http/test/fixture.js';
import { HttpClient, initialize, SseClient, TOKEN } from '../support/http-client.js';
import { ANN, AUTH, as, BAD, BASE, BOB, PublicFiles, serveFiles, shut, WRITER } from './auth-fixture.js';
import { Connection } from './connection.js';
import {
  inEveryRevision,
  inEverySessionRevision,
  inTheFirstRevision,
  inAnyRevision,
  overEveryHost,
} from './contract.js';

/** The only revision in which messages can be sent together. */
const WITH_BATCHES = '2025-03-26';

const JSON_TYPE = { 'content-type': 'application/json' };
const NEEDED = [BASE, 'files:write'];
const LACKING = 'The caller lacks scopes that this request needs.';

/** Status, challenge and body of a refusal. */
async function refusalOf(response: Response): Promise<unknown[]> {
  return [response.status, response.headers.get('www-authenticate'), await json(response)];
}

const forbidden = (id: unknown, scopes: readonly string[]) => [
  403,
  `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`,
  { jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code: -32600, message: LACKING, data: { scopes } } },
];

const unauthorized = (id: unknown, scopes: readonly string[]) => [
  401,
  `Bearer scope="${scopes.join(' ')}"`,
  {
    jsonrpc: '2.0',
    ...(id !== undefined && { id }),
    error: { code: -32600, message: 'Authorization is required.', data: { scopes } },
  },
];

const callOf = (id: number, name: string, meta?: JsonObject) =>
  request(id, 'tools/call', { name, arguments: {}, ...(meta && { _meta: meta }) });

overEveryHost('auth', (host) => {
  inEveryRevision('refuses a caller without a token, and runs nothing [AUTHRS-07]', async (revision) => {
    const { url, files } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    const none = { authorization: undefined };
    expect(await refusalOf(await client.post(client.buildMessage(1, 'tools/list'), none))).toEqual(
      unauthorized(undefined, [BASE]),
    );
    const bad = await client.post(client.buildMessage(1, 'tools/call', { name: 'list', arguments: {} }), BAD);
    expect([bad.status, bad.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
    expect(await json(bad)).toMatchObject({ error: { code: -32600, message: 'Authentication is required.' } });
    expect(files.ran).toEqual([]);
  });

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

  inEveryRevision('names all scopes of an operation that the caller lacks scopes for [AUTHRS-12]', async (revision) => {
    const { url, files } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    for (const accept of [{}, { accept: 'text/event-stream' }]) {
      const response = await client.call(1, 'write', { headers: accept });
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await refusalOf(response)).toEqual(forbidden(1, NEEDED));
    }
    expect(await refusalOf(await client.call(2, 'purge', { headers: WRITER }))).toEqual(
      forbidden(2, [...NEEDED, 'files:admin']),
    );
    expect((await client.call(3, 'write', { headers: WRITER })).status).toBe(200);
    expect(files.ran).toEqual(['write']);
  });

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
    expect(events.at(-1)?.message).toMatchObject({
      id: 2,
      error: { code: -32600, data: { scopes: [BASE, 'project:7'] } },
    });
    expect((await client.call(3, 'project', { headers: as({ scopes: [BASE, 'project:7'] }) })).status).toBe(200);
    expect(files.ran).toEqual(['project']);
  });

  it('refuses a batch as a whole, with all scopes of its requests', async () => {
    const { url, files } = await serveFiles(host);
    const client = await HttpClient.open(url, WITH_BATCHES, ANN);
    const batch = (first: string, second: string) => [callOf(1, 'list'), callOf(2, first), callOf(3, second)];
    for (const second of ['purge', 'guarded']) {
      expect(await refusalOf(await client.post(batch('write', second)))).toEqual(
        forbidden(undefined, second === 'purge' ? [...NEEDED, 'files:admin'] : NEEDED),
      );
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
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    for (const others of [
      [],
      [{ jsonrpc: '2.0', id: 's1', result: {} }],
      [{ jsonrpc: '1.0', id: 2, method: 'ping' }],
      [request(3, 'nobody/knows')],
      // in flight
      [request(1, 'ping')],
    ]) {
      const batch = [...others, cancel];
      expect(await refusalOf(await client.post(batch, as({ scopes: ['other'] })))).toEqual(
        forbidden(undefined, [BASE]),
      );
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
      client.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, poor),
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
    const inSession = !client.stateless;
    expect(denials).toEqual([
      { reason: 'insufficient-scope', scopes: NEEDED, principal: { subject: 'ann', scopes: [BASE] }, inSession },
      { reason: 'unauthorized', scopes: [BASE], principal: undefined, inSession },
    ]);
  });

  inEverySessionRevision('tells `challenge` of a session, also where sessions are not kept', async (revision) => {
    const denials: Denial[] = [];
    const challenge = (denial: Denial) => {
      denials.push(denial);
      return { status: 403, headers: {} };
    };
    const { url } = await serveFiles(host, { sessions: false, auth: { ...AUTH, challenge } });
    const client = HttpClient.alone(url, revision);
    expect((await client.call(1, 'write', { headers: ANN })).status).toBe(403);
    // its client would lose scopes too, by asking for exactly those of a challenge
    expect(denials).toMatchObject([{ scopes: NEEDED, inSession: true }]);
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
  });

  inEveryRevision('keeps the token from handlers and logs [AUTHRS-09]', async (revision) => {
    const auth = { ...AUTH, credentialHeaders: ['x-my-key'] };
    const { url, files, log, errors } = await serveFiles(host, { auth });
    const seen: unknown[] = [];
    const headers = { ...ANN, 'x-my-key': 'a-key' };
    files.on('began', () =>
      seen.push(files.contexts.map(({ principal, transport }) => [principal, transport.headers])),
    );
    const client = await HttpClient.open(url, revision, headers);
    const began = once(files, 'began');
    const pending = client.call(1, 'wait');
    await began;
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
  });

  inTheFirstRevision('accepts a call on HTTP+SSE before its handler ends', async () => {
    const { url, files } = await serveFiles(host, { legacySse: true });
    const client = await SseClient.open(new URL('/sse', url).href, ANN);
    expect((await client.send(callOf(1, 'wait'))).status).toBe(202);
    files.emit('go');
    expect((await client.reader.message()).message).toMatchObject({ id: 1, result: {} });
  });

  it('does not start for scopes if nothing tells who calls', async () => {
    await expect(serveFiles(host, { auth: undefined as never })).rejects.toMatchObject({
      code: 'DECORUM_NO_AUTHORIZATION',
      message: expect.stringContaining('Pass `auth`'),
    });
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

overEveryHost('auth, with a public member,', (host) => {
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
  });

  inEverySessionRevision("never lets anybody take over a principal's session [SESS-10]", async (revision) => {
    const { url } = await serveFiles(host, {}, new PublicFiles());
    const own = await HttpClient.open(url, revision, ANN);
    const list = own.buildMessage(1, 'tools/list');
    const { authorization: _token, ...stolen } = own.headers;
    for (const [more, status] of [
      [{}, 401],
      [BOB, 404],
    ] as const) {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const headers = { accept: 'application/json, text/event-stream', ...JSON_TYPE, ...stolen, ...more };
        const [answer] = await raw(url, method, headers, method === 'POST' ? JSON.stringify(list) : '');
        expect([method, answer.statusCode]).toEqual([method, status]);
        if (status === 401) expect(answer.headers['www-authenticate']).toBe(`Bearer scope="${BASE}"`);
      }
    }
    expect(await own.status()).toBe(200);
  });

  inEverySessionRevision('gives an anonymous session to the first principal, for good (#22)', async (revision) => {
    const { url, server, files } = await serveFiles(host, {}, new PublicFiles());
    const client = await HttpClient.open(url, revision, NOBODY);
    const before = await client.listen();
    expect(await refusalOf(await client.call(1, 'list'))).toEqual(unauthorized(1, [BASE]));
    expect((await client.call(2, 'list', { headers: ANN })).status).toBe(200);
    // what was opened without a token ends
    await before.rest();
    const after = new EventReader(await client.get(ANN));
    expect((await after.message()).message?.method).toBe('notifications/tools/list_changed');
    const list = client.buildMessage(3, 'tools/list');
    for (const [other, status] of [
      [NOBODY, 401],
      [BOB, 404],
    ] as const) {
      expect([(await client.post(list, other)).status, (await client.get(other)).status]).toEqual([status, status]);
      expect(await client.end(other)).toBe(status);
    }
    server.notify.promptsChanged();
    while ((await after.message()).message?.method !== 'notifications/prompts/list_changed');
    expect((await client.call(4, 'about', { headers: ANN })).status).toBe(200);
    expect(files.ran).toEqual(['list', 'about']);
  });

  it('is told of members that are added while the server runs', async () => {
    const { url, server } = await serveFiles(host);
    expect((await post(url, initialize('2025-11-25'))).status).toBe(401);
    server.addTool({ name: 'hello', description: 'Says hello', public: true }, () => 'hello');
    const client = await HttpClient.open(url, '2025-11-25');
    expect((await client.call(1, 'hello')).status).toBe(200);
  });
});
