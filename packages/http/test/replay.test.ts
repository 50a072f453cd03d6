import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { getDefaultHighWaterMark } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import { type EventStore, MemoryEventStore, type StoredEvent } from '@decorum/http';

import { EventReader, getStream, type ServerEvent } from './events.js';
import { call, type Fields, json, openSession, post } from './fixture.js';
import { eventsIn, open, start, untilSlow } from './paused.js';

const TOKEN = { progressToken: 1 };
const ID = 'paaaaaaaa';
const COUNT = 2000;
const SIZE = 10_000;

/** Has 20 MB of events of every stream, and counts what is read. */
class LongStore implements EventStore {
  reads = 0;
  furthest = 0;

  constructor(private readonly heedsLimit: boolean) {}

  append(): void {}

  read(_key: string, after: number, limit = COUNT): readonly StoredEvent[] {
    this.reads += 1;
    const count = Math.min(COUNT - after, this.heedsLimit ? limit : COUNT);
    this.furthest = Math.max(this.furthest, after + count);
    const frame = (n: number) => JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { n, text: 'x'.repeat(SIZE) } });
    return Array.from({ length: count }, (_, n) => ({ sequence: after + n + 1, frame: frame(after + n + 1) }));
  }
}

const POSITIONS = Array.from({ length: COUNT }, (_, n) => n + 1);

const resume = (url: string, session: Fields, id = `${ID}-0`) => open(url, { ...session, 'last-event-id': id });

describe('a client that resumes an ended stream', () => {
  it.each([
    ['reads page by page', true],
    ['returns everything at once', false],
  ])('is sent events only as fast as it reads, from a store that %s', async (_which, heedsLimit) => {
    const events = new LongStore(heedsLimit);
    const { url, answers } = await start({ events });
    const response = await resume(url, await openSession(url));
    const answer = answers.at(-1) as ServerResponse;
    await untilSlow(answer);
    // one write of several events, and what the socket buffers anyway: 16 KiB in Node 20, 64 KiB since
    expect(answer.writableLength).toBeLessThan(getDefaultHighWaterMark(false) + 44_000);
    if (heedsLimit) expect(events.furthest).toBeLessThan(COUNT);
    expect((await eventsIn(response)).map(({ position }) => position)).toEqual(POSITIONS);
  });

  it('is disconnected if it resumes the stream again, and only the new connection gets events', async () => {
    const { url, answers } = await start({ events: new LongStore(true) });
    const session = await openSession(url);
    const first = await resume(url, session);
    const answer = answers.at(-1) as ServerResponse;
    await untilSlow(answer);
    const closed = once(answer, 'close');
    const second = await resume(url, session, `${ID}-1900`);
    await closed;
    await expect(first.toArray()).rejects.toThrow('aborted');
    expect((await eventsIn(second)).map(({ position }) => position)).toEqual(POSITIONS.slice(1900));
  });

  it('is disconnected if the store fails on the way, and the error is reported', async () => {
    const store = new LongStore(true);
    const events: EventStore = {
      append() {},
      read: (key, after, limit) => {
        if (after > 500) throw new Error('no store');
        return store.read(key, after, limit);
      },
    };
    const { url, errors } = await start({ events });
    const response = await resume(url, await openSession(url));
    await expect(response.toArray()).rejects.toThrow('aborted');
    expect(errors).toEqual([new Error('no store')]);
  });

  it('gets an empty stream if there is nothing more', async () => {
    const { url } = await start({ events: new LongStore(true) });
    expect(await eventsIn(await resume(url, await openSession(url), `${ID}-${COUNT}`))).toEqual([]);
  });
});

describe('resumed streams', () => {
  const streamId = (n: number) => `p${String(n).padStart(8, '0')}-0`;

  it('count among the streams of the session: at the limit they are served, and beyond it get 429', async () => {
    const { url, hits, answers } = await start({ events: new LongStore(true), limits: { maxStreams: 3 } });
    const session = await openSession(url);
    const listening = await getStream(url, session);
    for (const n of [1, 2]) {
      expect((await resume(url, session, streamId(n))).statusCode).toBe(200);
      await untilSlow(answers.at(-1) as ServerResponse);
    }
    const refused = await fetch(url, {
      headers: { ...session, accept: 'text/event-stream', 'last-event-id': streamId(3) },
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    expect((await json(refused)).error?.message).toBe('The session has too many open streams.');
    expect((await open(url, session)).statusCode).toBe(429);
    expect(hits.map(({ limit }) => limit)).toEqual(['maxStreams', 'maxStreams']);
    expect((await resume(url, await openSession(url), streamId(3))).statusCode).toBe(200);
    await listening.cancel();
  });

  it('free their place when they are complete or the client disconnects', async () => {
    const { url, answers } = await start({ events: new LongStore(true), limits: { maxStreams: 1 } });
    const session = await openSession(url);
    await eventsIn(await resume(url, session, streamId(1)));
    const lost = await resume(url, session, streamId(2));
    expect(lost.statusCode).toBe(200);
    const closed = once(answers.at(-1) as ServerResponse, 'close');
    lost.destroy();
    await closed;
    expect((await resume(url, session, streamId(3))).statusCode).toBe(200);
  });

  it('take no place if the stream is unknown', async () => {
    const { url } = await start({ limits: { maxStreams: 1 } });
    const session = await openSession(url);
    for (const n of [1, 2, 3]) expect((await resume(url, session, streamId(n))).statusCode).toBe(400);
    expect((await open(url, session)).statusCode).toBe(200);
  });
});

describe('a client that resumes the stream of a request in flight', () => {
  /** A call whose stream has lost its reader and has many events in the store. */
  async function lose(events: EventStore = new MemoryEventStore()) {
    const started = await start({ events });
    const { url, probe } = started;
    const session = await openSession(url);
    const began = once(probe, 'began');
    const lost = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
    const { id } = (await lost.next()) as ServerEvent;
    await began;
    const answer = started.answers.at(-1) as ServerResponse;
    const closed = once(answer, 'close');
    await lost.cancel();
    await closed;
    const report = (from: number, to: number) => {
      for (let n = from; n <= to; n += 1) probe.contexts[0]?.progress(n, COUNT, 'x'.repeat(SIZE));
    };
    report(2, COUNT);
    return { ...started, session, id: id as string, report };
  }

  it('gets what is sent while it catches up, once and in order, and then the response [HTTP-14] [HTTP-19]', async () => {
    const { url, session, id, report, answers, probe } = await lose();
    const response = await resume(url, session, id);
    await untilSlow(answers.at(-1) as ServerResponse);
    report(COUNT + 1, COUNT + 10);
    await turn();
    const reading = eventsIn(response);
    report(COUNT + 11, COUNT + 20);
    probe.emit('go');
    const found = await reading;
    expect(found.map(({ position }) => position)).toEqual(Array.from({ length: COUNT + 21 }, (_, n) => n + 1));
    expect(JSON.parse(found.at(-1)?.data ?? '')).toMatchObject({ id: 9, result: { content: [{ text: 'let go' }] } });
  });

  it('is served live once it has caught up', async () => {
    const { url, session, id, report } = await lose();
    const back = await getStream(url, { ...session, 'last-event-id': id });
    for (let n = 1; n <= COUNT; n += 1) expect((await back.message()).message?.params).toMatchObject({ progress: n });
    report(COUNT + 1, COUNT + 1);
    expect((await back.message()).message?.params).toMatchObject({ progress: COUNT + 1 });
  });

  it('is told when to come back if the handler closes the stream while it catches up [RESUME-09]', async () => {
    const { url, session, id, answers, probe } = await lose();
    const response = await resume(url, session, id);
    await untilSlow(answers.at(-1) as ServerResponse);
    probe.contexts[0]?.closeStream({ retryMs: 70 });
    const text = Buffer.concat(await response.toArray()).toString();
    expect(text).toMatch(/\n\nretry: 70\n\n$/);
    const last = [...text.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1];
    const again = await resume(url, session, last);
    probe.emit('go');
    const positions = (await eventsIn(again)).map(({ position }) => position);
    expect(positions).toEqual(Array.from({ length: positions.length }, (_, n) => COUNT + 1 - positions.length + n + 1));
    expect(positions.at(-1)).toBe(COUNT + 1);
  });

  it('gets the response even if the call ends while it catches up, and the server closes [HTTP-14] [HTTP-19]', async () => {
    const { url, session, id, answers, probe, app } = await lose();
    const response = await resume(url, session, id);
    await untilSlow(answers.at(-1) as ServerResponse);
    probe.emit('go');
    const closing = app.close();
    const found = await eventsIn(response);
    await closing;
    expect(found.at(-1)?.position).toBe(COUNT + 1);
  });
});
