// Sealed records: what is stored of them, and races. Stores that fail are in records-outages.test.ts.
import { randomBytes } from 'node:crypto';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type KeyValueStore, McpError, MemoryKeyValueStore } from '@decorum/core';

import type { RecordKey } from '../../src/protocol/records.js';
import { HOUR, increment, KEY, over, ringOf, SECRET, UNAVAILABLE } from './sealed.js';

afterEach(() => void jest.restoreAllMocks());

describe('sealed records', () => {
  it('are read, changed, kept as they are, and removed', async () => {
    const { records, inner } = over();
    expect(await records.read(KEY)).toBeUndefined();
    expect(await increment(records)).toEqual({ n: 1 });
    expect(await records.change(KEY, () => undefined)).toEqual({ n: 1 });
    expect(await records.read(KEY)).toEqual({ n: 1 });
    expect(await records.change(KEY, () => 'remove')).toBeUndefined();
    expect(await records.change(KEY, () => 'remove')).toBeUndefined();
    expect(await records.read(KEY)).toBeUndefined();
    expect(inner).toMatchObject({ size: 0 });
  });

  it('show a store nothing of their key and value', async () => {
    const stored: string[] = [];
    const { records } = over({ set: (...given) => stored.push(JSON.stringify(given)) > 0 });
    await records.change(['memory', 'user:ann'], () => ({ value: { pin: 'secret' }, ttlMs: HOUR }));
    expect(stored[0]).toMatch(/^\["memory:[\w-]{43}","[\w-]+",\{"ttlMs":3600000\}\]$/);
  });

  it('are kept apart by kind, by parts and by the name of the server', async () => {
    const { records, inner } = over();
    const { records: other } = over({}, { inner, server: 'office' });
    const keys: RecordKey[] = [KEY, ['plan', 'user:ann'], ['memory', 'user:', 'ann'], ['memory'], ['memory', '']];
    for (const each of [records, other]) {
      for (const key of keys) {
        expect(await each.read(key)).toBeUndefined();
        await each.change(key, () => ({ value: { key: key.join() }, ttlMs: HOUR }));
      }
      for (const key of keys) expect(await each.read(key)).toEqual({ key: key.join() });
    }
  });

  it.each([
    ['whole milliseconds', 0.2, 1],
    ['at least one millisecond', -5, 1],
    ['at most ten years', Infinity, 315_576_000_000],
  ])('live for %s', async (_what, ttlMs, stored) => {
    const set = jest.fn<KeyValueStore['set']>(() => true);
    await increment(over({ set }).records, ttlMs);
    expect(set.mock.calls[0]?.[2].ttlMs).toBe(stored);
  });

  it('lose none of 100 changes of two processes that race', async () => {
    const inner = new MemoryKeyValueStore();
    const late = (): Partial<KeyValueStore> => {
      const later = async <T>(step: () => T) => await new Promise<T>((resolve) => setImmediate(() => resolve(step())));
      return {
        get: (key) => later(() => inner.get(key)),
        set: (key, value, options) => later(() => inner.set(key, value, options)),
      };
    };
    const [one, two] = [over(late(), { inner }), over(late(), { inner })];
    await Promise.all(Array.from({ length: 100 }, async (_, n) => await increment((n % 2 ? one : two).records)));
    expect(await one.records.read(KEY)).toEqual({ n: 100 });
    expect([...one.reports, ...two.reports]).toEqual([]);
  });

  it('are not changed if the change throws, and the next change goes on', async () => {
    const { records, reports } = over();
    await increment(records);
    const failing = records.change(KEY, () => {
      throw new RangeError('too many');
    });
    const next = increment(records);
    await expect(failing).rejects.toThrow(new RangeError('too many'));
    expect(await next).toEqual({ n: 2 });
    expect(reports).toEqual([]);
  });

  it('leave nothing behind in the process once all changes are made', async () => {
    let isDown = false;
    const { records, inner } = over({
      get: async (key) => {
        if (isDown) throw new Error('down');
        return inner.get(key);
      },
    });
    await Promise.all(Array.from({ length: 20 }, () => increment(records)));
    isDown = true;
    await Promise.allSettled(Array.from({ length: 20 }, () => increment(records)));
    expect((records as unknown as { changing: Map<string, unknown> }).changing.size).toBe(0);
  });
});

describe('a record that others change all the time', () => {
  it('is given up after ten seconds', async () => {
    let seconds = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (seconds += 1) * 1000);
    const { records, reports } = over({ set: () => false });
    await expect(increment(records)).rejects.toMatchObject(UNAVAILABLE);
    expect(reports).toEqual([
      'a record in `store` can not be used: Error: Other processes changed a record in `store` all the time for 10000 ms.',
    ]);
  });
});

describe('a record that can not be opened', () => {
  it('is left as it is, and told to the operator once', async () => {
    const { records, inner } = over();
    await increment(records);
    const { records: other, reports } = over({}, { inner, ring: ringOf(randomBytes(32)) });
    for (const run of [() => other.read(KEY), () => increment(other)])
      await expect(run()).rejects.toMatchObject(UNAVAILABLE);
    expect(reports).toEqual([
      expect.stringMatching(
        /^a record in `store` can not be used: Error: The record "memory:[\w-]{43}" in `store` can not be opened: it was altered, or sealed with another secret\. It is left as it is\. If the secret was replaced, add the old one to the list `secret`\. Reported once\.$/,
      ),
    ]);
    expect(await increment(records)).toEqual({ n: 2 });
  });

  it('by the new secret alone opens with the old one in the list, and is sealed with the new one', async () => {
    const { records, inner } = over();
    await increment(records);
    const next = randomBytes(32);
    expect(await increment(over({}, { inner, ring: ringOf(next, SECRET) }).records)).toEqual({ n: 2 });
    expect(await over({}, { inner, ring: ringOf(next) }).records.read(KEY)).toEqual({ n: 2 });
  });

  it('because it was moved to another key is refused', async () => {
    const stored = new Map<string, string>();
    const { records } = over({
      get: (key) => stored.get(key),
      set: (key, value) => stored.set(key, value) && true,
    });
    const other: RecordKey = ['memory', 'user:bob'];
    await increment(records);
    await records.change(other, () => ({ value: { n: 9 }, ttlMs: HOUR }));
    const [first, second] = [...stored.keys()] as [string, string];
    stored.set(second, stored.get(first) as string);
    await expect(records.read(other)).rejects.toBeInstanceOf(McpError);
  });
});
