import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

import { describe, expect, it } from '@jest/globals';

import { type Context, NoInput } from '@decorum/core';

import { EventReader, getStream } from './events.js';
import { afterwards, call, json, modernCall, modernHeaders, openSession, post, request, serve } from './fixture.js';

const SUBSCRIBE = request(1, 'resources/subscribe', { uri: 'docs://guide' });
const UPDATED = { method: 'notifications/resources/updated', params: { uri: 'docs://guide' } };
const TOKEN = { progressToken: 1 };

describe('the GET stream', () => {
  it('gets the messages that belong to no request', async () => {
    const { url, server } = await serve();
    const session = await openSession(url);
    await (await post(url, SUBSCRIBE, session)).text();
    const stream = await getStream(url, session);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.response.headers.get('x-accel-buffering')).toBe('no');
    server.notify.resourceUpdated('docs://guide');
    expect((await stream.message()).message).toMatchObject(UPDATED);
    server.notify.toolsChanged();
    expect((await stream.message()).message?.method).toBe('notifications/tools/list_changed');
  });

  it('is rejected with 406 if the client accepts no streams [HTTP-28]', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    for (const accept of ['application/json', 'text/html']) {
      const response = await fetch(url, { headers: { ...session, accept } });
      expect([response.status, (await json(response)).error?.code]).toEqual([406, -32600]);
    }
    const wrong = await fetch(url, {
      headers: { ...session, accept: 'text/event-stream', 'mcp-protocol-version': '1.0' },
    });
    expect(wrong.status).toBe(400);
  });

  it('is not opened by HEAD [HTTP-28]', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    expect((await fetch(url, { method: 'HEAD', headers: session })).status).toBe(405);
  });

  it('may exist several times, and each message is sent on exactly one [HTTP-33]', async () => {
    const { url, server } = await serve();
    const session = await openSession(url);
    await (await post(url, SUBSCRIBE, session)).text();
    const [first, second] = [await getStream(url, session), await getStream(url, session)];
    for (let n = 0; n < 3; n++) server.notify.resourceUpdated('docs://guide');
    for (let n = 0; n < 3; n++) expect((await first.message()).message).toMatchObject(UPDATED);
    await first.cancel();
    // once the server has noticed the disconnect, the other stream takes over
    const taken: unknown[] = [];
    const next = second.message().finally(() => taken.push(1));
    while (taken.length === 0) {
      server.notify.resourceUpdated('docs://guide');
      await (await post(url, request(2, 'ping'), session)).text();
    }
    expect((await next).message).toMatchObject(UPDATED);
  });

  it('does not mix with the streams of requests [HTTP-16] [HTTP-30] [HTTP-31]', async () => {
    const { url, server } = await serve();
    const session = await openSession(url);
    const listening = await getStream(url, session);
    const own = new EventReader(await post(url, call(5, 'steps', {}, TOKEN), session));
    server.notify.toolsChanged();
    const methods = (await own.rest()).flatMap(({ message }) => (message ? [message.method ?? message.id] : []));
    expect(methods).toEqual([...Array(3).fill('notifications/progress'), 5]);
    expect((await listening.message()).message?.method).toBe('notifications/tools/list_changed');
    await fetch(url, { method: 'DELETE', headers: session });
    expect((await listening.rest()).filter(({ message }) => message)).toEqual([]);
  });

  it('does not reach other sessions [HTTP-33]', async () => {
    const { url, server } = await serve();
    const [alice, bob] = [await openSession(url), await openSession(url)];
    await (await post(url, SUBSCRIBE, alice)).text();
    const [hers, his] = [await getStream(url, alice), await getStream(url, bob)];
    server.notify.resourceUpdated('docs://guide');
    expect((await hers.message()).message).toMatchObject(UPDATED);
    await fetch(url, { method: 'DELETE', headers: bob });
    expect((await his.rest()).filter(({ message }) => message)).toEqual([]);
  });

  it('is rejected with 429 if a session has too many', async () => {
    const { url } = await serve({ limits: { maxStreams: 2 } });
    const session = await openSession(url);
    const readers = [await getStream(url, session), await getStream(url, session)];
    const response = await fetch(url, { headers: { ...session, accept: 'text/event-stream' } });
    expect([response.status, (await json(response)).error?.code]).toEqual([429, -32600]);
    await readers[0]?.cancel();
    let status = 429;
    while (status === 429) {
      const again = await fetch(url, { headers: { ...session, accept: 'text/event-stream' } });
      status = again.status;
      if (status === 429) await again.text();
      else new EventReader(again);
    }
    expect(status).toBe(200);
  });

  it('ends without an error when the server closes', async () => {
    const { url, close } = await serve();
    const stream = await getStream(url, await openSession(url));
    await close();
    expect((await stream.rest()).filter(({ message }) => message)).toEqual([]);
    expect(stream.ended).toBe(true);
  });
});

describe('a quiet stream', () => {
  it('sends keep-alive comments', async () => {
    const { url, probe } = await serve({ keepAliveMs: 10 });
    const session = await openSession(url);
    const listening = await getStream(url, session);
    const message = modernCall(1, 'stream', {}, TOKEN);
    const pending = new EventReader(await post(url, message, modernHeaders('tools/call', 'stream')));
    await pending.message();
    for (const stream of [listening, pending]) {
      let event = await stream.next();
      while (event?.comment === undefined) event = await stream.next();
      expect(event.comment).toBe('keep-alive');
    }
    probe.emit('go');
    expect((await pending.message()).message).toMatchObject({ id: 1 });
  });
});

describe('a slow reader', () => {
  it('misses notifications beyond the limit, but never the response', async () => {
    const { url, probe } = await serve({ limits: { maxBufferedBytes: 100_000 } });
    const count = 3000;
    const flooded = once(probe, 'flooded');
    const headers = { 'content-type': 'application/json', ...modernHeaders('tools/call', 'flood') };
    const body = JSON.stringify(modernCall(1, 'flood', { count }, TOKEN));
    const response = await fetch(url, { method: 'POST', headers, body });
    // while nobody reads, the rest is buffered at the server once sockets and client buffers are full
    await flooded;
    const messages = (await new EventReader(response).rest()).flatMap(({ message }) => message ?? []);
    expect(messages.length).toBeLessThan(count);
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'flooded' }] } });
    const steps = messages.slice(0, -1).map(({ params }) => params?.['progress'] as number);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
  });

  it('does not delay other readers or closing the server', async () => {
    const { url, server, close } = await serve({ limits: { maxBufferedBytes: 100_000 }, closeDeadlineMs: 50 });
    const session = await openSession(url);
    await (await post(url, SUBSCRIBE, session)).text();
    const stuck = get(url, { headers: { accept: 'text/event-stream', ...session }, agent: false });
    afterwards(() => stuck.destroy());
    const [response] = (await once(stuck, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    response.pause();
    for (let n = 0; n < 50_000; n++) server.notify.resourceUpdated('docs://guide');
    expect((await post(url, call(1, 'add', { a: 1, b: 2 }), session)).status).toBe(200);
    await close();
    response.resume();
    await once(response, 'close');
  });
});

describe('frames of one tick', () => {
  it('are written together with the response', async () => {
    const { url, server } = await serve();
    server.addTool(
      { name: 'burst', description: 'Reports at once', input: NoInput },
      async (_input: NoInput, ctx: Context) => {
        for (const n of [1, 2, 3]) {
          ctx.progress(n);
          await Promise.resolve();
        }
        return 'done';
      },
    );
    const headers = { 'content-type': 'application/json', ...modernHeaders('tools/call', 'burst') };
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(modernCall(1, 'burst', {}, TOKEN)),
    });
    const chunk = await response.body?.getReader().read();
    expect(new TextDecoder().decode(chunk?.value).match(/^data: /gm)).toHaveLength(4);
  });

  it('escape line breaks and markup', async () => {
    const { url, server } = await serve();
    const text = 'a\r\ndata: {"jsonrpc":"2.0"}\n\nid: 1\n<script>\u2028';
    server.addTool({ name: 'evil', description: 'Breaks lines', input: NoInput }, (_input: NoInput, ctx: Context) => {
      ctx.progress(1, 2, text);
      return text;
    });
    const response = await post(url, modernCall(text, 'evil', {}, TOKEN), modernHeaders('tools/call', 'evil'));
    const events = await new EventReader(response).rest();
    expect(events).toHaveLength(2);
    expect(events[0]?.message?.params).toMatchObject({ message: text });
    expect(events[1]?.message).toMatchObject({ id: text, result: { content: [{ text }] } });
  });
});
