// The contracts of SessionStore and EventStore. Run them against your own implementation.
// In-memory stores with the delay of a remote store.
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import {
  type EventStore,
  type KeptSession,
  MemoryEventStore,
  MemorySessionStore,
  type SessionStore,
  type StoredEvent,
} from '@decorum/http';

const HOUR = 3_600_000;

const record = (id: string, more: Partial<KeptSession> = {}): KeptSession => ({
  id,
  revision: '2025-11-25',
  client: { info: { name: 'c', version: '1' }, capabilities: { roots: {} } },
  principal: { subject: 'ann', scopes: ['read'] },
  joined: true,
  createdAt: 1,
  usedAt: 2,
  ...more,
});

/**
 * Registers the tests that any `SessionStore` must pass.
 * @param create creates an empty store
 * @param pass advances the clock of the store by some milliseconds
 */
export function describeSessionStore(
  name: string,
  create: () => SessionStore | Promise<SessionStore>,
  pass: (ms: number) => void | Promise<void>,
): void {
  describe(`${name} as a SessionStore`, () => {
    it('returns a record as it was when it was set', async () => {
      const store = await create();
      const given = record('a');
      await store.set(given, HOUR);
      given.usedAt = 99;
      expect(await store.get('a')).toEqual(record('a'));
    });

    it('returns copies: changing one does not change the store', async () => {
      const store = await create();
      await store.set(record('a'), HOUR);
      Object.assign((await store.get('a')) as object, { usedAt: 99 });
      expect(await store.get('a')).toEqual(record('a'));
    });

    it('returns nothing for other ids', async () => {
      const store = await create();
      await store.set(record('a'), HOUR);
      for (const id of ['b', '', '__proto__', 'constructor', 'a ']) expect(await store.get(id)).toBeUndefined();
    });

    it('replaces the whole record', async () => {
      const store = await create();
      await store.set(record('a', { logLevel: 'debug', subscriptions: ['docs://guide'] }), HOUR);
      await store.set(record('a', { logLevel: 'error' }), HOUR);
      expect(await store.get('a')).toEqual(record('a', { logLevel: 'error' }));
    });

    it('keeps a record that has a principal from being replaced by another caller, if it can check that', async () => {
      const store = await create();
      if (store.setIfAnonymous === undefined) return;
      const nobody = { principal: undefined };
      expect(await store.setIfAnonymous(record('a', nobody), HOUR)).toBe(true);
      // while nobody is signed in, each change is stored
      expect(await store.setIfAnonymous(record('a', { ...nobody, logLevel: 'debug' }), HOUR)).toBe(true);
      expect(await store.get('a')).toMatchObject({ id: 'a', logLevel: 'debug' });
      const users = ['ann', 'bob', 'cid'];
      const stored = await Promise.all(
        users.map((subject) => store.setIfAnonymous?.(record('a', { principal: { subject } }), HOUR)),
      );
      expect(stored.filter(Boolean)).toEqual([true]);
      const { principal } = (await store.get('a')) as KeptSession;
      expect(principal).toEqual({ subject: users[stored.indexOf(true)] });
      expect(await store.setIfAnonymous(record('a', nobody), HOUR)).toBe(false);
      expect(await store.get('a')).toMatchObject({ principal });
    });

    it('keeps records apart', async () => {
      const store = await create();
      await Promise.all(['a', 'b', 'c'].map((id) => store.set(record(id), HOUR)));
      await store.delete('b');
      expect(await store.get('a')).toMatchObject({ id: 'a' });
      expect(await store.get('b')).toBeUndefined();
      expect(await store.get('c')).toMatchObject({ id: 'c' });
    });

    it('expires a record unless it was touched or set again', async () => {
      const store = await create();
      for (const id of ['quiet', 'touched', 'set']) await store.set(record(id), 1000);
      await pass(700);
      await store.touch('touched', 1000);
      await store.set(record('set'), 1000);
      await pass(700);
      expect(await store.get('quiet')).toBeUndefined();
      expect(await store.get('touched')).toMatchObject({ id: 'touched' });
      expect(await store.get('set')).toMatchObject({ id: 'set' });
    });

    it('treats touch and delete of an unknown id as a no-op', async () => {
      const store = await create();
      await store.touch('none', 1000);
      await store.delete('none');
      expect(await store.get('none')).toBeUndefined();
    });

    it('does not restore a deleted or expired record on touch', async () => {
      const store = await create();
      await store.set(record('deleted'), HOUR);
      await store.delete('deleted');
      await store.touch('deleted', HOUR);
      await store.set(record('over'), 1000);
      await pass(1500);
      await store.touch('over', HOUR);
      expect(await store.get('deleted')).toBeUndefined();
      expect(await store.get('over')).toBeUndefined();
    });
  });
}

/**
 * Registers the tests that any `EventStore` must pass.
 * @param create creates an empty store
 */
export function describeEventStore(name: string, create: () => EventStore | Promise<EventStore>): void {
  const fill = async (store: EventStore, key: string, count: number) => {
    // without awaiting each append, like an endpoint
    const appended = [];
    for (let n = 1; n <= count; n++)
      appended.push(store.append(key, { sequence: n, frame: `{"n":${n},"k":"${key}"}` }));
    await Promise.all(appended);
  };

  describe(`${name} as an EventStore`, () => {
    it('returns the events after a position, in order', async () => {
      const store = await create();
      await fill(store, 's/a', 20);
      const events = (await store.read('s/a', 17)) ?? [];
      const expected = [18, 19, 20].map((n) => [n, `{"n":${n},"k":"s/a"}`]);
      expect(events.map(({ sequence, frame }) => [sequence, frame])).toEqual(expected);
      expect(await store.read('s/a', 0)).toHaveLength(20);
    });

    it('distinguishes a stream without newer events from an unknown one', async () => {
      const store = await create();
      await fill(store, 's/a', 2);
      expect(await store.read('s/a', 2)).toEqual([]);
      expect(await store.read('s/b', 0)).toBeUndefined();
    });

    it('keeps streams apart', async () => {
      const store = await create();
      await Promise.all([fill(store, 's/a', 3), fill(store, 't/a', 2), fill(store, 's/ab', 1)]);
      expect(await store.read('s/a', 0)).toHaveLength(3);
      expect(await store.read('t/a', 0)).toHaveLength(2);
      expect(await store.read('s/ab', 0)).toHaveLength(1);
    });

    it('stores a batch like single events, if it supports batches', async () => {
      const store = await create();
      if (store.appendBatch === undefined) return;
      await fill(store, 's/a', 2);
      // a priming event without data, and a message with a character that ends lines in some parsers
      const text = 'id: a-2\ndata: \n\nid: a-3\ndata: {"n":"\u2028data: 3"}\n\nid: a-4\ndata: {"n":4}\n\n';
      await store.appendBatch('s/a', { first: 3, count: 2, text });
      await store.append('s/a', { sequence: 5, frame: '{"n":5}' });
      const events = (await store.read('s/a', 2)) ?? [];
      expect(events.map(({ sequence, frame }) => [sequence, frame])).toEqual([
        [3, '{"n":"\u2028data: 3"}'],
        [4, '{"n":4}'],
        [5, '{"n":5}'],
      ]);
      expect(await store.read('s/a', 3)).toHaveLength(2);
    });

    it('stores frames unchanged', async () => {
      const store = await create();
      const frame = '{"text":"ümlaut \\u0000 \\n 🎉","__proto__":1}';
      await store.append('s/a', { sequence: 1, frame });
      expect((await store.read('s/a', 0))?.[0]?.frame).toBe(frame);
    });
  });
}

export class LateSessionStore implements SessionStore {
  private readonly memory = new MemorySessionStore();

  async get(id: string) {
    await turn();
    return this.memory.get(id);
  }

  async set(kept: KeptSession, ttlMs: number) {
    // serialize now, because the kept may change during the delay
    const copy = structuredClone(kept);
    await turn();
    this.memory.set(copy, ttlMs);
  }

  async setIfAnonymous(kept: KeptSession, ttlMs: number) {
    const copy = structuredClone(kept);
    await turn();
    return this.memory.setIfAnonymous(copy, ttlMs);
  }

  async touch(id: string, ttlMs: number) {
    await turn();
    this.memory.touch(id, ttlMs);
  }

  async delete(id: string) {
    await turn();
    this.memory.delete(id);
  }
}

export class LateEventStore implements EventStore {
  private readonly memory = new MemoryEventStore();

  async append(key: string, event: StoredEvent) {
    await turn();
    this.memory.append(key, event);
  }

  async read(key: string, after: number) {
    await turn();
    return this.memory.read(key, after);
  }
}
