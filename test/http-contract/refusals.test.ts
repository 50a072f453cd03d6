// Rejected requests: the status, headers and body of each rejection, which no unread body may delay.
import { expect, it } from '@jest/globals';

import { type Fields, json } from '../../packages/http/test/messages.js';
import { post, raw } from '../../packages/http/test/sending.js';
import { ADD, type Door, doorsOf, enter, HttpClient, initialize, MALFORMED } from '../support/http-client.js';
import {
  connectTo,
  inEveryRevision,
  inEverySessionRevision,
  inTheStatelessRevision,
  inAnyRevision,
  overEveryHost,
  serveOn,
} from './contract.js';
import { Connection } from '../../packages/http/test/connection.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const APP = 'https://app.example.com';
const HELLO = JSON.stringify(initialize('2025-11-25'));

/** Status and error code of a rejection without a request id. */
async function refusal(response: Response) {
  const { id = null, error } = await json(response);
  return [response.status, error?.code, id];
}

/** The body of every rejection. */
const REFUSED = { jsonrpc: '2.0', error: { code: -32600, message: expect.any(String) } };

overEveryHost('400', (host) => {
  inEveryRevision('rejects a body that is not a JSON-RPC message', async (revision) => {
    const { client } = await connectTo(host, revision);
    for (const [body, code] of MALFORMED) {
      const [status, ...rest] = await refusal(await client.post(body));
      expect([String(body), status, ...rest]).toEqual([String(body), 400, code, null]);
    }
    expect(await client.status()).toBe(200);
  });
});

overEveryHost('403', (host) => {
  inEveryRevision(
    'rejects foreign hosts and origins on every route and method [HTTP-03] [HTTP-04] [HTTP-07] [SEC-12] [SSE-04]',
    async (revision) => {
      const { url } = await serveOn(host, { legacySse: true });
      const { port } = new URL(url);
      const [rebound, local] = [`evil.example:${port}`, `localhost:${port}`];
      const hosts = ['evil.example', rebound, 'localhost', `localhost.evil.example:${port}`];
      const origins = ['http://evil.example', 'http://localhost', `http://${local}.evil.example`, `http://${rebound}`];
      const foreign: Fields[] = [
        ...hosts.map((name) => ({ host: name })),
        ...origins.map((origin) => ({ host: local, origin })),
        // pages without an origin of their own: sandboxed frames, documents of data: and file: URLs
        ...['null', 'NULL', '', 'file://', 'data:'].map((origin) => ({ host: local, origin })),
        // such as a browser sends after DNS rebinding: to the page, both are its own
        { host: rebound, origin: `http://${rebound}` },
        { host: rebound, origin: `http://${local}`, 'x-forwarded-host': local },
      ];
      for (const door of await doorsOf(url, revision)) {
        for (const headers of foreign) {
          const { status, text } = await enter(door, headers);
          expect([door.name, headers, status, JSON.parse(text)]).toEqual([door.name, headers, 403, REFUSED]);
          expect(text).not.toMatch(/"result"|evil/);
        }
        for (const origin of ['http://evil.example', 'null']) {
          const asked = { origin, 'access-control-request-method': door.method };
          const [preflight] = await raw(door.url, 'OPTIONS', asked);
          expect([door.name, origin, preflight.statusCode]).toEqual([door.name, origin, 403]);
          expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
        }
        const own = { host: local, origin: `http://${local}` };
        expect([door.name, (await enter(door, own)).status]).toEqual([door.name, door.served]);
      }
    },
  );

  inTheStatelessRevision('rejects a malformed Host', async (revision) => {
    const { url } = await serveOn(host);
    const [door] = await doorsOf(url, revision);
    const { status, text } = await enter(door as Door, { host: 'a b' });
    expect([status, JSON.parse(text)]).toEqual([403, REFUSED]);
  });

  inEveryRevision('rejects a foreign Origin on a connection with valid requests too', async (revision) => {
    const { client, url } = await connectTo(host, revision);
    const { origin, port } = new URL(url);
    const message = client.buildMessage(1, 'tools/list');
    for (const foreign of ['http://evil.example', `http://localhost:${port}0`, 'null']) {
      const connection = await Connection.open(url);
      for (const more of [{}, { origin }, {}, { origin: foreign }]) {
        connection.text = '';
        connection.post(message, { accept: 'application/json', ...client.headersOf(message), ...more });
        const expected = more.origin === foreign ? /^HTTP\/1\.1 403 [^]*"error"/ : /^HTTP\/1\.1 200 [^]*"result"/;
        expect([more, await connection.until(/\r\n\r\n[^]*\}/)]).toEqual([more, expect.stringMatching(expected)]);
      }
      expect(connection.text).not.toMatch(/access-control-allow-origin|"id":1/i);
    }
  });

  it('does not reject allowed hosts', async () => {
    const { url } = await serveOn(host, { allowedHosts: ['mcp.example.com', 'other.example.com:8443'] });
    for (const name of ['mcp.example.com', 'MCP.example.com:443', 'other.example.com:8443', 'other.example.com']) {
      const [{ statusCode }] = await raw(url, 'POST', { ...JSON_TYPE, host: name }, HELLO);
      expect([name, statusCode]).toEqual([name, name === 'other.example.com' ? 403 : 200]);
    }
  });
});

overEveryHost('CORS', (host) => {
  inEveryRevision('lets pages of an allowed origin send and read MCP headers [HTTP-42]', async (revision) => {
    const { client, url } = await connectTo(host, revision, { allowedOrigins: [APP] });
    const wanted =
      'content-type, authorization, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id';
    const [preflight, text] = await raw(url, 'OPTIONS', {
      origin: APP,
      'access-control-request-method': 'POST',
      'access-control-request-headers': `${wanted}, x-other`,
    });
    expect([preflight.statusCode, text]).toEqual([204, '']);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      'access-control-allow-headers': wanted,
      vary: expect.stringContaining('Origin'),
    });
    const headers = { origin: APP };
    const stream = client.stateless
      ? client.call(1, 'steps', { meta: { progressToken: 1 }, headers })
      : client.get(headers);
    const add = await client.call(1, 'add', { args: ADD, headers });
    const answers = [add, await stream, await client.post('{', headers)];
    for (const { status, headers: got } of answers) {
      const names = ['access-control-allow-origin', 'access-control-expose-headers', 'vary'];
      const found = names.map((name) => got.get(name));
      expect([status, ...found]).toEqual([status, APP, 'Mcp-Session-Id, WWW-Authenticate', 'Origin']);
    }
    for (const { body } of answers) await body?.cancel();
    // but no others, nor those without an origin
    for (const [other, status] of [
      [{ origin: 'http://evil.example' }, 403],
      [{}, 200],
    ] as const) {
      const answer = await client.call(2, 'add', { args: ADD, headers: other });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, null]);
    }
  });
});

overEveryHost('404 and 405', (host) => {
  it('reject other paths and other methods, and 405 names the allowed ones', async () => {
    const { url } = await serveOn(host);
    expect((await post(new URL('/other', url).href, HELLO)).status).toBe(404);
    for (const method of ['PUT', 'PATCH', 'HEAD']) {
      const [answer, text] = await raw(url, method, method === 'HEAD' ? {} : JSON_TYPE, method === 'HEAD' ? '' : HELLO);
      expect([method, answer.statusCode, answer.headers.allow]).toEqual([method, 405, 'GET, POST, DELETE']);
      if (method === 'HEAD') expect(text).toBe('');
      else expect(JSON.parse(text)).toMatchObject(REFUSED);
    }
    const { url: sessionless } = await serveOn(host, { sessions: false });
    for (const method of ['PUT', 'HEAD', 'GET', 'DELETE']) {
      const [answer] = await raw(sessionless, method, { accept: 'text/event-stream' });
      expect([method, answer.statusCode, answer.headers.allow]).toEqual([method, 405, 'POST']);
    }
  });
});

overEveryHost('406, 413 and 415', (host) => {
  inEveryRevision('reject by Accept, size, depth and Content-Type [HTTP-41] [SEC-16]', async (revision) => {
    const { client, hits, url } = await connectTo(host, revision, { limits: { bodyLimit: 2000 } });
    for (const accept of ['text/html', 'application/json;q=0', '']) {
      const response = await client.call(1, 'add', { args: ADD, headers: { accept } });
      expect([accept, response.status, (await json(response)).error?.code]).toEqual([accept, 406, -32600]);
    }
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/json'];
    for (const type of [...types, 'application/jsonp', 'application/json+x', 'text/plain; application/json']) {
      const response = await client.call(1, 'add', { args: ADD, headers: { 'content-type': type } });
      expect([type, ...(await refusal(response))]).toEqual([type, 415, -32600, null]);
    }
    const empty = await fetch(url, { method: 'POST', headers: { 'content-type': 'text/plain' } });
    expect(await refusal(empty)).toEqual([415, -32600, null]);
    const large = await client.call(1, 'add', { args: { a: 'x'.repeat(2000) } });
    expect(await refusal(large)).toEqual([413, -32600, null]);
    expect(hits).toEqual([{ limit: 'bodyLimit', remoteAddress: '127.0.0.1' }]);
    const deep = JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`) as unknown;
    expect((await client.call(1, 'add', { args: { a: deep } })).status).toBe(400);
    expect((await client.call(1, 'add', { args: ADD })).status).toBe(200);
    for (const type of ['Application/JSON', 'application/json;charset=UTF-8', 'application/json ; x=y']) {
      const { status } = await client.call(1, 'add', { args: ADD, headers: { 'content-type': type } });
      expect([type, status]).toEqual([type, 200]);
    }
    if (client.stateless) return;
    const streams = ['*/*', 'Text/*', 'application/json;q=0, text/event-stream;q=0.1'];
    for (const accept of [...streams, 'application/json', 'text/event-stream;q=0', '']) {
      const { status, body } = await client.get({ accept });
      expect([accept, status]).toEqual([accept, streams.includes(accept) ? 200 : 406]);
      await body?.cancel();
    }
  });

  inAnyRevision('reject a large body that does not declare its length', async () => {
    const { url } = await serveOn(host, { limits: { bodyLimit: 2000 } });
    const [answer, text] = await raw(url, 'POST', { ...JSON_TYPE, 'transfer-encoding': 'chunked' }, 'x'.repeat(3000));
    expect([answer.statusCode, JSON.parse(text)]).toMatchObject([413, REFUSED]);
  });
});

overEveryHost('429 and 503', (host) => {
  inEverySessionRevision('reject too many streams and too many sessions', async (revision) => {
    const { client, url, hits } = await connectTo(host, revision, { limits: { maxStreams: 2, maxSessions: 1 } });
    const [first] = [await client.listen(), await client.listen()];
    for (const [answer, status] of [
      [await client.get(), 429],
      [await post(url, initialize(revision)), 503],
    ] as const) {
      expect(answer.headers.get('retry-after')).toBe('10');
      expect((await refusal(answer)).slice(0, 2)).toEqual([status, -32600]);
    }
    const hit = { remoteAddress: '127.0.0.1' };
    expect(hits).toEqual(['maxStreams', 'maxSessions'].map((limit) => ({ limit, ...hit })));
    expect(await client.status()).toBe(200);
    await first.cancel();
    // until the server has noticed
    let next = await client.get();
    for (; next.status === 429; next = await client.get()) await next.text();
    expect(next.status).toBe(200);
    await next.body?.cancel();
  });

  inEverySessionRevision('are avoided by evicting an idle session, if there is one [SESS-05]', async (revision) => {
    const { client, url } = await connectTo(host, revision, { limits: { maxSessions: 1 } });
    const next = await HttpClient.open(url, revision);
    expect([await client.status(), await next.status()]).toEqual([404, 200]);
  });
});

overEveryHost('a body that never ends', (host) => {
  inAnyRevision('gets 408 after bodyTimeoutMs', async () => {
    const { url, errors, hits } = await serveOn(host, { limits: { bodyTimeoutMs: 40 } });
    const trickling = (await Connection.open(url)).endless('POST', JSON_TYPE);
    const silent = await Connection.open(url);
    silent.head('POST', JSON_TYPE, 1000);
    for (const connection of [trickling, silent]) {
      const text = await connection.closed();
      expect(text).toMatch(/^HTTP\/1\.1 408 [^]*\r\nconnection: close\r\n[^]*"code":-32600/i);
    }
    expect([errors, hits.map(({ limit }) => limit)]).toEqual([[], ['bodyTimeoutMs', 'bodyTimeoutMs']]);
  });

  const cases: [method: string, headers: Fields, status: number][] = [
    ['PUT', JSON_TYPE, 405],
    ['HEAD', {}, 405],
    ['PATCH', JSON_TYPE, 405],
    ['POST', { 'content-type': 'text/plain' }, 415],
    ['DELETE', { 'content-type': 'text/plain' }, 415],
    ['OPTIONS', { 'content-type': 'text/plain' }, 415],
    ['POST', { ...JSON_TYPE, host: 'evil.example' }, 403],
    ['POST', { ...JSON_TYPE, origin: 'http://evil.example' }, 403],
    ['GET', { accept: 'text/html' }, 400],
  ];

  inAnyRevision('does not delay the answer to a request that is rejected', async () => {
    const { url } = await serveOn(host);
    const answers = cases.map(
      async ([method, headers]) => await (await Connection.open(url)).endless(method, headers).closed(),
    );
    for (const [index, text] of (await Promise.all(answers)).entries()) {
      const [method, headers, status] = cases[index] as (typeof cases)[number];
      const expected = new RegExp(`^HTTP/1.1 ${status} [^]*\r\nconnection: close\r\n`, 'i');
      expect([method, headers, text]).toEqual([method, headers, expect.stringMatching(expected)]);
    }
  });

  inAnyRevision('needs a content type that is announced like the body', async () => {
    const { url } = await serveOn(host);
    for (const method of ['POST', 'DELETE']) {
      const announced = await Connection.open(url);
      announced.head(method, {}, 9);
      for (const connection of [announced, (await Connection.open(url)).endless(method, {})]) {
        expect(await connection.closed()).toMatch(/^HTTP\/1\.1 415 [^]*\r\nconnection: close\r\n/i);
      }
    }
  });

  it('is the only reason to close a connection', async () => {
    const { url } = await serveOn(host);
    const connection = await Connection.open(url);
    for (const [method, status] of [
      ['PUT', 405],
      ['GET', 400],
    ] as const) {
      connection.text = '';
      connection.head(method, {}, 0);
      expect(await connection.until(/\r\n\r\n[^]*\}/)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    }
    connection.text = '';
    connection.post(initialize('2025-11-25'), {});
    expect(await connection.until(/"result"/)).toMatch(/^HTTP\/1\.1 200 /);
  });
});
