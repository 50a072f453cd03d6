// Streams that their clients resume: what they get, from which store, and how fast.
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { getDefaultHighWaterMark } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import { type EventStore, MemoryEventStore, type StoredEvent } from '@decorum/http';

import { cpuMs } from '../../../test/support/cpu.js';
import { stopClock } from './clock.js';
import { EventReader, getStream, type ServerEvent } from './events.js';
import { serveSession } from './fixture.js';
import { call, type Fields, json, TOKEN } from './messages.js';
import { openSession, post, statusOf, statusOfGet } from './sending.js';
import { eventsIn, open, start, untilSlow } from './paused.js';

const LET_GO = { id: 9, result: { content: [{ text: 'let go' }] } };

const messages = (events: ServerEvent[]) => events.flatMap(({ message }) => message ?? []);

describe('a client that reconnects', () => {
  it('gets the newest events if not all are kept, and none after a position that never existed', async () => {
    const { url, probe, session } = await serveSession({ events: new MemoryEventStore({ maxEvents: 3 }) });
    const began = once(probe, 'began');
    const lost = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
    const id = ((await lost.message()).id as string).replace(/-\d+$/, '');
    await began;
    await lost.cancel();
    for (const step of [2, 3, 4, 5]) probe.contexts[0]?.progress(step);
    expect(await statusOfGet(url, { ...session, 'last-event-id': `${id}-6` })).toBe(400);
    const back = await getStream(url, { ...session, 'last-event-id': `${id}-1` });
    probe.emit('go');
    const progress = [3, 4, 5].map((step) => ({ params: { progress: step } }));
    expect(messages(await back.rest())).toMatchObject([...progress, LET_GO]);
  });

  it('gets new messages even if its GET stream was given up for others (#22)', async () => {
    const { url, server, session } = await serveSession({ limits: { maxStreams: 1 } });
    const lost = await getStream(url, session);
    server.notify.toolsChanged();
    const { id } = await lost.message();
    await lost.cancel();
    while ((await statusOfGet(url, session)) !== 200);
    let back: EventReader | undefined;
    while (!back) back = await getStream(url, { ...session, 'last-event-id': id as string }).catch(() => undefined);
    server.notify.promptsChanged();
    expect((await back.message()).message?.method).toBe('notifications/prompts/list_changed');
  });
});

describe('an EventStore', () => {
  /** Responds with the delay of a remote store. */
  class SlowStore implements EventStore {
    private readonly memory = new MemoryEventStore();
    reading: (() => void) | undefined;

    /** @param late whether a read includes events appended in the meantime */
    constructor(private readonly late: boolean) {}

    async append(key: string, event: StoredEvent): Promise<void> {
      await turn();
      this.memory.append(key, event);
    }

    async read(key: string, after: number): Promise<readonly StoredEvent[] | undefined> {
      const events = this.memory.read(key, after);
      this.reading?.();
      for (let n = 0; n < 4; n++) await turn();
      return this.late ? this.memory.read(key, after) : events;
    }
  }

  it.each([true, false])(
    'may be slow: what is sent while it is read comes once and in order (late: %s)',
    async (late) => {
      const events = new SlowStore(late);
      const { url, probe, session } = await serveSession({ events });
      const lost = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
      const { id } = (await lost.next()) as ServerEvent;
      await lost.cancel();
      const context = probe.contexts[0];
      for (const step of [2, 3]) context?.progress(step);
      events.reading = () => {
        for (const step of [4, 5]) context?.progress(step);
        void turn().then(() => context?.progress(6));
        events.reading = undefined;
      };
      const back = await getStream(url, { ...session, 'last-event-id': id as string });
      probe.emit('go');
      const got = messages(await back.rest());
      expect(got.slice(0, -1).map(({ params }) => params?.['progress'])).toEqual([1, 2, 3, 4, 5, 6]);
      expect(got.at(-1)).toMatchObject(LET_GO);
    },
  );

  it.each([
    ['first', [0, 1]],
    ['last', [1, 0]],
  ])('may be slow: two concurrent readers get no gaps (the first is answered %s)', async (_order, order) => {
    const memory = new MemoryEventStore();
    const reads = new EventEmitter();
    const answers: (() => void)[] = [];
    const read = async (key: string, after: number) => {
      const events = memory.read(key, after);
      // the reader that goes on may read again
      if (answers.length === order.length) return events;
      const answered = new Promise<void>((resolve) => answers.push(resolve));
      reads.emit('read');
      await answered;
      return events;
    };
    const events = { append: memory.append.bind(memory), read };
    const { url, probe, session } = await serveSession({ events });
    const lost = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
    const { id } = (await lost.next()) as ServerEvent;
    await lost.cancel();
    const readers: Promise<EventReader>[] = [];
    for (const step of [2, 3]) {
      const began = once(reads, 'read');
      readers.push(getStream(url, { ...session, 'last-event-id': id as string }));
      await began;
      probe.contexts[0]?.progress(step);
    }
    for (const which of order) {
      answers[which]?.();
      await readers[which];
    }
    probe.emit('go');
    const [first = [], second = []] = await Promise.all(
      readers.map(async (back) => messages(await (await back).rest())),
    );
    expect(first).toEqual([]);
    expect(second.slice(0, -1).map(({ params }) => params?.['progress'])).toEqual([1, 2, 3]);
    expect(second.at(-1)).toMatchObject(LET_GO);
  });

  it('may fail: the live stream goes on, and a reconnect is answered with 503', async () => {
    const fails = () => {
      throw new Error('no store');
    };
    const { url, errors, session } = await serveSession({ events: { append: async () => fails(), read: fails } });
    const events = await new EventReader(await post(url, call(1, 'steps', {}, TOKEN), session)).rest();
    expect(messages(events)).toHaveLength(4);
    const response = await fetch(url, {
      headers: { ...session, accept: 'text/event-stream', 'last-event-id': events[0]?.id as string },
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
    expect((await json(response)).error?.message).toBe('The server cannot reach its data. Try again later.');
    // a method that fails is reported once, until it works again
    expect(errors).toHaveLength(2);
  });
});

describe('an EventStore that answers too late', () => {
  it.each(['p', 'g'])('costs the client a 503, and nothing more when it does answer (%s) (#22)', async (kind) => {
    const reads = new EventEmitter();
    const read = async () => {
      const go = once(reads, 'go');
      reads.emit('read');
      await go;
      return [];
    };
    const { url, errors, session } = await serveSession({ events: { append() {}, read }, keepAliveMs: 10 });
    const headers = { ...session, accept: 'text/event-stream', 'last-event-id': `${kind}${'0'.repeat(8)}-0` };
    const response = await fetch(url, { headers });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
    await response.text();
    reads.emit('go');
    expect(await statusOf(url, session)).toBe(200);
    expect(errors).toEqual([new Error('events.read does not answer.')]);
  });
});

const ID = 'paaaaaaaa';
const COUNT = 2000;
const SIZE = 10_000;

/** Has 20 MB of events of every stream, and notes how far it is read. */
class LongStore implements EventStore {
  furthest = 0;

  constructor(private readonly heedsLimit: boolean) {}

  append(): void {}

  read(_key: string, after: number, limit = COUNT): readonly StoredEvent[] {
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
    const events = new LongStore(true);
    const read = events.read.bind(events);
    events.read = (key, after, limit) => {
      if (after > 500) throw new Error('no store');
      return read(key, after, limit);
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
    const refused = await fetch(url, { headers: { ...session, 'last-event-id': streamId(3) } });
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

  it('gets what is sent while it catches up, once and in order, and then the response', async () => {
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

  it('is told when to come back if the handler closes the stream while it catches up', async () => {
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

  it('gets the response even if the call ends while it catches up, and the server closes', async () => {
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

const fill = (store: MemoryEventStore, key: string, [first, last]: readonly [number, number], frame = '0123456789') => {
  for (let sequence = first; sequence <= last; sequence += 1) store.append(key, { sequence, frame });
};

/** The whole numbers from one to another. */
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

const sequences = (store: MemoryEventStore, key: string) => store.read(key, 0)?.map(({ sequence }) => sequence);

describe('a session in a MemoryEventStore', () => {
  it.each([
    ['events', { maxEvents: 10 }],
    // each event counts with its prefix "data: "
    ['size', { maxSize: 160 }],
  ])('loses only its own oldest events at the cap on %s', (_what, options) => {
    const store = new MemoryEventStore(options);
    fill(store, 'quiet/a', [1, 3]);
    fill(store, 'busy/b', [1, 7]);
    expect([sequences(store, 'quiet/a'), sequences(store, 'busy/b')]).toEqual([range(1, 3), range(1, 7)]);
    fill(store, 'busy/b', [8, 8]);
    expect(sequences(store, 'busy/b')).toEqual(range(2, 8));
    fill(store, 'busy/b', [9, 500]);
    expect([sequences(store, 'quiet/a'), sequences(store, 'busy/b')]).toEqual([range(1, 3), range(494, 500)]);
  });

  it('gets room at the expense of the one that holds most', () => {
    const store = new MemoryEventStore({ maxEvents: 100 });
    fill(store, 'small/a', [1, 10]);
    fill(store, 'large/b', [1, 90]);
    fill(store, 'new/c', [1, 10]);
    expect([sequences(store, 'small/a')?.length, sequences(store, 'new/c')?.length]).toEqual([10, 10]);
    expect(sequences(store, 'large/b')).toEqual(range(11, 90));
  });

  it('cannot flush a smaller one with any number of streams', () => {
    const store = new MemoryEventStore({ maxEvents: 50 });
    fill(store, 'quiet/a', [1, 5]);
    for (let n = 0; n < 1000; n += 1) fill(store, `busy/s${n}`, [1, 1]);
    expect(sequences(store, 'quiet/a')).toEqual(range(1, 5));
    expect([sequences(store, 'busy/s954'), sequences(store, 'busy/s955')]).toEqual([undefined, [1]]);
  });

  it('loses the streams that expire while it is busy with others', () => {
    const forward = stopClock();
    const store = new MemoryEventStore({ maxAgeMs: 1 });
    fill(store, 's/a', [1, 1]);
    forward(2);
    fill(store, 's/b', [1, 1]);
    expect(store.read('s/a', 0)).toBeUndefined();
  });

  it('costs the same to evict, however many there are', () => {
    const cost = (count: number) => {
      const store = new MemoryEventStore({ maxEvents: count });
      for (let n = 0; n < count; n += 1) fill(store, `s${n}/a`, [1, 1]);
      const began = cpuMs();
      for (let n = 0; n < 5000; n += 1) fill(store, `t${n}/a`, [1, 1]);
      return cpuMs() - began;
    };
    cost(100);
    // a walk over all sessions for each event would take about 200 times as long
    expect(cost(20_000)).toBeLessThan(50 * (cost(100) + 10));
  });
});

/** A batch with a priming event, and one event for each letter. */
const batch = (first: number, letters: string) => {
  const events = Array.from(letters, (letter, n) => `id: a-${first + n}\ndata: ${letter}\n\n`);
  return { first, count: letters.length, text: `id: a-0\ndata: \n\n${events.join('')}` };
};

describe('a MemoryEventStore', () => {
  it.each([
    ['maxAgeMs', { maxAgeMs: 5 }, 5],
    ['five minutes by default', {}, 300_000],
  ])('drops events after their maximum age, and not before: %s', (_name, options, ms) => {
    const pass = stopClock();
    const store = new MemoryEventStore(options);
    fill(store, 'a', [1, 1]);
    pass(ms);
    expect(store.read('a', 0)).toHaveLength(1);
    pass(1);
    expect(store.read('a', 0)).toBeUndefined();
  });

  it('keeps the events of a stream that was silent for longer than that', () => {
    const pass = stopClock();
    const store = new MemoryEventStore({ maxAgeMs: 5 });
    fill(store, 's/a', [1, 1]);
    fill(store, 't/b', [1, 1]);
    pass(6);
    fill(store, 's/a', [2, 3]);
    expect(sequences(store, 's/a')).toEqual([2, 3]);
  });

  it('has at most 10,000 events and 33,554,432 characters by default', () => {
    const store = new MemoryEventStore();
    fill(store, 'a', [1, 10_000]);
    expect(store.read('a', 0)).toHaveLength(10_000);
    store.append('a', { sequence: 10_001, frame: 'x' });
    expect(store.read('a', 0)?.[0]?.sequence).toBe(2);
    const other = new MemoryEventStore();
    // each event counts with its prefix "data: "
    for (const sequence of [1, 2]) other.append('a', { sequence, frame: 'x'.repeat(16_777_216 - 6) });
    expect(other.read('a', 0)).toHaveLength(2);
    other.append('a', { sequence: 3, frame: 'x' });
    expect(sequences(other, 'a')).toEqual([2, 3]);
  });

  it('drops only the oldest events of a batch', () => {
    const store = new MemoryEventStore({ maxEvents: 3 });
    store.appendBatch('a', batch(1, 'abcde'));
    expect(store.read('a', 0)?.map(({ frame }) => frame)).toEqual(['c', 'd', 'e']);
    fill(store, 'a', [6, 8]);
    expect(sequences(store, 'a')).toEqual([6, 7, 8]);
  });

  it.each([{ maxEvents: Number.NaN }, { maxSize: 0 }, { maxAgeMs: -1 }, { maxEvent: 5 }])('refuses %j', (options) => {
    expect(() => new MemoryEventStore(options)).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }));
  });

  it('reads up to the batch that reaches the limit', () => {
    const store = new MemoryEventStore();
    const text = (letters: string) => Array.from(letters, (letter) => `data: ${letter}\n\n`).join('');
    store.appendBatch('s/a', { first: 1, count: 3, text: text('abc') });
    store.appendBatch('s/a', { first: 4, count: 2, text: text('de') });
    store.appendBatch('s/a', { first: 6, count: 1, text: text('f') });
    const read = (after: number, limit: number) =>
      store
        .read('s/a', after, limit)
        ?.map(({ frame }) => frame)
        .join('');
    const found = [read(0, 1), read(1, 2), read(1, 3), read(3, 1), read(5, 9), read(6, 9)];
    expect(found).toEqual(['abc', 'bc', 'bcde', 'de', 'f', '']);
  });
});
