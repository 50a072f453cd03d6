import { describe, expect, it } from '@jest/globals';
import { MemoryEventStore } from '@decorum/http';

import { stopClock } from './clock.js';
import { EventReader, getStream, type ServerEvent } from './events.js';
import { call, openSession, post, serve } from './fixture.js';

const fill = (store: MemoryEventStore, key: string, [first, last]: readonly [number, number], frame = 'x') => {
  for (let sequence = first; sequence <= last; sequence += 1) store.append(key, { sequence, frame });
};

const sequences = (store: MemoryEventStore, key: string) => store.read(key, 0)?.map(({ sequence }) => sequence);

/** CPU milliseconds that some work takes. */
function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('a session in a MemoryEventStore', () => {
  it('loses only its own oldest events at the cap on events', () => {
    const store = new MemoryEventStore({ maxEvents: 10 });
    fill(store, 'quiet/a', [1, 3]);
    fill(store, 'busy/b', [1, 7]);
    expect([sequences(store, 'quiet/a'), sequences(store, 'busy/b')]).toEqual([
      [1, 2, 3],
      [1, 2, 3, 4, 5, 6, 7],
    ]);
    fill(store, 'busy/b', [8, 8]);
    expect(sequences(store, 'busy/b')).toEqual([2, 3, 4, 5, 6, 7, 8]);
    fill(store, 'busy/b', [9, 500]);
    expect(sequences(store, 'quiet/a')).toEqual([1, 2, 3]);
    expect(sequences(store, 'busy/b')).toEqual([494, 495, 496, 497, 498, 499, 500]);
  });

  it('loses only its own oldest events at the cap on size', () => {
    // each event counts with its prefix "data: "
    const store = new MemoryEventStore({ maxSize: 160 });
    fill(store, 'quiet/a', [1, 3], '0123456789');
    fill(store, 'busy/b', [1, 7], '0123456789');
    expect(sequences(store, 'busy/b')).toHaveLength(7);
    fill(store, 'busy/b', [8, 8], '0123456789');
    expect(sequences(store, 'busy/b')).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect(sequences(store, 'quiet/a')).toEqual([1, 2, 3]);
  });

  it('gets room at the expense of the one that holds most', () => {
    const store = new MemoryEventStore({ maxEvents: 100 });
    fill(store, 'small/a', [1, 10]);
    fill(store, 'large/b', [1, 90]);
    fill(store, 'new/c', [1, 10]);
    expect([sequences(store, 'small/a')?.length, sequences(store, 'new/c')?.length]).toEqual([10, 10]);
    expect(sequences(store, 'large/b')).toEqual(Array.from({ length: 80 }, (_, n) => n + 11));
  });

  it('cannot flush a smaller one with any number of streams', () => {
    const store = new MemoryEventStore({ maxEvents: 50 });
    fill(store, 'quiet/a', [1, 5]);
    for (let n = 0; n < 1000; n += 1) fill(store, `busy/s${n}`, [1, 1]);
    expect(sequences(store, 'quiet/a')).toEqual([1, 2, 3, 4, 5]);
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
      return cpuOf(() => {
        for (let n = 0; n < 5000; n += 1) fill(store, `t${n}/a`, [1, 1]);
      });
    };
    cost(100);
    // a walk over all sessions for each event would take about 200 times as long
    expect(cost(20_000)).toBeLessThan(50 * (cost(100) + 10));
  });

  it('keeps its events while another one sends thousands', async () => {
    const { url, probe } = await serve({ events: new MemoryEventStore({ maxEvents: 100 }) });
    const [quiet, busy] = [await openSession(url), await openSession(url)];
    const token = { progressToken: 1 };
    const first = await new EventReader(await post(url, call(1, 'steps', {}, token), quiet)).rest();
    await (await post(url, call(1, 'flood', { count: 1000 }, token), busy)).text();
    const back = await getStream(url, { ...quiet, 'last-event-id': (first[0] as ServerEvent).id as string });
    expect((await back.rest()).filter(({ message }) => message)).toHaveLength(4);
    expect(probe.aborted).toBe(0);
  });
});

/** A batch with a priming event, and one event for each letter. */
const batch = (first: number, letters: string) => {
  const events = Array.from(letters, (letter, n) => `id: a-${first + n}\ndata: ${letter}\n\n`);
  return { first, count: letters.length, text: `id: a-0\ndata: \n\n${events.join('')}` };
};

describe('a MemoryEventStore', () => {
  it('returns the events of a stream after a position, in order', () => {
    const store = new MemoryEventStore();
    fill(store, 'a', [1, 3]);
    fill(store, 'b', [1, 2]);
    expect(store.read('a', 1)?.map(({ sequence }) => sequence)).toEqual([2, 3]);
    expect(store.read('a', 3)).toEqual([]);
    expect(store.read('c', 0)).toBeUndefined();
  });

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
    expect(other.read('a', 0)?.map(({ sequence }) => sequence)).toEqual([2, 3]);
  });

  it('drops only the oldest events of a batch', () => {
    const store = new MemoryEventStore({ maxEvents: 3 });
    store.appendBatch('a', batch(1, 'abcde'));
    expect(store.read('a', 0)?.map(({ frame }) => frame)).toEqual(['c', 'd', 'e']);
    store.append('a', { sequence: 6, frame: 'f' });
    store.append('a', { sequence: 7, frame: 'g' });
    store.append('a', { sequence: 8, frame: 'h' });
    expect(store.read('a', 0)?.map(({ sequence }) => sequence)).toEqual([6, 7, 8]);
  });

  it.each([{ maxEvents: Number.NaN }, { maxSize: 0 }, { maxAgeMs: -1 }, { maxEvent: 5 }])('refuses %j', (options) => {
    expect(() => new MemoryEventStore(options)).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }));
  });
});

describe('read of a MemoryEventStore', () => {
  it('stops after the batch that reaches the limit', () => {
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
    expect([read(0, 1), read(1, 2), read(1, 3), read(3, 1), read(5, 9), read(6, 9)]).toEqual([
      'abc',
      'bc',
      'bcde',
      'de',
      'f',
      '',
    ]);
  });
});
