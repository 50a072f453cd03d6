// The writer of records: whatever the order in which processes write, no change is lost.
import { describe, expect, it } from '@jest/globals';
import { type KeptSession, MemorySessionStore, type SessionStore } from '@decorum/http';
import type { Session, SessionRecord } from '@decorum/core/transport';
import fc from 'fast-check';

import { RecordWriter } from '../../src/sessions/record-writer.js';
import type { StoreCalls } from '../../src/sessions/store-calls.js';

const HOUR = 3_600_000;
const RECORD: KeptSession = { id: 'a', version: 1, revision: '2025-11-25', createdAt: 1, usedAt: 1 };

const STORES = { run: async (_name: string, call: () => unknown) => await call() } as unknown as StoreCalls;
const noCounts = () => ({ letters: 0, untaken: 0, adopted: 0, conflicts: 0, timeouts: 0 });

/** The part of a session that a writer needs. */
function stateOf(): Session {
  const record = { ...RECORD };
  const refresh = ({ subscriptions, logLevel, version }: SessionRecord) =>
    void Object.assign(record, { subscriptions, logLevel, version });
  return { record, refresh } as unknown as Session;
}

/** Processes that change the same record. The scheduler decides in which order the store does its work. */
function processesOf(scheduler: fc.Scheduler, count: number) {
  const memory = new MemorySessionStore();
  memory.set(RECORD, HOUR);
  const store: SessionStore = {
    get: async (id) => {
      await scheduler.schedule(Promise.resolve(), 'get');
      const found = memory.get(id);
      await scheduler.schedule(Promise.resolve(), 'got');
      return found;
    },
    set: async (record, ttlMs, expected) => {
      const copy = structuredClone(record);
      await scheduler.schedule(Promise.resolve(), 'set');
      const isStored = memory.set(copy, ttlMs, expected);
      await scheduler.schedule(Promise.resolve(), 'stored');
      return isStored;
    },
    touch() {},
    delete() {},
  };
  const counts = noCounts();
  const processes = Array.from({ length: count }, () => {
    const state = stateOf();
    const writer = new RecordWriter(state, { store, stores: STORES, letters: undefined, counts, ttlMs: HOUR });
    return {
      change: async (apply: (record: SessionRecord) => void) => {
        apply(state.record);
        await writer.save(apply);
      },
    };
  });
  return { memory, processes };
}

const add = (uri: string) => (record: SessionRecord) => {
  record.subscriptions = [...new Set([...(record.subscriptions ?? []), uri])];
};
const remove = (uri: string) => (record: SessionRecord) => {
  record.subscriptions = (record.subscriptions ?? []).filter((each) => each !== uri);
};

/** Changes of three processes. Each URI is the business of one change, so their order doesn't matter. */
const changes = fc.uniqueArray(fc.record({ uri: fc.nat({ max: 19 }), by: fc.nat({ max: 2 }), ends: fc.boolean() }), {
  selector: ({ uri }) => uri,
  minLength: 1,
});

describe('RecordWriter', () => {
  it('gives up at a store that refuses every change', async () => {
    const store: SessionStore = { get: () => RECORD, set: () => false, touch() {}, delete() {} };
    const counts = noCounts();
    const writer = new RecordWriter(stateOf(), { store, stores: STORES, letters: undefined, counts, ttlMs: HOUR });
    await expect(writer.save(add('a'))).rejects.toThrow('sessionStore.set has returned false 100 times');
    expect(counts.conflicts).toBe(100);
  });

  it('keeps all changes of several processes, in whatever order the store works', async () => {
    const keepsAll = async (scheduler: fc.Scheduler, made: readonly { uri: number; by: number; ends: boolean }[]) => {
      const { memory, processes } = processesOf(scheduler, 3);
      const ended = made.filter(({ ends }) => ends).map(({ uri }) => `${uri}`);
      memory.set({ ...RECORD, subscriptions: ended }, HOUR);
      const saved = made.map(({ uri, by, ends }) => processes[by]?.change((ends ? remove : add)(`${uri}`)));
      await scheduler.waitFor(Promise.all(saved));
      const begun = made.filter(({ ends }) => !ends).map(({ uri }) => `${uri}`);
      expect(memory.get('a')?.subscriptions?.toSorted()).toEqual(begun.toSorted());
    };
    await fc.assert(fc.asyncProperty(fc.scheduler(), changes, keepsAll), { numRuns: 200 });
  });

  it('counts the version up with each write, and never down', async () => {
    const countsUp = async (scheduler: fc.Scheduler, counts: readonly number[]) => {
      const { memory, processes } = processesOf(scheduler, counts.length);
      const versions: number[] = [];
      const saved = counts.flatMap((count, at) =>
        Array.from({ length: count }, async (_, n) => {
          await processes[at]?.change(add(`${at}/${n}`));
          versions.push(memory.get('a')?.version ?? 0);
        }),
      );
      await scheduler.waitFor(Promise.all(saved));
      expect(versions).toEqual(versions.toSorted((one, other) => one - other));
    };
    const counts = fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 4 });
    await fc.assert(fc.asyncProperty(fc.scheduler(), counts, countsUp), { numRuns: 100 });
  });

  it('fails a change that does not fit the record of another process, and saves the others', async () => {
    const keepsCap = async (scheduler: fc.Scheduler) => {
      const { memory, processes } = processesOf(scheduler, 3);
      memory.set({ ...RECORD, subscriptions: ['first'] }, HOUR);
      const addUpTo3 = (uri: string) => (record: SessionRecord) => {
        if (!record.subscriptions?.includes(uri) && (record.subscriptions?.length ?? 0) >= 3) throw new Error('full');
        add(uri)(record);
      };
      const uris = ['0/1', '0/2', '1/1', '1/2', '2/1', '2/2'];
      const saved = uris.map((uri) => processes[Number(uri[0])]?.change(addUpTo3(uri)));
      const removed = processes[2]?.change(remove('first'));
      const settled = await scheduler.waitFor(Promise.allSettled(saved));
      await scheduler.waitFor(removed as Promise<void>);
      // what has failed must not be saved later, when there is room again
      const kept = uris.filter((_uri, at) => settled[at]?.status === 'fulfilled');
      expect(memory.get('a')?.subscriptions?.toSorted()).toEqual(kept);
      expect(kept.length).toBeGreaterThan(1);
    };
    await fc.assert(fc.asyncProperty(fc.scheduler(), keepsCap), { numRuns: 200 });
  });

  it('fails if the session has ended meanwhile', async () => {
    const isRefused = async (scheduler: fc.Scheduler) => {
      const { memory, processes } = processesOf(scheduler, 1);
      memory.delete('a');
      const saved = processes[0]?.change(add('late'));
      await expect(scheduler.waitFor(saved as Promise<void>)).rejects.toMatchObject({
        kind: 'invalid-request',
        message: 'The session has ended.',
      });
      expect(memory.get('a')).toBeUndefined();
    };
    await fc.assert(fc.asyncProperty(fc.scheduler(), isRefused), { numRuns: 10 });
  });
});
