import { once } from 'node:events';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { request as httpRequest, type IncomingMessage } from 'node:http';

import { describe, expect } from '@jest/globals';
import { McpError } from '@decorum/core';
import { mcp } from '@decorum/http';
import fastify from 'fastify';

import { EventReader } from '../../packages/http/test/events.js';
import { afterwards, createServer, type Fields, json, Probe, serve } from '../../packages/http/test/fixture.js';
import { eachRevision, eachSessionRevision, inStateless, type Revision } from '../support/requirements.js';
import { ADD, carried, doorsOf, enter, HttpClient, initialize, MALFORMED, SseClient, TOKEN } from './http-client.js';

const EVIL = 'http://evil.example';
const NOTICE = { jsonrpc: '2.0', method: 'notifications/whatever', params: {} };
const ANSWER = { jsonrpc: '2.0', id: 'nobody asked', result: {} };
const REFUSAL = { jsonrpc: '2.0', id: 0, error: { code: -1, message: 'No' } };

/** Connects a client of the revision. */
async function connect(revision: Revision, options: Parameters<typeof serve>[0] = {}) {
  const served = await serve(options);
  return { ...served, client: await HttpClient.open(served.url, revision) };
}

/** Status and error code of a rejection without a request id. */
async function refusal(response: Response) {
  const { id = null, error } = await json(response);
  return { status: response.status, code: error?.code, id };
}

/** Origins of other sites, and of other servers on this machine. */
const originsBut = (port: number): Fields[] =>
  [
    EVIL,
    'null',
    '',
    'http://localhost',
    'http://localhost.evil.example',
    `${EVIL}, ${EVIL}`,
    `${EVIL}:${port}`,
    `http://localhost.evil.example:${port}`,
    `http://notlocalhost:${port}`,
    `http://127.0.0.1.evil.example:${port}`,
    `http://localhost:${port}@evil.example`,
    `http://localhost:${port}.evil.example`,
    `http://localhost:${port}0`,
    `http://localhost:${port - 1}`,
    `ftp://localhost:${port}`,
  ].map((origin) => ({ origin }));

/** Names of other hosts, and of other servers on this machine. */
const hostsBut = (port: number): Fields[] =>
  [
    'evil.example:3000',
    `evil.example:${port}`,
    `localhost.evil.example:${port}`,
    `notlocalhost:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `127.0.0.1:${port}.evil.example`,
    `127.0.0.1:${port}0`,
    `localhost:${port}0`,
    `localhost:${port - 1}`,
    'localhost',
    'localhost:',
  ].map((host) => ({ host }));

/** Tries all entry points with foreign headers, and then without. */
async function tryDoors(revision: Revision, foreignTo: (port: number) => readonly Fields[]): Promise<Tried[]> {
  const { url, port } = await serve({ legacySse: true });
  const doors = await doorsOf(url, revision);
  const refused: Tried[] = [];
  for (const headers of foreignTo(port)) {
    for (const door of doors) refused.push({ door: door.name, headers, ...(await enter(door, headers)) });
  }
  for (const door of doors) expect([door.name, (await enter(door)).status]).toEqual([door.name, door.served]);
  return refused;
}

interface Tried {
  readonly door: string;
  readonly headers: Fields;
  readonly status: number;
  readonly text: string;
}

describe('the endpoint', () => {
  eachSessionRevision('HTTP-01', 'is one path for POST and GET', async (revision) => {
    const { client } = await connect(revision);
    const posted = await client.call(1, 'add', { args: ADD });
    expect([posted.status, (await json(posted)).result?.content?.[0]?.text]).toEqual([200, '3']);
    const { response } = await client.listen();
    expect([response.status, response.url]).toEqual([200, posted.url]);
  });

  inStateless('HTTP-02', 'is one path for POST', async () => {
    const { client } = await connect('2026-07-28');
    const posted = await client.call(1, 'add', { args: ADD });
    expect([posted.status, (await json(posted)).result?.content?.[0]?.text]).toEqual([200, '3']);
    const listed = await client.post(client.buildMessage(2, 'tools/list'));
    expect([listed.status, listed.url]).toEqual([200, posted.url]);
  });

  eachRevision('HTTP-05', 'is reachable only from this machine by default', async (revision) => {
    const { client, port, url } = await connect(revision, { legacySse: true });
    expect(await client.status()).toBe(200);
    if (revision === '2024-11-05') expect((await SseClient.open(new URL('/sse', url).href)).reader.ended).toBe(false);
    const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const others = all.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
    // a server on all interfaces would also listen on a second loopback address
    for (const address of ['127.0.0.2', ...others]) {
      await expect(fetch(`http://${address}:${port}/mcp`)).rejects.toThrow('fetch failed');
    }
  });

  eachRevision('HTTP-05', 'is reachable only from this machine whatever the other options are', async (revision) => {
    for (const options of [
      { allowedHosts: ['mcp.example.com'], allowedOrigins: ['https://app.example.com'] },
      { sessions: false, path: '/other' },
      { auth: { authenticate: () => ({ subject: 'ann' }) } },
      { host: 'localhost', keepAliveMs: 1000 },
    ]) {
      const { url, port } = await serve(options);
      const { hostname } = new URL(url);
      expect(['127.0.0.1', 'localhost', '[::1]']).toContain(hostname);
      const client = HttpClient.alone(url, revision);
      const hello = client.stateless ? client.buildMessage('hello', 'tools/list') : initialize(revision);
      expect((await client.post(hello)).status).toBe(200);
      await expect(fetch(`http://127.0.0.2:${port}/mcp`)).rejects.toThrow('fetch failed');
    }
  });

  eachRevision('SEC-11', 'listens on the loopback address by default, or on a Unix socket', async (revision) => {
    const { url, port } = await serve();
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
    await expect(fetch(`http://127.0.0.2:${port}/mcp`)).rejects.toThrow('fetch failed');
    const { server } = createServer(new Probe());
    const app = fastify({ forceCloseConnections: true });
    afterwards(async () => {
      await app.close();
      await server.close();
    });
    await app.register(mcp, { server });
    const socketPath = join(tmpdir(), `decorum-${process.pid}-${revision}.sock`);
    await app.listen({ path: socketPath });
    const client = HttpClient.alone(url, revision);
    const message = client.buildMessage(1, client.stateless ? 'server/discover' : 'initialize', {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: 'local', version: '1' },
    });
    const headers = { 'content-type': 'application/json', ...client.headersOf(message) };
    const sent = httpRequest({ socketPath, path: '/mcp', method: 'POST', headers, agent: false });
    sent.end(JSON.stringify(message));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
  });
});

describe('a page of another origin', () => {
  eachRevision('HTTP-03', 'is rejected at every entry point', async (revision) => {
    for (const { text: _text, ...tried } of await tryDoors(revision, originsBut)) {
      expect(tried).toEqual({ ...tried, status: 403 });
    }
  });

  eachRevision('HTTP-04', 'is answered with 403, and at most an error without an id', async (revision) => {
    for (const { text, ...tried } of await tryDoors(revision, originsBut)) {
      expect(tried).toEqual({ ...tried, status: 403 });
      const message = JSON.parse(text) as object;
      expect(message).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } });
      expect(message).not.toHaveProperty('id');
    }
  });

  eachRevision('HTTP-42', 'may send and read MCP headers if it is allowed', async (revision) => {
    const origin = 'https://app.example.com';
    const { client, url } = await connect(revision, { allowedOrigins: [origin] });
    const wanted =
      'content-type, authorization, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name';
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': `${wanted}, mcp-param-region, x-other`,
      },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    expect(preflight.headers.get('access-control-allow-headers')).toBe(`${wanted}, mcp-param-region`);
    const answer = await client.call(1, 'add', { args: ADD, headers: { origin } });
    await answer.text();
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-expose-headers')).toBe('Mcp-Session-Id, WWW-Authenticate');
  });
});

describe('a request to another host', () => {
  eachRevision('HTTP-07', 'is rejected at every entry point', async (revision) => {
    for (const { text: _text, ...tried } of await tryDoors(revision, hostsBut)) {
      expect(tried).toEqual({ ...tried, status: 403 });
    }
  });
});

describe('DNS rebinding', () => {
  eachRevision('SEC-12', 'fails with the Host and with the Origin of another site', async (revision) => {
    const [host, origin] = ['app.example.com', 'https://app.example.com'];
    const { url, port } = await serve({ legacySse: true, allowedHosts: [host], allowedOrigins: [origin] });
    const foreign: Fields[] = [
      { host: 'evil.example' },
      { host: `evil.example:${port}` },
      { origin: EVIL },
      // sent by browsers after DNS rebinding
      { host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
      { host: 'evil.example', 'x-forwarded-host': `localhost:${port}`, forwarded: `host=localhost:${port}` },
      { host: `localhost.evil.example:${port}`, origin: `http://localhost:${port}` },
      { host: `127.0.0.1:${port}.evil.example` },
      { host: `127.0.0.1:${port}0` },
      { origin: `http://localhost.evil.example:${port}` },
      { origin: 'null' },
      // similar to what is allowed
      ...[`${host}.evil.example`, `evil${host}`, `evil.${host}`].map((similar) => ({ host: similar })),
      ...[`${origin}.evil.example`, `${origin}:444`, `${origin}/`].map((similar) => ({ origin: similar })),
      ...['http://app.example.com', 'https://evil.app.example.com', host].map((similar) => ({ origin: similar })),
    ];
    const doors = await doorsOf(url, revision);
    for (const headers of foreign) {
      for (const door of doors) {
        const { status, text } = await enter(door, headers);
        expect([door.name, headers, status]).toEqual([door.name, headers, 403]);
        expect(text).not.toMatch(/evil|"result"/);
      }
    }
    // the session and its stream have not ended, and local and allowed requests are accepted
    for (const headers of [{}, { host: `localhost:${port}`, origin: `http://localhost:${port}` }, { host, origin }]) {
      const open = doors.filter(({ method }) => method !== 'DELETE');
      for (const door of open) {
        expect([door.name, (await enter(door, headers)).status]).toEqual([door.name, door.served]);
      }
    }
  });
});

describe('a POST', () => {
  eachSessionRevision(
    'HTTP-08',
    'has a request, a notification, a response or, in revisions with batches, a batch',
    async (revision) => {
      const { client } = await connect(revision);
      const request = client.buildMessage(1, 'ping');
      const answered = await client.post(request);
      expect([answered.status, await answered.json()]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }]);
      for (const message of [NOTICE, ANSWER, REFUSAL]) expect((await client.post(message)).status).toBe(202);
      const batch = await client.post([request, NOTICE, ANSWER, client.buildMessage(2, 'ping')]);
      if (revision === '2025-03-26') {
        expect(batch.status).toBe(200);
        expect(((await batch.json()) as { id: unknown }[]).map(({ id }) => id).sort()).toEqual([1, 2]);
      } else {
        expect(await refusal(batch)).toEqual({ status: 400, code: -32600, id: null });
      }
    },
  );

  inStateless('HTTP-09', 'has a request or a notification, but no response', async () => {
    const { client } = await connect('2026-07-28');
    expect((await client.post(client.buildMessage(1, 'tools/list'))).status).toBe(200);
    expect((await client.post(NOTICE)).status).toBe(202);
    const error = { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'no' } };
    for (const message of [ANSWER, error]) {
      expect(await refusal(await client.post(message))).toMatchObject({ status: 400, code: -32600 });
    }
    const batch = await client.post([client.buildMessage(1, 'tools/list')]);
    expect(await refusal(batch)).toMatchObject({ status: 400, code: -32600 });
  });

  eachRevision('HTTP-10', 'that needs no response is answered with 202 and no body', async (revision) => {
    const { client } = await connect(revision);
    const { params } = client.buildMessage(1, 'x');
    const notices = [
      NOTICE,
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { ...params, requestId: 9 } },
    ];
    for (const message of client.stateless ? notices : [...notices, ANSWER, REFUSAL]) {
      for (const accept of [undefined, 'application/json', 'text/event-stream', '*/*']) {
        const response = await client.post(message, accept === undefined ? {} : { accept });
        expect([accept, response.status, await response.text()]).toEqual([accept, 202, '']);
        expect(response.headers.get('content-type')).toBeNull();
      }
    }
  });

  eachRevision(
    'HTTP-11',
    'that is not acceptable is answered with an HTTP error, and at most a JSON-RPC error without an id',
    async (revision) => {
      const { client } = await connect(revision);
      for (const [body, code] of MALFORMED) {
        const response = await client.post(body);
        expect([String(body), await refusal(response)]).toEqual([String(body), { status: 400, code, id: null }]);
      }
      // also if the message has an id
      for (const wrong of [
        { jsonrpc: '1.0' },
        { jsonrpc: 2 },
        { method: 7 },
        { method: null },
        { jsonrpc: undefined },
      ]) {
        for (const id of [7, 0, '', 'x']) {
          const body = { ...client.buildMessage(id, 'tools/list'), ...wrong };
          expect([body, await refusal(await client.post(body))]).toEqual([body, { status: 400, code: -32600, id }]);
        }
      }
    },
  );

  eachRevision('HTTP-12', 'with a request is answered with JSON or with an event stream', async (revision) => {
    const { client } = await connect(revision);
    const typeOf = async (name: string, headers: Fields = {}) => {
      const response = await client.call(name, name, { args: name === 'add' ? ADD : {}, meta: TOKEN, headers });
      const type = response.headers.get('content-type') as string;
      const text = await response.text();
      expect([response.status, text.includes(`"id":"${name}"`), text.includes('"result"')]).toEqual([200, true, true]);
      expect(text.startsWith('{')).toBe(type.startsWith('application/json'));
      return type.split(';')[0];
    };
    expect(await typeOf('add')).toBe('application/json');
    expect(await typeOf('steps')).toBe('text/event-stream');
    expect(await typeOf('steps', { accept: 'application/json' })).toBe('application/json');
    expect(await typeOf('steps', { accept: '*/*;q=0, text/event-stream;q=0, application/json' })).toBe(
      'application/json',
    );
    expect(await typeOf('steps', { accept: 'Text/Event-Stream;q=0.5 , APPLICATION/JSON' })).toBe('text/event-stream');
    expect(await typeOf('add', { accept: 'text/event-stream' })).toBe('text/event-stream');
  });

  eachRevision('HTTP-13', 'must accept JSON or event streams, or else the answer is 406', async (revision) => {
    const { client } = await connect(revision);
    const statusOf = async (accept: string) => {
      const response = await client.call(1, 'add', { args: ADD, headers: { accept } });
      await response.text();
      return response.status;
    };
    // a weight has up to three digits (RFC 9110, section 12.4.2)
    const refused = ['', '.', '.0', '.00', '.000'].map((digits) => `application/json;q=0${digits}`);
    const others = ['text/html', 'image/*', '', '*/*;q=0', 'application/json; q=0.0, text/event-stream; q=0.000'];
    for (const accept of [...refused, ...others]) expect([accept, await statusOf(accept)]).toEqual([accept, 406]);
    for (const accept of [
      '*/*',
      'application/json',
      'text/event-stream, application/json',
      'a/b, */*;q=0.1',
      'application/json;q=0.001',
      'application/*',
      'text/*',
      'Application/JSON',
      'TEXT/EVENT-STREAM;charset=utf-8',
      'text/html ,application/json ; Q=0.5',
    ]) {
      expect([accept, await statusOf(accept)]).toEqual([accept, 200]);
    }
  });

  eachRevision('HTTP-41', 'is JSON of limited size, or else the answer is 415 or 413', async (revision) => {
    const { client } = await connect(revision, { limits: { bodyLimit: 2000 } });
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'text/json', 'json', '*/*'];
    types.push('application/jsonp', 'application/json-seq', 'application/json+x', 'text/plain; application/json');
    for (const type of [...types, 'application/json, text/plain', 'text/plain, application/json']) {
      const response = await client.call(1, 'add', { args: ADD, headers: { 'content-type': type } });
      expect(await refusal(response)).toMatchObject({ status: 415, code: -32600 });
    }
    const large = await client.call(1, 'add', { args: { a: 'x'.repeat(2000) } });
    expect(await refusal(large)).toMatchObject({ status: 413, code: -32600 });
    // exactly as large as it may be, and one byte more
    const whole = (size: number) => {
      const text = JSON.stringify(
        client.buildMessage(1, 'tools/call', { name: 'add', arguments: { ...ADD, more: '@' } }),
      );
      return text.replace('@', 'x'.repeat(size - text.length + 1));
    };
    const own = client.headersOf(client.buildMessage(1, 'tools/call', { name: 'add' }));
    for (const [size, status] of [
      [1999, 200],
      [2000, 200],
      [2001, 413],
    ] as const) {
      const response = await client.post(whole(size), own);
      expect([size, response.status]).toEqual([size, status]);
      await response.text();
    }
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json;charset=UTF-8',
      'application/json ; x=y',
    ]) {
      const response = await client.call(1, 'add', { args: ADD, headers: { 'content-type': type } });
      expect([type, response.status]).toEqual([type, 200]);
    }
  });
});

describe('the stream of a request', () => {
  eachSessionRevision('HTTP-14', 'has the response to each request of the POST', async (revision) => {
    const { client } = await connect(revision);
    const one = await (await client.stream('one', 'steps')).rest();
    expect(carried(one)).toEqual([1, 2, 3, 'one']);
    if (revision !== '2025-03-26') return;
    const steps = { name: 'steps', _meta: TOKEN };
    const batch = [
      client.buildMessage('a', 'tools/call', steps),
      client.buildMessage('b', 'ping'),
      client.buildMessage('c', 'tools/call', steps),
      client.buildMessage('d', 'no/method'),
      client.buildMessage('e', 'tools/call', { name: 'fail' }),
      { ...client.buildMessage('f', 'ping'), params: [] },
    ];
    const messages = (await new EventReader(await client.post(batch)).rest()).flatMap(({ message }) => message ?? []);
    expect(
      messages
        .flat()
        .flatMap(({ id }) => (id === undefined ? [] : [id]))
        .sort(),
    ).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  eachSessionRevision('HTTP-15', 'has the messages of the request before the response', async (revision) => {
    const { client, server } = await connect(revision);
    server.addTool({ name: 'reach', input: { type: 'object' } }, async (_input: object, context) => {
      context.progress(1);
      await context.ping();
      return 'there';
    });
    const reader = await client.stream(5, 'reach');
    expect((await reader.message()).message).toMatchObject({ method: 'notifications/progress' });
    const { message: question } = await reader.message();
    expect(question).toMatchObject({ id: expect.anything(), method: 'ping' });
    expect((await client.post({ jsonrpc: '2.0', id: question?.id, result: {} })).status).toBe(202);
    expect(carried(await reader.rest())).toEqual([5]);
  });

  const ownMessages = async (revision: Revision) => {
    const { client, server, probe } = await connect(revision);
    if (!client.stateless) await client.post(client.buildMessage(0, 'resources/subscribe', { uri: 'docs://guide' }));
    const wanted = { notifications: { toolsListChanged: true, resourceSubscriptions: ['docs://guide'] } };
    const elsewhere = client.stateless
      ? new EventReader(await client.post(client.buildMessage('sub', 'subscriptions/listen', wanted)))
      : await client.listen();
    const readers = [];
    for (const token of ['a', 'b']) {
      const began = once(probe, 'began');
      readers.push(await client.stream(token, 'stream', { meta: { progressToken: token } }));
      await began;
    }
    server.notify.resourceUpdated('docs://guide');
    server.notify.toolsChanged();
    const changed = 'notifications/tools/list_changed';
    while ((await elsewhere.message()).message?.method !== changed);
    for (const [index, context] of probe.contexts.entries()) context.progress(index + 2);
    probe.emit('go');
    const [a, b] = await Promise.all(readers.map((reader) => reader.rest()));
    const tokens = [a, b].map((events) => events?.flatMap(({ message }) => message?.params?.['progressToken'] ?? []));
    expect(tokens).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
    expect([carried(a ?? []), carried(b ?? [])]).toEqual([
      [1, 2, 'a'],
      [1, 3, 'b'],
    ]);
  };

  eachSessionRevision('HTTP-16', 'has only messages of its request', ownMessages);

  inStateless('HTTP-17', 'has only messages of its request', () => ownMessages('2026-07-28'));

  eachSessionRevision('HTTP-16', 'has no other messages, even if nothing else is open', async (revision) => {
    const { client, server, probe, url } = await connect(revision);
    await client.post(client.buildMessage(0, 'resources/subscribe', { uri: 'docs://guide' }));
    const witness = await (await HttpClient.open(url, revision)).listen();
    const began = once(probe, 'began');
    const reader = await client.stream('own', 'stream');
    await began;
    server.notify.resourceUpdated('docs://guide');
    server.notify.toolsChanged();
    expect((await witness.message()).message?.method).toBe('notifications/tools/list_changed');
    probe.emit('go');
    expect(carried(await reader.rest())).toEqual([1, 'own']);
  });

  eachSessionRevision('HTTP-18', 'stays open until the response, unless the handler closes it', async (revision) => {
    const { client, probe } = await connect(revision);
    const reader = await client.stream(7, 'stream');
    expect(carried([await reader.message()])).toEqual([1]);
    const next = reader.next();
    const early = Symbol('nothing has come');
    expect(await Promise.race([next, client.status().then(() => early)])).toBe(early);
    probe.emit('go');
    expect((await next)?.message).toMatchObject({ id: 7, result: { content: [{ text: 'let go' }] } });
    const began = once(probe, 'began');
    const pending = client.call(8, 'poll');
    await began;
    probe.emit('go');
    expect(await json(await pending)).toMatchObject({ id: 8, result: { content: [{ text: 'let go' }] } });
  });

  const endsWithResponse = async (revision: Revision) => {
    const { client, server } = await connect(revision);
    for (const kind of ['invalid-params', 'missing-capability'] as const)
      server.addTool({ name: kind, input: { type: 'object' } }, async (_input: object, context) => {
        context.progress(1);
        await Promise.reject(new McpError(kind, 'No.'));
      });
    // its response leaves the reader behind
    server.addTool({ name: 'large', input: { type: 'object' } }, (_input: object, context) => {
      context.progress(1);
      return 'x'.repeat(1_000_000);
    });
    for (const name of ['steps', 'add', 'invalid-params', 'missing-capability', 'fail', 'no-such-tool', 'large']) {
      const reader = await client.stream(name, name, { args: ADD, headers: { accept: 'text/event-stream' } });
      const events = await reader.rest();
      expect([carried(events).at(-1), reader.ended]).toEqual([name, true]);
      if (client.stateless) continue;
      // also if it is resumed
      const resumed = await client.listen(events.find(({ id }) => id)?.id?.replace(/\d+$/, '0'));
      expect([carried(await resumed.rest()).at(-1), resumed.ended]).toEqual([name, true]);
    }
  };

  eachSessionRevision('HTTP-19', 'ends with the response', endsWithResponse);

  inStateless('HTTP-20', 'ends with the response', () => endsWithResponse('2026-07-28'));
});

describe('MCP-Protocol-Version', () => {
  eachSessionRevision('HTTP-37', 'of a version that is not supported is answered with 400', async (revision) => {
    const { client } = await connect(revision);
    const { url } = await serve({ sessions: false });
    const sessionless = HttpClient.alone(url, revision);
    for (const version of ['1.0', '2025-13-01', '__proto__', `${revision}, ${revision}`, '']) {
      const headers = { 'mcp-protocol-version': version };
      for (const to of [client, sessionless]) {
        const begun = await to.post(initialize(revision), { ...headers, 'mcp-session-id': undefined });
        const { status } = begun;
        expect([version, status, begun.headers.get('mcp-session-id')]).toEqual([version, 400, null]);
        expect((await json(begun)).error?.code).toBe(-32600);
      }
      const alone = await sessionless.post(sessionless.buildMessage(1, 'ping'), headers);
      expect([version, alone.status]).toEqual([version, 400]);
      const posted = await client.post(client.buildMessage(1, 'ping'), headers);
      expect([version, posted.status, (await json(posted)).error?.code]).toEqual([version, 400, -32600]);
      expect([version, (await client.get(headers)).status]).toEqual([version, 400]);
      expect([version, await client.end(headers)]).toEqual([version, 400]);
    }
    expect(await client.status()).toBe(200);
  });

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
});

describe('limits over HTTP', () => {
  eachRevision('SEC-16', 'exist for the size and depth of a body, for sessions and for streams', async (revision) => {
    const { client, url } = await connect(revision, { limits: { bodyLimit: 100_000, maxSessions: 2, maxStreams: 2 } });
    const nested = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
    const message = JSON.stringify(client.buildMessage(1, 'tools/call', { name: 'add', arguments: { deep: 'DEEP' } }));
    const headers = client.headersOf(client.buildMessage(1, 'tools/call', { name: 'add' }));
    expect((await client.post(message.replace('"DEEP"', nested), headers)).status).toBe(400);
    expect((await client.post(message.replace('DEEP', 'x'.repeat(100_000)), headers)).status).toBe(413);
    if (client.stateless) return;
    for (let n = 0; n < 2; n++) await client.listen();
    expect((await client.get()).status).toBe(429);
    const other = await HttpClient.open(url, revision);
    await HttpClient.open(url, revision);
    expect([await client.status(), await other.status()]).toEqual([200, 404]);
  });
});
