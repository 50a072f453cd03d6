// Clients that take their answers slowly, or not at all, and those that send more requests meanwhile.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { JsonObject } from '@decorum/core';

import { Connection } from './connection.js';
import { pipelined, serve } from './fixture.js';
import {
  ADD,
  call,
  calling,
  cancelOf,
  type Fields,
  modern,
  modernCall,
  modernHeaders,
  SUM,
  TOKEN,
  WAIT,
} from './messages.js';
import { openSession, post, statusOf } from './sending.js';
import { open, start, untilSlow, untilStuck } from './paused.js';

const MIB = 1_048_576;

type Started = Awaited<ReturnType<typeof start>>;

/** A server with tools whose answers are larger than what sockets buffer. */
async function startLarge(options: Parameters<typeof start>[0] = {}): Promise<Started> {
  const started = await start(options);
  const input = { type: 'object', properties: { size: { type: 'number' } } };
  started.server.addTool({ name: 'large', description: 'Says a lot', input }, ({ size }: { size: number }) =>
    'x'.repeat(size),
  );
  return started;
}

const sendLarge = (url: string, size: number, more: Fields = {}) =>
  open(url, { ...modernHeaders('tools/call', 'large'), ...more }, modernCall(1, 'large', { size }));

const answersThatWait = ({ answers }: Started) =>
  answers.filter(({ destroyed, writableFinished, req }) => !destroyed && !writableFinished && !req.socket.destroyed);

const unsent = (started: Started) =>
  answersThatWait(started).reduce((sum, { writableLength }) => sum + writableLength, 0);

describe('answers that nobody reads', () => {
  it('stay until they exceed `maxTotalBufferedBytes` together; then the largest is cut off', async () => {
    const started = await startLarge({ limits: { maxTotalBufferedBytes: 60 * MIB } });
    const { url, hits } = started;
    await sendLarge(url, 20 * MIB);
    await sendLarge(url, 30 * MIB);
    expect([answersThatWait(started).length, hits]).toEqual([2, []]);
    const largest = started.answers[1] as ServerResponse;
    await sendLarge(url, 20 * MIB);
    expect(answersThatWait(started)).toHaveLength(2);
    expect(largest.destroyed).toBe(true);
    expect(hits).toEqual([{ limit: 'maxTotalBufferedBytes' }]);
    expect(unsent(started)).toBeLessThan(60 * MIB);
    expect((await post(url, ...ADD)).status).toBe(200);
  });

  it('count over `listen` too, which writes them without the reply of Fastify', async () => {
    const { url, server, hits } = await serve({ limits: { maxTotalBufferedBytes: 30 * MIB } });
    server.addTool({ name: 'large', description: 'Says a lot' }, () => 'x'.repeat(20 * MIB));
    for (const expected of [[], [{ limit: 'maxTotalBufferedBytes' }]]) {
      const [message, headers] = calling('large');
      await open(url, headers, message);
      expect(hits).toEqual(expected);
    }
  });

  it('are sent even if a single one is larger', async () => {
    const { url, hits } = await startLarge({ limits: { maxTotalBufferedBytes: MIB } });
    const response = await sendLarge(url, 20 * MIB);
    await turn();
    expect(Buffer.concat(await response.toArray()).length).toBeGreaterThan(20 * MIB);
    expect(hits).toEqual([]);
  });

  it('count whether they are plain or streams', async () => {
    const started = await startLarge({ limits: { maxTotalBufferedBytes: 30 * MIB } });
    const { url, server, hits } = started;
    server.addTool({ name: 'streamed', description: 'Says a lot in a stream' }, (_input, ctx) => {
      ctx.progress(1);
      return 'x'.repeat(20 * MIB);
    });
    const streamed = modernCall(1, 'streamed', {}, TOKEN);
    const response = await open(url, modernHeaders('tools/call', 'streamed'), streamed);
    expect(response.headers['content-type']).toBe('text/event-stream');
    while (!started.answers[0]?.writableEnded) await turn();
    await sendLarge(url, 21 * MIB);
    expect(answersThatWait(started)).toHaveLength(1);
    expect(hits).toEqual([{ limit: 'maxTotalBufferedBytes' }]);
  });
});

describe('a stalled reader of changes', () => {
  const follow = async (url: string, id: number) => {
    const notifications = { toolsListChanged: true, resourceSubscriptions: ['docs://guide'] };
    const message = modern(id, 'subscriptions/listen', { notifications });
    return await open(url, modernHeaders('subscriptions/listen'), message);
  };

  /** Sends changes of different resources until the sockets are full. */
  async function backUp({ server, answers }: Started): Promise<void> {
    for (let [quiet, count] = [0, 0]; quiet < 50; quiet += 1) {
      if (!answers[0]?.writableNeedDrain) quiet = 0;
      const uri = `docs://guide/${(count += 1)}/${'x'.repeat(20_000)}`;
      if (quiet === 0) server.notify.resourceUpdated(uri, 'docs://guide');
      await turn();
    }
  }

  it('gets the acknowledgement first and the result last, even if changes are dropped', async () => {
    const started = await start({ limits: { maxBufferedBytes: 1 } });
    const response = await follow(started.url, 1);
    await backUp(started);
    // the buffer has no room for changes
    started.server.notify.resourceUpdated('docs://guide/last', 'docs://guide');
    const closing = started.app.close();
    const text = Buffer.concat(await response.toArray()).toString();
    await closing;
    const messages = Array.from(text.matchAll(/^data: (\{.*)$/gm), ([, data]) => JSON.parse(data as string) as object);
    expect(messages[0]).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { resultType: 'complete' } });
    expect(text).not.toContain('docs://guide/last');
  });

  it('gets no keep-alive comments, while others do', async () => {
    const started = await start({ keepAliveMs: 5 });
    await follow(started.url, 1);
    await backUp(started);
    const waiting = started.answers[0]?.writableLength;
    let text = '';
    for await (const chunk of await follow(started.url, 2)) {
      text += String(chunk);
      if (text.split(': keep-alive').length > 5) break;
    }
    expect(started.answers[0]?.writableLength).toBe(waiting);
  });
});

describe('a reader that takes nothing', () => {
  afterEach(() => void jest.restoreAllMocks());

  /** A clock that stands still, and a way to wait for the sweeps after it was set. */
  async function startAt(limits: { readerTimeoutMs?: number } = {}) {
    const began = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(began);
    const started = await startLarge({ keepAliveMs: 5, limits });
    const witness = await open(started.url, await openSession(started.url));
    const ticks = async (count: number) => {
      for (let seen = 0; seen < count;) {
        const chunk = (witness.read() as Buffer | null)?.toString() ?? '';
        seen += chunk.split(': keep-alive').length - 1;
        await turn();
      }
    };
    /** Sets the clock and waits for a sweep that began afterwards. */
    const pass = async (ms: number) => {
      clock.mockReturnValue(began + ms);
      await ticks(2);
    };
    return { ...started, pass };
  }

  it.each([
    ['a plain answer', {}],
    ['a stream that has ended', { accept: 'text/event-stream' }],
  ])('of %s is cut off after `readerTimeoutMs`, and not before', async (_which, accept) => {
    const { url, answers, hits, pass } = await startAt({ readerTimeoutMs: 60_000 });
    const response = await sendLarge(url, 20 * MIB, accept);
    const answer = answers.at(-1) as ServerResponse;
    await untilStuck(answer);
    await pass(0);
    await pass(59_999);
    expect([answer.destroyed, hits]).toEqual([false, []]);
    await pass(60_000);
    expect([answer.destroyed, hits]).toEqual([true, [{ limit: 'readerTimeoutMs' }]]);
    await expect(response.toArray()).rejects.toThrow('aborted');
  });

  it('of an open stream is cut off after a minute by default, and its call is cancelled', async () => {
    const { url, answers, hits, probe, pass } = await startAt();
    const began = once(probe, 'began');
    const aborted = once(probe, 'aborted');
    await open(url, modernHeaders('tools/call', 'stream'), modernCall(1, 'stream', {}, TOKEN));
    await began;
    const answer = answers.at(-1) as ServerResponse;
    probe.contexts[0]?.progress(2, 2, 'x'.repeat(20 * MIB));
    await untilSlow(answer);
    await untilStuck(answer);
    await pass(0);
    await pass(59_999);
    expect(answer.destroyed).toBe(false);
    await pass(60_000);
    expect(hits).toEqual([{ limit: 'readerTimeoutMs' }]);
    await aborted;
  });

  it('is not cut off as long as it takes a little in each interval', async () => {
    const { url, answers, hits, pass } = await startAt({ readerTimeoutMs: 60_000 });
    const response = await sendLarge(url, 40 * MIB);
    const answer = answers.at(-1) as ServerResponse;
    let taken = 0;
    for (let n = 0; n < 5; n += 1) {
      await pass(n * 59_999);
      // enough for the system to accept more from the server
      for (const enough = taken + 6 * MIB; taken < enough; await turn()) {
        taken += (response.read() as Buffer | null)?.length ?? 0;
      }
    }
    expect([answer.destroyed, hits]).toEqual([false, []]);
  });
});

describe('a client that pipelines requests', () => {
  type Call = ReturnType<typeof modernCall>;
  const calls = (count: number, name: string, input: JsonObject): Call[] =>
    Array.from({ length: count }, (_, n) => modernCall(n, name, input));

  /** The headers of a stateless call. */
  const headersOf = ({ params }: Call, isLast = false): Fields => ({
    accept: 'application/json, text/event-stream',
    ...modernHeaders('tools/call', String(params?.['name'])),
    ...(isLast && { connection: 'close' }),
  });

  /** Sends calls on one connection, without waiting for their answers. It closes after the one at `last`. */
  async function pipeline(url: string, sent: readonly Call[], last = -1): Promise<Connection> {
    const connection = await Connection.open(url);
    connection.socket.pause().cork();
    for (const [at, message] of sent.entries()) connection.post(message, headersOf(message, at === last));
    connection.socket.uncork();
    return connection;
  }

  it('gets the answers in order, each computed when it has taken the one before', async () => {
    const started = await startLarge();
    const { socket } = await pipeline(started.url, calls(17, 'large', { size: 4 * MIB }), 16);
    while (started.answers.length < 17) await turn();
    await untilStuck(started.answers[0] as ServerResponse);
    // what the system buffers is a few megabytes
    expect(started.answers.filter(({ writableEnded }) => writableEnded).length).toBeLessThan(5);
    expect(unsent(started)).toBeLessThan(5 * MIB);
    const text = ((await socket.toArray()) as string[]).join('');
    const statuses = Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status);
    expect(statuses).toEqual(Array(17).fill('200'));
    const ids = Array.from(text.matchAll(/"id":(\d+)/g), ([, id]) => Number(id));
    expect(ids).toEqual(Array.from({ length: 17 }, (_, n) => n));
    expect(started.hits).toEqual([]);
  });

  it('has one call in flight, and is disconnected when more than 16 others wait', async () => {
    const { url, probe, answers } = await start();
    const began = once(probe, 'began');
    const connection = await pipeline(url, calls(17, 'wait', {}));
    const closed = once(connection.socket.resume(), 'close');
    await began;
    while (answers.length < 17) await turn();
    for (let n = 0; n < 20; n += 1) await turn();
    expect([probe.contexts.length, probe.aborted, connection.socket.destroyed]).toEqual([1, 0, false]);
    const aborted = once(probe, 'aborted');
    const [, headers] = WAIT;
    connection.post(modernCall(17, 'wait'), headers);
    await Promise.all([aborted, closed]);
    expect(probe.contexts).toHaveLength(1);
  });

  /** Sends calls in one packet, whose handler answers at once. Returns the sums until the connection closes. */
  const sumsOf = async (count: number) => {
    const { url } = await start();
    const adding = Array.from({ length: count }, (_, n) => modernCall(n, 'add', { a: n, b: 0 }));
    const connection = await pipeline(url, adding, 16);
    connection.socket.resume();
    const text = await connection.closed();
    return Array.from(text.matchAll(/"text":"(\d+)"/g), ([, sum]) => Number(sum));
  };

  it('may send 17 in a packet, and is disconnected with more, even if each is answered at once', async () => {
    expect(await sumsOf(17)).toEqual(Array.from({ length: 17 }, (_, n) => n));
    // when the server resets the connection, the system may drop even the first answer
    expect((await sumsOf(18)).length).toBeLessThan(2);
  });

  it.each(['OPTIONS', 'GET', 'DELETE'])(
    'may send 17 × %s in a packet, and is disconnected with more',
    async (method) => {
      const { url } = await start();
      expect(await pipelined(`${method} /mcp`, url, 17)).toHaveLength(17);
      expect((await pipelined(`${method} /mcp`, url, 18)).length).toBeLessThan(2);
    },
  );

  it('uses up `maxUnfinishedBytesPerAddress` with bodies that wait, until it disconnects', async () => {
    const limits = { maxUnfinishedBytes: 2 * MIB, maxUnfinishedBytesPerAddress: 2 * MIB };
    const { url, probe, answers } = await start({ limits });
    const padded = (id: number, size: number) => ({ ...modernCall(id, 'add', SUM), padding: 'x'.repeat(size) });
    const status = () => statusOf(url, ADD[1], padded(9, MIB / 2));
    const began = once(probe, 'began');
    const connection = await pipeline(url, [WAIT[0], padded(1, 0.9 * MIB), padded(2, 0.9 * MIB)]);
    await began;
    while (answers.length < 3 || !answers[2]?.req.readableEnded) await turn();
    while ((await status()) !== 429) await turn();
    connection.leave();
    while ((await status()) !== 200) await turn();
  });

  it('may send the head of a POST before an answer, and the body after it, while others send a lot', async () => {
    const limits = { bodyLimit: 8000, maxUnfinishedBytes: 20_000, maxUnfinishedBytesPerAddress: 8000 };
    const { url, probe, answers } = await start({ limits });
    const headers = { 'content-type': 'application/json', ...ADD[1] };
    (await Connection.open(url)).head('POST', headers, 7999, 'x'.repeat(7500));
    const connection = await Connection.open(url);
    const began = once(probe, 'began');
    connection.post(WAIT[0], WAIT[1]);
    await began;
    const body = JSON.stringify({ ...ADD[0], padding: 'x'.repeat(1500) });
    connection.head('POST', headers, body.length);
    while (answers.length < 3) await turn();
    probe.emit('go');
    await connection.until(/let go/);
    connection.socket.write(body);
    expect(await connection.until(/"text":"3"/)).toMatch(/"text":"3"/);
  });

  it('gets the cancellation and the answers through that its call waits for', async () => {
    const { url, probe } = await start();
    const session = await openSession(url);
    const connection = await Connection.open(url);
    const [began, aborted] = [once(probe, 'began'), once(probe, 'aborted')];
    connection.post(call(7, 'wait'), session);
    await began;
    connection.post(cancelOf(7), session);
    await aborted;
  });

  it('frees its streams when it disconnects', async () => {
    const started = await startLarge({ limits: { maxStreams: 1 } });
    const { url, probe } = started;
    const session = await openSession(url);
    const connection = await pipeline(url, [WAIT[0]]);
    connection.head('GET', { accept: 'text/event-stream', ...session }, 0);
    while (started.answers.length < 4) await turn();
    while ((await open(url, session)).statusCode !== 429) await turn();
    const aborted = once(probe, 'aborted');
    connection.leave();
    await aborted;
    expect((await open(url, session)).statusCode).toBe(200);
  });
});
