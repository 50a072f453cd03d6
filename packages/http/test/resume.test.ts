import { EventEmitter, once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import { type EventStore, MemoryEventStore, type StoredEvent } from '@decorum/http';

import { stopClock } from './clock.js';
import { EventReader, getStream, type ServerEvent } from './events.js';
import { call, type Fields, json, modernCall, modernHeaders, openSession, post, request, serve } from './fixture.js';

const TOKEN = { progressToken: 1 };
const LET_GO = { id: 9, result: { content: [{ text: 'let go' }] } };

const resume = (url: string, session: Fields, id: string | undefined) =>
  getStream(url, { ...session, 'last-event-id': id ?? 'none' });

async function refused(url: string, session: Fields, id: string): Promise<number> {
  const response = await fetch(url, { headers: { ...session, accept: 'text/event-stream', 'last-event-id': id } });
  await response.body?.cancel();
  return response.status;
}

const messages = (events: ServerEvent[]) => events.flatMap(({ message }) => message ?? []);

describe('event ids', () => {
  it('are in every event, and the first event has no data [RESUME-07]', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    const events = await new EventReader(await post(url, call(1, 'steps', {}, TOKEN), session)).rest();
    expect(events).toHaveLength(5);
    expect(events[0]).toMatchObject({ data: '' });
    for (const { id } of events) expect(id).toMatch(/^[\x21-\x7e]+$/);
    const listening = await getStream(url, session);
    expect(await listening.next()).toMatchObject({ data: '', id: expect.any(String) });
  });

  it('are unique in the session and name their stream [RESUME-02] [RESUME-03]', async () => {
    const { url } = await serve();
    const session = await openSession(url);
    const streams = await Promise.all(
      [1, 2, 3].map(async (id) => new EventReader(await post(url, call(id, 'steps', {}, TOKEN), session)).rest()),
    );
    const ids = streams.map((events) => events.map(({ id }) => id as string));
    expect(new Set(ids.flat()).size).toBe(15);
    const names = ids.map((own) => new Set(own.map((id) => id.slice(0, id.lastIndexOf('-')))));
    expect(names.map(({ size }) => size)).toEqual([1, 1, 1]);
    expect(new Set(names.flatMap((own) => [...own])).size).toBe(3);
  });

  it('never come without data in revisions without priming events', async () => {
    const { url, probe } = await serve();
    for (const version of ['2025-03-26', '2025-06-18']) {
      const session = await openSession(url, {}, version);
      const lost = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
      const { id, data } = (await lost.next()) as ServerEvent;
      expect(data).not.toBe('');
      await lost.cancel();
      probe.emit('go');
      const back = await (await resume(url, session, id)).rest();
      expect(back.map(({ message }) => message)).toMatchObject([LET_GO]);
      const listening = await getStream(url, session);
      await fetch(url, { method: 'DELETE', headers: session });
      expect(await listening.rest()).toEqual([]);
    }
  });

  it('are absent in the stateless era [HTTP-36]', async () => {
    const { url } = await serve();
    const response = await post(url, modernCall(1, 'steps', {}, TOKEN), modernHeaders('tools/call', 'steps'));
    expect(await response.text()).not.toMatch(/^(id|retry):/m);
  });

  it('are absent without an event store', async () => {
    const { url } = await serve({ events: false });
    const session = await openSession(url);
    const text = await (await post(url, call(1, 'steps', {}, TOKEN), session)).text();
    expect(text).not.toMatch(/^id:/m);
    expect(await refused(url, session, 'paaaaaaaa-1')).toBe(400);
  });
});

describe('a client that reconnects', () => {
  it('gets the events it has missed, and then the response of the request in flight [RESUME-06]', async () => {
    const { url, probe } = await serve();
    const session = await openSession(url);
    const began = once(probe, 'began');
    const lost = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
    const { id } = (await lost.next()) as ServerEvent;
    await began;
    await lost.cancel();
    const back = await resume(url, session, id);
    expect((await back.message()).message).toMatchObject({ method: 'notifications/progress' });
    probe.contexts[0]?.progress(2);
    expect((await back.message()).message).toMatchObject({ params: { progress: 2 } });
    probe.emit('go');
    expect((await back.message()).message).toMatchObject(LET_GO);
    expect(await back.next()).toBeUndefined();
    expect(probe.aborted).toBe(0);
  });

  it('gets the rest even if the request has ended meanwhile, and repeatedly', async () => {
    const { url, probe } = await serve();
    const session = await openSession(url);
    const lost = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
    const { id } = await lost.message();
    await lost.cancel();
    probe.emit('go');
    for (let n = 0; n < 2; n++) {
      const events = messages(await (await resume(url, session, id)).rest());
      expect(events).toMatchObject([LET_GO]);
    }
  });

  it('knows when to do so if the handler has closed the stream [RESUME-09]', async () => {
    const { url, probe } = await serve();
    const session = await openSession(url);
    const began = once(probe, 'began');
    const events = await new EventReader(await post(url, call(9, 'poll'), session)).rest();
    expect(events).toEqual([{ id: expect.any(String), data: '' }, { retry: '25' }]);
    await began;
    const back = await resume(url, session, events[0]?.id);
    probe.emit('go');
    expect((await back.message()).message).toMatchObject(LET_GO);
  });

  it('gets no message of another stream [RESUME-05]', async () => {
    const { url, server } = await serve();
    const session = await openSession(url);
    await (await post(url, request(1, 'resources/subscribe', { uri: 'docs://guide' }), session)).text();
    const other = await getStream(url, session);
    server.notify.resourceUpdated('docs://guide');
    await other.message();
    const [, first] = await Promise.all([
      new EventReader(await post(url, call(1, 'steps', {}, TOKEN), session)).rest(),
      new EventReader(await post(url, call(2, 'steps', {}, TOKEN), session)).rest(),
    ]);
    const again = messages(await (await resume(url, session, first[0]?.id)).rest());
    expect(again.map(({ id, method }) => id ?? method)).toEqual([...Array(3).fill('notifications/progress'), 2]);
  });

  it('gets messages sent to the GET stream in the meantime', async () => {
    const { url, server } = await serve();
    const session = await openSession(url);
    await (await post(url, request(1, 'resources/subscribe', { uri: 'docs://guide' }), session)).text();
    const lost = await getStream(url, session);
    const { id } = (await lost.next()) as ServerEvent;
    server.notify.resourceUpdated('docs://guide');
    await lost.message();
    await lost.cancel();
    server.notify.resourceUpdated('docs://guide');
    const back = await resume(url, session, id);
    for (let n = 0; n < 2; n++) expect((await back.message()).message?.method).toBe('notifications/resources/updated');
    server.notify.toolsChanged();
    expect((await back.message()).message?.method).toBe('notifications/tools/list_changed');
  });

  it('takes over the stream from a connection that still seems alive [HTTP-33]', async () => {
    const { url, probe } = await serve();
    const session = await openSession(url);
    const old = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
    const { id } = await old.message();
    const back = await resume(url, session, id);
    await back.next();
    expect(await old.next()).toBeUndefined();
    probe.emit('go');
    expect((await back.message()).message).toMatchObject(LET_GO);
  });

  it('gets the newest events if not all are kept, and none after a position that never existed', async () => {
    const { url, probe } = await serve({ events: new MemoryEventStore({ maxEvents: 3 }) });
    const session = await openSession(url);
    const began = once(probe, 'began');
    const lost = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
    const id = ((await lost.message()).id as string).replace(/-\d+$/, '');
    await began;
    await lost.cancel();
    for (const step of [2, 3, 4, 5]) probe.contexts[0]?.progress(step);
    expect(await refused(url, session, `${id}-6`)).toBe(400);
    const back = await resume(url, session, `${id}-1`);
    probe.emit('go');
    const progress = [3, 4, 5].map((step) => ({ params: { progress: step } }));
    expect(messages(await back.rest())).toMatchObject([...progress, LET_GO]);
  });

  it('gets new messages even if its GET stream was given up for others (#22)', async () => {
    const { url, server } = await serve({ limits: { maxStreams: 1 } });
    const session = await openSession(url);
    const lost = await getStream(url, session);
    server.notify.toolsChanged();
    const { id } = await lost.message();
    await lost.cancel();
    let other = await fetch(url, { headers: { ...session, accept: 'text/event-stream' } });
    while (other.status !== 200) other = await fetch(url, { headers: { ...session, accept: 'text/event-stream' } });
    await other.body?.cancel();
    let back = await fetch(url, { headers: { ...session, 'last-event-id': id as string } });
    while (back.status !== 200) back = await fetch(url, { headers: { ...session, 'last-event-id': id as string } });
    server.notify.promptsChanged();
    const { message } = await new EventReader(back).message();
    expect(message?.method).toBe('notifications/prompts/list_changed');
  });

  it('gets nothing with an event id of another session or an unknown one [RESUME-05]', async () => {
    const { url } = await serve();
    const [alice, bob] = [await openSession(url), await openSession(url)];
    const hers = await new EventReader(await post(url, call(1, 'steps', {}, TOKEN), alice)).rest();
    const id = hers[0]?.id as string;
    expect(await refused(url, bob, id)).toBe(400);
    for (const made of [
      '',
      '1',
      'x-1',
      `${id}x`,
      id.replace(/^p/, 'q'),
      `${id.slice(0, -2)}-99999999999`,
      '__proto__-0',
    ]) {
      expect([made, await refused(url, bob, made)]).toEqual([made, 400]);
    }
    const listening = await getStream(url, alice);
    const { id: listeningId } = (await listening.next()) as ServerEvent;
    expect(await refused(url, bob, listeningId as string)).toBe(400);
    expect(await refused(url, bob, 'gaaaaaaaa-1')).toBe(400);
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
      const { url, probe } = await serve({ events });
      const session = await openSession(url);
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
      const back = await resume(url, session, id);
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
    const { url, probe } = await serve({ events: { append: (key, event) => memory.append(key, event), read } });
    const session = await openSession(url);
    const lost = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
    const { id } = (await lost.next()) as ServerEvent;
    await lost.cancel();
    const readers: Promise<EventReader>[] = [];
    for (const step of [2, 3]) {
      const began = once(reads, 'read');
      readers.push(resume(url, session, id));
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
    const broken: EventStore = {
      append: async () => {
        throw new Error('no store');
      },
      read: () => {
        throw new Error('no store');
      },
    };
    const { url, errors } = await serve({ events: broken });
    const session = await openSession(url);
    const events = await new EventReader(await post(url, call(1, 'steps', {}, TOKEN), session)).rest();
    expect(messages(events)).toHaveLength(4);
    const response = await fetch(url, {
      headers: { ...session, accept: 'text/event-stream', 'last-event-id': events[0]?.id as string },
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
    expect((await json(response)).error?.message).toBe('The server cannot reach its data. Try again later.');
    expect(errors).toHaveLength(5);
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
    const { url, errors } = await serve({ events: { append() {}, read }, keepAliveMs: 10 });
    const session = await openSession(url);
    const headers = { ...session, accept: 'text/event-stream', 'last-event-id': `${kind}${'0'.repeat(8)}-0` };
    const response = await fetch(url, { headers });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
    await response.text();
    reads.emit('go');
    expect((await post(url, request(1, 'ping'), session)).status).toBe(200);
    expect(errors).toEqual([new Error('events.read does not answer.')]);
  });
});

describe('MemoryEventStore', () => {
  const fill = (store: EventStore, key: string, count: number, frame = 'x') => {
    for (let sequence = 1; sequence <= count; sequence++) void store.append(key, { sequence, frame });
  };

  it('returns the events of a stream after a position, in order', () => {
    const store = new MemoryEventStore();
    fill(store, 'a', 3);
    fill(store, 'b', 2);
    expect(store.read('a', 1)?.map(({ sequence }) => sequence)).toEqual([2, 3]);
    expect(store.read('a', 3)).toEqual([]);
    expect(store.read('c', 0)).toBeUndefined();
  });

  it('caps the number of events, and evicts the quietest stream first', () => {
    const store = new MemoryEventStore({ maxEvents: 4 });
    fill(store, 'a', 2);
    fill(store, 'b', 2);
    store.append('a', { sequence: 3, frame: 'x' });
    expect(store.read('b', 0)).toBeUndefined();
    expect(store.read('a', 0)).toHaveLength(3);
  });

  it('caps the size, even of a single stream', () => {
    // each event counts with its prefix "data: "
    const store = new MemoryEventStore({ maxSize: 160 });
    fill(store, 'a', 50, '0123456789');
    expect(store.read('a', 0)?.map(({ sequence }) => sequence)).toEqual([41, 42, 43, 44, 45, 46, 47, 48, 49, 50]);
    fill(store, 'b', 1, 'y'.repeat(155));
    expect(store.read('a', 0)).toBeUndefined();
    expect(store.read('b', 0) ?? []).toEqual([]);
  });

  it.each([
    ['maxAgeMs', { maxAgeMs: 5 }, 5],
    ['five minutes by default', {}, 300_000],
  ])('drops events after their maximum age, and not before: %s', (_name, options, ms) => {
    const pass = stopClock();
    const store = new MemoryEventStore(options);
    fill(store, 'a', 1);
    pass(ms);
    expect(store.read('a', 0)).toHaveLength(1);
    pass(1);
    expect(store.read('a', 0)).toBeUndefined();
  });

  it('has at most 10,000 events and 33,554,432 characters by default', () => {
    const store = new MemoryEventStore();
    fill(store, 'a', 10_000);
    expect(store.read('a', 0)).toHaveLength(10_000);
    store.append('a', { sequence: 10_001, frame: 'x' });
    expect(store.read('a', 0)?.[0]?.sequence).toBe(2);
    const other = new MemoryEventStore();
    // each event counts with its prefix "data: "
    for (const sequence of [1, 2]) other.append('a', { sequence, frame: 'x'.repeat(16_777_216 - 6) });
    expect(other.read('a', 0)).toHaveLength(2);
    other.append('a', { sequence: 3, frame: 'x' });
    expect(other.read('a', 0)?.map(({ sequence }) => sequence)).toEqual([2, 3]);
  });
});
