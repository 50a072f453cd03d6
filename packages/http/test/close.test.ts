// Servers, endpoints and callbacks that close, and calls that keep their connections meanwhile.
import dns from 'node:dns/promises';
import { once } from 'node:events';

import { describe, expect, it, jest } from '@jest/globals';
import type { McpServer } from '@decorum/core';
import type { Wire } from '@decorum/core/transport';
import { listen, mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import fastify from 'fastify';

import { HttpError } from '../src/endpoint/http-error.js';
import { PendingCallbacks, type Waiting } from '../src/endpoint/pending-callbacks.js';
import { Connection } from './connection.js';
import { EventReader, getStream } from './events.js';
import { afterwards, createServer, kernelOf, Probe, serve, serveNode, serveSession, whenBegun } from './fixture.js';
import { ADD, call, calling, type Fields, json, request, TOKEN, WAIT } from './messages.js';
import { openSession, post, posted } from './sending.js';

const LET_GO = { id: 1, result: { content: [{ text: 'let go' }] } };

describe('close', () => {
  it('closes the connection of a body that it cannot read', async () => {
    const { url, probe, close } = await serve();
    const [pending] = await whenBegun(probe, post(url, ...WAIT));
    const connection = await Connection.open(url);
    const closing = close();
    connection.head('POST', { 'content-type': 'application/json' }, 2, '{x');
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 400 [^]*\r\nconnection: close\r\n/i);
    probe.emit('go');
    await Promise.all([pending, closing]);
  });

  it('ends the streams of sessions at once, and then waits for calls', async () => {
    const { url, probe, session, close } = await serveSession();
    const [pending] = await whenBegun(probe, post(url, call(1, 'wait'), session));
    const stream = await getStream(url, session);
    const closing = close();
    await stream.rest();
    probe.emit('go');
    expect((await pending).status).toBe(200);
    await closing;
  });

  it.each(['before', 'while'])('ends `listen` %s it looks up its host', async (when) => {
    const { server } = createServer(new Probe());
    let begun = () => {};
    const begins = new Promise<void>((resolve) => (begun = resolve));
    const lookup = jest.spyOn(dns, 'lookup').mockImplementation((() => {
      begun();
      return new Promise(() => {});
    }) as never);
    afterwards(() => lookup.mockRestore());
    const listening = listen(server, { port: 0, host: 'localhost' });
    const closing = when === 'before' ? server.close() : begins.then(() => server.close());
    await expect(listening).rejects.toMatchObject({ code: 'DECORUM_SERVER_CLOSED' });
    await closing;
  });
});

describe('the process', () => {
  it('survives uncaught errors of user code, and reports them', async () => {
    const { url, errors, close } = await serve();
    // call only the listeners that listen() has added, not those of jest
    const added = process.listeners('uncaughtException').at(-1);
    added?.(new Error('in a timer'), 'uncaughtException');
    expect(errors).toEqual([new Error('in a timer')]);
    expect((await post(url, ...ADD)).status).toBe(200);
    await close();
    expect(process.listeners('uncaughtException')).not.toContain(added);
  });
});

it('a request is rejected if two headers give different lengths', async () => {
  const { url } = await serve();
  const connection = await Connection.open(url);
  const headers = { 'content-type': 'application/json', 'content-length': '5' };
  connection.head('POST', headers, undefined, '0\r\n\r\nGET /evil HTTP/1.1\r\n\r\n');
  expect(await connection.until(/\r\n/)).toMatch(/^HTTP\/1\.1 400/);
});

/** Number of event loop turns between starting a transport and closing its server. */
const TURNS = Array.from({ length: 13 }, (_, count) => count);

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  microtask: async () => await undefined,
  'turn of the event loop': () => new Promise(setImmediate),
};

/** The expected error. */
const refused = (error: { code?: string }) => {
  if (error.code !== 'DECORUM_SERVER_CLOSED') throw error;
  return undefined;
};

describe.each(Object.entries(WAYS))('a server that is closed while an endpoint opens, after each %s', (_name, pass) => {
  it('stops listening or never starts', async () => {
    for (const turns of TURNS) await stops(turns);
  });

  async function stops(turns: number) {
    const { server, errors } = createServer(new Probe());
    const opening = listen(server, { port: 0 }).catch(refused);
    for (let turn = 0; turn < turns; turn += 1) await pass();
    await expect(server.close()).resolves.toBeUndefined();
    const listening = await opening;
    afterwards(() => listening?.close());
    if (listening) await expect(post(listening.url, request(1, 'ping'))).rejects.toThrow('fetch failed');
    expect([turns, errors]).toEqual([turns, []]);
  }

  it('closes the endpoint of an application too', async () => {
    for (const turns of TURNS) await closes(turns);
  });

  async function closes(turns: number) {
    const { server, errors } = createServer(new Probe());
    const app = fastify();
    afterwards(() => app.close());
    const opening = app.register(mcp, { server }).then(
      () => app.ready(),
      (error: { code?: string }) => refused(error),
    );
    const handler = nodeHandler(server);
    for (let turn = 0; turn < turns; turn += 1) await pass();
    await expect(server.close()).resolves.toBeUndefined();
    await Promise.all([opening, handler.ready.catch(refused)]);
    await handler.close();
    const others = errors.filter((error) => (error as { code?: string }).code !== 'DECORUM_SERVER_CLOSED');
    expect([turns, others]).toEqual([turns, []]);
  }
});

describe('a handler that is closed while an `onStart` hangs', () => {
  it.each(['`closeDeadlineMs` is over', 'its server closes'])(
    'gives up when %s, and refuses what waits',
    async (when) => {
      let go = () => {};
      const onStart = () => new Promise<void>((resolve) => (go = resolve));
      const { server } = createServer(Object.assign(new Probe(), { onStart }));
      const handler = fetchHandler(server, { closeDeadlineMs: 20 });
      const refusal = async (answer: Promise<Response>) => {
        const response = await answer;
        return [response.status, (await json(response)).error?.message];
      };
      const REFUSED = [503, 'The server is closing.'];
      const answer = handler(posted(request(1, 'ping')));
      await new Promise(setImmediate);
      await (when === 'its server closes' ? server.close() : handler.close());
      await expect(handler.ready).rejects.toMatchObject({ code: 'DECORUM_SERVER_CLOSED' });
      expect(await refusal(answer)).toEqual(REFUSED);
      go();
      await new Promise(setImmediate);
      expect(await refusal(handler(posted(request(2, 'ping'))))).toEqual(REFUSED);
      await Promise.all([handler.close(), server.close()]);
    },
  );
});

it('a failed start does not end the process if the application has answered meanwhile', async () => {
  const onStart = async () => {
    await new Promise(setImmediate);
    throw new Error('no disk');
  };
  const handler = nodeHandler(createServer(Object.assign(new Probe(), { onStart })).server);
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  afterwards(() => process.off('unhandledRejection', note));
  const url = await serveNode((message, response) => {
    handler(message, response);
    response.writeHead(504).end();
  });
  await post(url, request(1, 'ping')).catch(() => {});
  await handler.ready.catch(() => {});
  await new Promise(setImmediate);
  expect(unhandled).toEqual([]);
});

const never = new Promise<never>(() => {});

/** A client that disconnects when the test says so. */
class Client implements Waiting {
  gone = false;
  readonly callbacks = new Set<() => void>();

  onClose(callback: () => void): () => void {
    this.callbacks.add(callback);
    return () => void this.callbacks.delete(callback);
  }

  leave(): void {
    this.gone = true;
    for (const callback of this.callbacks) callback();
  }
}

describe('a callback that never settles', () => {
  it('is let go when its client disconnects, or at once if it has before', async () => {
    const client = new Client();
    const waiting = new PendingCallbacks().until(never, client);
    client.leave();
    for (const each of [waiting, new PendingCallbacks().until(never, client)])
      await expect(each).rejects.toThrow('The client has disconnected.');
    expect(client.callbacks.size).toBe(0);
  });

  it('is let go when the endpoint closes, whoever else waits for the same promise', async () => {
    const pending = new PendingCallbacks();
    const client = new Client();
    const waiting = [pending.until(never), pending.until(never, client)];
    pending.rejectAll(new HttpError(503, 'The server is closing.'));
    for (const each of waiting) await expect(each).rejects.toThrow('The server is closing.');
  });
});

it('a client that waits for nothing any more is not watched', async () => {
  const client = new Client();
  expect(await new PendingCallbacks().until(Promise.resolve(1), client)).toBe(1);
  expect(client.callbacks.size).toBe(0);
});

interface InFlight {
  readonly exchanges: ReadonlySet<{ readonly wire: Wire }>;
}

/** Fires the keep-alive timer of the endpoint with a call in flight. */
async function clockOf(server: McpServer): Promise<() => void> {
  const { inFlight } = await kernelOf(server);
  const { exchanges } = inFlight as unknown as InFlight;
  return () => inFlight.keepAlive([...exchanges][0]?.wire.owner as object);
}

/** A server with calls in flight. The test controls its clock. */
async function ticking() {
  const { url, probe, server } = await serve();
  const tick = await clockOf(server);
  const begin = async (message: unknown, headers: Fields) => {
    const [response] = await whenBegun(probe, post(url, message, headers));
    return { response };
  };
  return { url, probe, server, tick, begin };
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
    const again = await getStream(url, { ...session, 'last-event-id': id });
    expect((await again.message()).message).toMatchObject(LET_GO);
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
    const url = await serveNode((incoming, response) => {
      dropped = once(incoming.socket, 'close');
      probe.once('began', () => response.writeHead(504).end('too late'));
      handler(incoming, response);
    });
    expect((await post(url, ...calling('wait', {}, TOKEN))).status).toBe(504);
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
