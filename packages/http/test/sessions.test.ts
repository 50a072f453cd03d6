import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';

import { describe, expect, it, jest } from '@jest/globals';
import { type ListenOptions, mcp } from '@decorum/http';
import fastify from 'fastify';

import { EventReader, getStream, nextSweep, type ServerEvent } from './events.js';
import {
  afterwards,
  call,
  createServer,
  type Fields,
  INITIALIZE,
  json,
  openSession,
  post,
  Probe,
  request,
  serve,
} from './fixture.js';
import { stopClock } from './clock.js';

const PING = request(1, 'ping');
const status = async (url: string, headers: Fields, message: unknown = PING) =>
  (await post(url, message, headers)).status;

/** Trusts the caller's claim about its identity. */
const principal: ListenOptions['principal'] = ({ headers }) => {
  const subject = headers['x-user'];
  return typeof subject === 'string' ? { subject } : undefined;
};

describe('a session', () => {
  it('starts with initialize, and its id is visible ASCII [SESS-03] [SESS-11]', async () => {
    const { url } = await serve();
    const response = await post(url, INITIALIZE);
    expect(response.status).toBe(200);
    expect(response.headers.get('mcp-session-id')).toMatch(/^[\x21-\x7e]+$/);
    expect((await json(response)).result).toMatchObject({ protocolVersion: '2025-11-25' });
  });

  it('starts even if initialize has headers of either era [SESS-11]', async () => {
    const { url } = await serve();
    const headers = { 'mcp-protocol-version': '2025-11-25', 'mcp-method': 'initialize' };
    const response = await post(url, INITIALIZE, headers);
    expect(response.headers.get('mcp-session-id')).not.toBeNull();
  });

  it('has a unique id with 122 random bits [SESS-02] [SESS-09]', async () => {
    const { url } = await serve();
    const ids = await Promise.all(Array.from({ length: 50 }, async () => (await openSession(url))['mcp-session-id']));
    expect(new Set(ids).size).toBe(50);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('does not start if initialize fails', async () => {
    const { url } = await serve({ limits: { maxSessions: 1 } });
    const session = await openSession(url);
    const listening = await getStream(url, session);
    await listening.cancel();
    const { url: other } = await serve();
    const response = await post(other, request(1, 'initialize', {}));
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect((await json(response)).error?.code).toBe(-32602);
  });

  it('must be named, or else the answer is 400 [SESS-04]', async () => {
    const { url } = await serve();
    const response = await post(url, request(7, 'tools/list'));
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({ id: 7, error: { code: -32600 } });
    expect((await fetch(url, { headers: { accept: 'text/event-stream' } })).status).toBe(400);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(400);
    expect(await status(url, {}, { jsonrpc: '2.0', method: 'initialize', params: INITIALIZE.params })).toBe(400);
  });

  it('must be known, or else the answer is 404, and a client cannot choose its id [SESS-06]', async () => {
    const { url } = await serve();
    for (const id of ['__proto__', 'constructor', 'toString', 'chosen', '00000000-0000-4000-8000-000000000000']) {
      const session = { 'mcp-session-id': id };
      expect(await status(url, session)).toBe(404);
      expect(await status(url, session, INITIALIZE)).toBe(404);
      expect((await fetch(url, { headers: { accept: 'text/event-stream', ...session } })).status).toBe(404);
      expect((await fetch(url, { method: 'DELETE', headers: session })).status).toBe(404);
    }
  });

  it('ends with DELETE, and is unknown from then on [SESS-06]', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    const listening = await getStream(url, session);
    const response = await fetch(url, { method: 'DELETE', headers: session });
    expect([response.status, await response.text()]).toEqual([204, '']);
    await listening.rest();
    expect(listening.ended).toBe(true);
    expect(await status(url, session)).toBe(404);
    expect((await fetch(url, { method: 'DELETE', headers: session })).status).toBe(404);
  });

  it('ends with DELETE even if that has a content type and no body, as from the official Python client', async () => {
    const { url } = await serve();
    const typed = { 'content-type': 'application/json' };
    const session = await openSession(url);
    expect((await fetch(url, { method: 'DELETE', headers: { ...session, ...typed } })).status).toBe(204);
    expect(await status(url, session)).toBe(404);
    const stateless = { ...typed, 'mcp-protocol-version': '2026-07-28' };
    expect((await fetch(url, { method: 'DELETE', headers: stateless })).status).toBe(405);
    // a POST without a body is still invalid
    expect((await post(url, '', session)).status).toBe(400);
  });

  it('cannot be initialized twice: 400', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    const response = await post(url, INITIALIZE, session);
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({ id: 0, error: { code: -32600 } });
    expect(await status(url, session)).toBe(200);
  });

  it('ends its requests and streams when it ends', async () => {
    const { url, probe } = await serve();
    const session = await openSession(url);
    const streaming = once(probe, 'began');
    const reader = new EventReader(await post(url, call(1, 'stream', {}, { progressToken: 1 }), session));
    await streaming;
    const { id } = await reader.message();
    const began = once(probe, 'began');
    const pending = post(url, call(2, 'wait'), session);
    await began;
    expect((await fetch(url, { method: 'DELETE', headers: session })).status).toBe(204);
    await reader.rest();
    expect(reader.ended).toBe(true);
    expect((await pending).status).toBe(404);
    expect(probe.aborted).toBe(2);
    const resumed = await fetch(url, {
      headers: { ...session, accept: 'text/event-stream', 'last-event-id': id as string },
    });
    expect(resumed.status).toBe(404);
  });

  it('supports GET and DELETE, which the stateless revision answers with 405 [HTTP-34]', async () => {
    const { url } = await serve();
    for (const method of ['GET', 'DELETE']) {
      const response = await fetch(url, { method, headers: { 'mcp-protocol-version': '2026-07-28' } });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });
});

describe('the owner of a session', () => {
  it('is the only principal that can use it [SESS-10]', async () => {
    const { url } = await serve({ principal });
    const session = await openSession(url, { 'x-user': 'alice' });
    for (const [other, expected] of [
      [{ ...session, 'x-user': 'bob' }, 404],
      [{ 'mcp-session-id': session['mcp-session-id'] as string }, 401],
    ] as const) {
      expect(await status(url, other)).toBe(expected);
      expect((await fetch(url, { headers: { accept: 'text/event-stream', ...other } })).status).toBe(expected);
      expect((await fetch(url, { method: 'DELETE', headers: other })).status).toBe(expected);
    }
    expect(await status(url, session)).toBe(200);
  });

  it('is known to handlers', async () => {
    const { url, probe } = await serve({ principal });
    const began = once(probe, 'began');
    const session = await openSession(url, { 'x-user': 'alice' });
    const pending = post(url, call(1, 'wait'), session);
    await began;
    const [context] = probe.contexts;
    expect(context?.principal).toEqual({ subject: 'alice' });
    expect(context?.sessionId).toBe(session['mcp-session-id']);
    expect(context?.transport).toMatchObject({ kind: 'http', headers: { 'x-user': 'alice' } });
    probe.emit('go');
    await (await pending).text();
  });

  it('cannot be determined if `principal` throws: 500 without details', async () => {
    const failing = () => {
      throw new Error('a secret');
    };
    const { url, errors } = await serve({ principal: failing });
    const response = await post(url, INITIALIZE);
    expect([response.status, (await json(response)).error]).toEqual([500, { code: -32603, message: 'Internal error' }]);
    expect(errors).toEqual([new Error('a secret')]);
  });
});

describe('the number of sessions', () => {
  it('is capped: the session idle for longest is evicted', async () => {
    const { url } = await serve({ limits: { maxSessions: 3 } });
    const first = await openSession(url);
    const second = await openSession(url);
    const third = await openSession(url);
    const listening = await getStream(url, first);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 1000);
    afterwards(() => clock.mockRestore());
    expect(await status(url, second)).toBe(200);
    const fourth = await openSession(url);
    expect(await status(url, third)).toBe(404);
    expect([await status(url, first), await status(url, second), await status(url, fourth)]).toEqual([200, 200, 200]);
    await listening.cancel();
  });

  it('stays capped in a flood, which is answered with 503 if no session is idle', async () => {
    const { url } = await serve({ limits: { maxSessions: 2 } });
    const sessions = [await openSession(url), await openSession(url)];
    for (const session of sessions) await getStream(url, session);
    const response = await post(url, INITIALIZE);
    expect([response.status, (await json(response)).error?.code]).toEqual([503, -32600]);
    for (const session of sessions) expect(await status(url, session)).toBe(200);
  });

  it('protects a call only while a client is on its stream, the first or one that resumes it', async () => {
    const { url, probe } = await serve({ limits: { maxSessions: 1 } });
    const session = await openSession(url);
    const began = once(probe, 'began');
    // the handler lets the client come back later
    const polled = new EventReader(await post(url, call(1, 'poll'), session));
    const { id } = (await polled.next()) as ServerEvent;
    await polled.rest();
    await began;
    const resumed = await getStream(url, { ...session, 'last-event-id': id as string });
    expect((await post(url, INITIALIZE)).status).toBe(503);
    const aborted = once(probe, 'aborted');
    await resumed.cancel();
    // the server notices it when the connection closes
    for (let code = 503; code === 503;) code = (await post(url, INITIALIZE)).status;
    await aborted;
    expect(await status(url, session)).toBe(404);
  });

  it('protects a call that is paused until its client is back only as long as there is room', async () => {
    const { url, probe } = await serve({ limits: { maxSessions: 1 } });
    const session = await openSession(url);
    const aborted = once(probe, 'aborted');
    await new EventReader(await post(url, call(1, 'poll'), session)).rest();
    await openSession(url);
    await aborted;
    expect(await status(url, session)).toBe(404);
  });

  it('protects a batch while its client waits', async () => {
    const { url, probe } = await serve({ limits: { maxSessions: 1 } });
    const session = await openSession(url, {}, '2025-03-26');
    const began = once(probe, 'began');
    const left = new AbortController();
    const pending = post(url, [call(1, 'wait'), PING], session, left.signal).catch(() => {});
    await began;
    expect((await post(url, INITIALIZE)).status).toBe(503);
    const aborted = once(probe, 'aborted');
    left.abort();
    await pending;
    for (let code = 503; code === 503;) code = (await post(url, INITIALIZE)).status;
    await aborted;
    expect(await status(url, session)).toBe(404);
  });

  it('shrinks when idle sessions end, but those in use stay', async () => {
    const pass = stopClock();
    const { url, probe, errors } = await serve({ limits: { sessionIdleMs: 60_000 }, keepAliveMs: 5 });
    const [idle, reading, working] = [await openSession(url), await openSession(url), await openSession(url)];
    await getStream(url, reading);
    const began = once(probe, 'began');
    const pending = post(url, call(1, 'wait'), working);
    await began;
    const sweep = () => nextSweep(async () => await getStream(url, reading));
    await sweep();
    pass(60_000);
    await sweep();
    expect(await status(url, idle)).toBe(200);
    await sweep();
    pass(60_001);
    await sweep();
    expect(await status(url, idle)).toBe(404);
    expect(await status(url, reading)).toBe(200);
    probe.emit('go');
    expect((await pending).status).toBe(200);
    expect(await status(url, working)).toBe(200);
    expect(errors).toEqual([]);
  });

  it.each([
    ['a refused GET', { accept: 'text/html' }, 406],
    ['a GET for a stream that is unknown', { accept: 'text/event-stream', 'last-event-id': 'unknown' }, 400],
  ])('keeps a session from being idle with %s', async (_name, headers, expected) => {
    const pass = stopClock();
    const { url } = await serve({ limits: { sessionIdleMs: 60_000 }, keepAliveMs: 5 });
    const [used, idle, reading] = [await openSession(url), await openSession(url), await openSession(url)];
    const sweep = () => nextSweep(async () => await getStream(url, reading));
    await sweep();
    pass(60_000);
    expect((await fetch(url, { headers: { ...used, ...headers } })).status).toBe(expected);
    await sweep();
    pass(1);
    await sweep();
    expect(await status(url, idle)).toBe(404);
    pass(59_999);
    await sweep();
    expect(await status(url, used)).toBe(200);
  });

  it('shrinks for others when a session cannot resume its stream, and has no other client', async () => {
    const reads: (() => void)[] = [];
    const read = () => new Promise<undefined>((resolve) => reads.push(() => resolve(undefined)));
    const events = { append() {}, read };
    const { url } = await serve({ limits: { maxSessions: 2 }, events, keepAliveMs: 5 });
    const [resuming, reading] = [await openSession(url), await openSession(url)];
    await getStream(url, reading);
    const resumed = { ...resuming, accept: 'text/event-stream', 'last-event-id': `p${'0'.repeat(8)}-0` };
    const answer = fetch(url, { headers: resumed });
    while (reads.length === 0) await new Promise(setImmediate);
    expect(await status(url, {}, INITIALIZE)).toBe(503);
    reads[0]?.();
    expect((await answer).status).toBe(400);
    await nextSweep(async () => await getStream(url, reading));
    expect(await status(url, {}, INITIALIZE)).toBe(200);
    expect([await status(url, resuming), await status(url, reading)]).toEqual([404, 200]);
  });

  it('shrinks when a session is idle whose client has left, and its call is cancelled', async () => {
    const pass = stopClock();
    const probe = new Probe();
    const app = fastify();
    const sockets = new EventEmitter();
    app.server.on('connection', (socket: Socket) => socket.once('close', () => sockets.emit('closed')));
    await app.register(mcp, { server: createServer(probe).server, limits: { sessionIdleMs: 60_000 }, keepAliveMs: 5 });
    afterwards(() => app.close());
    const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/mcp`;
    const [leaving, reading] = [await openSession(url), await openSession(url)];
    const began = once(probe, 'began');
    const [aborted, left] = [once(probe, 'aborted'), new AbortController()];
    const pending = post(url, call(1, 'wait'), leaving, left.signal).catch(() => {});
    await began;
    const closed = once(sockets, 'closed');
    left.abort();
    await Promise.all([pending, closed]);
    const sweep = () => nextSweep(async () => await getStream(url, reading));
    await sweep();
    pass(60_001);
    await sweep();
    await aborted;
    expect([await status(url, leaving), await status(url, reading)]).toEqual([404, 200]);
    probe.emit('go');
  });
});
