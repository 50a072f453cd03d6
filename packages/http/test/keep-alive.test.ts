import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { type McpServer, NoInput } from '@decorum/core';
import type { Wire } from '@decorum/core/transport';
import type { ListenOptions } from '@decorum/http';
import { nodeHandler } from '@decorum/http/node';

import { EventReader } from './events.js';
import {
  afterwards,
  whenBegun,
  call,
  createServer,
  type Fields,
  json,
  kernelOf,
  modernCall,
  modernHeaders,
  openSession,
  post,
  Probe,
  serve,
} from './fixture.js';

interface Insides {
  readonly exchanges: ReadonlySet<{ readonly wire: Wire }>;
}

const WAIT = [modernCall(1, 'wait'), modernHeaders('tools/call', 'wait')] as const;
const LET_GO = { id: 1, result: { content: [{ text: 'let go' }] } };

/** Fires the keep-alive timer of the endpoint with a call in flight. */
async function clockOf(server: McpServer): Promise<() => void> {
  const { inFlight } = await kernelOf(server);
  const { exchanges } = inFlight as unknown as Insides;
  return () => inFlight.keepAlive([...exchanges][0]?.wire.owner as object);
}

/** A server with calls in flight. The test controls its clock. */
async function ticking(options: ListenOptions = {}) {
  const { url, probe, server } = await serve(options);
  const tick = await clockOf(server);
  return {
    url,
    probe,
    server,
    tick,
    async begin(message: unknown, headers: Fields) {
      const [response] = await whenBegun(probe, post(url, message, headers));
      return { response };
    },
  };
}

describe('a call that sends nothing', () => {
  it('is answered with JSON if it ends before the second tick', async () => {
    const { begin, tick, probe } = await ticking();
    const { response } = await begin(...WAIT);
    tick();
    probe.emit('go');
    expect(await json(await response)).toMatchObject(LET_GO);
  });

  it('becomes a stream at the second tick, and gets its response there [HTTP-14] [HTTP-18] [HTTP-19] [HTTP-20]', async () => {
    const { begin, tick, probe } = await ticking();
    const { response } = await begin(...WAIT);
    tick();
    tick();
    const reader = new EventReader(await response);
    expect((await reader.next())?.comment).toBe('keep-alive');
    tick();
    probe.emit('go');
    expect((await reader.rest()).map(({ message }) => message)).toMatchObject([LET_GO]);
  });

  it('can be resumed in a session once it has a stream [RESUME-06]', async () => {
    const { url, begin, tick, probe } = await ticking();
    const session = await openSession(url);
    const { response } = await begin(call(1, 'wait'), session);
    tick();
    tick();
    const reader = new EventReader(await response);
    const { id = '' } = (await reader.next()) ?? {};
    await reader.cancel();
    probe.emit('go');
    const again = await fetch(url, { headers: { accept: 'text/event-stream', ...session, 'last-event-id': id } });
    expect((await new EventReader(again).message()).message).toMatchObject(LET_GO);
  });

  it('counts once if it is part of a batch', async () => {
    const { url, begin, tick, probe } = await ticking();
    const session = await openSession(url, {}, '2025-03-26');
    const batch = [call(1, 'wait'), call(2, 'wait')];
    const soon = await begin(batch, session);
    tick();
    probe.emit('go');
    expect(await (await soon.response).json()).toMatchObject([{ id: 1 }, { id: 2 }]);
    const streaming = await begin(batch, session);
    tick();
    tick();
    const reader = new EventReader(await streaming.response);
    probe.emit('go');
    expect((await reader.rest()).at(-1)?.message).toMatchObject([{ id: 1 }, { id: 2 }]);
  });

  it('stays silent if its client accepts only JSON or has disconnected', async () => {
    const { url, begin, tick, probe } = await ticking();
    const session = await openSession(url);
    const { response } = await begin(call(1, 'wait'), { ...session, accept: 'application/json' });
    const leave = new AbortController();
    const [left] = await whenBegun(probe, post(url, call(2, 'wait'), session, leave.signal));
    leave.abort();
    await expect(left).rejects.toThrow('aborted');
    for (let count = 0; count < 3; count += 1) tick();
    probe.emit('go');
    const answer = await response;
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await json(answer)).toMatchObject(LET_GO);
  });

  it('sends its error in the stream, with status 200 [HTTP-14] [HTTP-19]', async () => {
    const { begin, tick, server } = await ticking();
    const { response } = await begin(...WAIT);
    tick();
    tick();
    expect((await response).status).toBe(200);
    await server.close({ deadlineMs: 1 });
    const messages = (await new EventReader(await response).rest()).flatMap(({ message }) => message ?? []);
    expect(messages).toMatchObject([{ id: 1, error: { code: -32603 } }]);
  });

  it('survives a timeout of the application that answers first', async () => {
    const probe = new Probe();
    const { server, errors } = createServer(probe);
    const handler = nodeHandler(server);
    let dropped: Promise<unknown> = Promise.resolve();
    const listener = createHttpServer((request, response) => {
      dropped = once(request.socket, 'close');
      probe.once('began', () => response.writeHead(504).end('too late'));
      handler(request, response);
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    afterwards(() => void listener.close());
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const message = modernCall(1, 'wait', {}, { progressToken: 1 });
    expect((await post(url, message, modernHeaders('tools/call', 'wait'))).status).toBe(504);
    const tick = await clockOf(server);
    for (let count = 0; count < 3; count += 1) tick();
    probe.contexts[0]?.progress(1);
    expect(errors).toEqual([]);
    probe.emit('go');
    while (errors.length === 0) await new Promise(setImmediate);
    expect(String(errors)).toContain('Cannot write headers after they are sent');
    await dropped;
  });
});

describe('a call that needs scopes', () => {
  const auth = { scopes: ['mcp'], authenticate: () => ({ subject: 'ann', scopes: ['mcp'] }) };

  it('gets no stream as long as it may be denied', async () => {
    const { url, server, probe } = await serve({ auth });
    const access = async () => {
      const letGo = once(probe, 'go');
      probe.emit('asked');
      await letGo;
      return true;
    };
    server.addTool({ name: 'guarded', scopes: ['files:write'], input: NoInput, access }, () => 'written');
    const asked = once(probe, 'asked');
    const pending = post(url, modernCall(1, 'guarded'), modernHeaders('tools/call', 'guarded'));
    await asked;
    const tick = await clockOf(server);
    for (let n = 0; n < 3; n += 1) tick();
    probe.emit('go');
    const response = await pending;
    expect([response.status, (await json(response)).error?.data]).toEqual([403, { scopes: ['mcp', 'files:write'] }]);
  });

  it('gets one when it was admitted', async () => {
    const { begin, tick, probe } = await ticking({ auth });
    const { response } = await begin(...WAIT);
    for (let n = 0; n < 2; n += 1) tick();
    expect((await new EventReader(await response).next())?.comment).toBe('keep-alive');
    probe.emit('go');
  });
});
