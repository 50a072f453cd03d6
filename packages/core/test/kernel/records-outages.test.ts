// Sealed records over stores that fail, lie and hang.
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { MemoryKeyValueStore } from '@decorum/core';

import { HOUR, increment, KEY, over, UNAVAILABLE } from './sealed.js';

const never = () => new Promise<never>(() => {});

afterEach(() => void jest.useRealTimers());

describe('a store that fails', () => {
  const failures = [
    ['throws', () => void fail(), 'Error: down'],
    ['rejects', async () => await Promise.reject(new Error('down')), 'Error: down'],
    [
      'returns a number',
      () => 7,
      'TypeError: `get` of `store` must return a string, undefined or null, but returned a number.',
    ],
    [
      'resolves with an object',
      async () => ({}),
      'TypeError: `get` of `store` must return a string, undefined or null, but returned an object.',
    ],
    [
      'returns an array',
      () => ['a'],
      'TypeError: `get` of `store` must return a string, undefined or null, but returned an array.',
    ],
  ] as const;
  const fail = () => {
    throw new Error('down');
  };

  it.each(failures)(
    'because its `get` %s, is told to the operator once, and not to clients',
    async (_how, get, told) => {
      const { records, reports } = over({ get: get as never });
      for (const run of [() => records.read(KEY), () => increment(records)])
        await expect(run()).rejects.toMatchObject(UNAVAILABLE);
      expect(reports).toEqual([`\`get\` of \`store\` failed: ${told}`]);
    },
  );

  it('is told to the operator again after it worked', async () => {
    let isDown = true;
    const { records, reports } = over({ get: () => (isDown ? fail() : undefined) });
    for (const now of [true, true, false, true]) {
      isDown = now;
      await records.read(KEY).catch(() => {});
    }
    expect(reports).toHaveLength(2);
  });

  it.each([
    ['nothing', undefined, 'undefined'],
    ['a number', 1, 'a number'],
    ['null', null, 'null'],
  ])('because its `set` returns %s, is told to the operator', async (_what, answer, found) => {
    const { records, reports } = over({ set: () => answer as never });
    await expect(increment(records)).rejects.toMatchObject(UNAVAILABLE);
    expect(reports[0]).toContain(
      `TypeError: \`set\` of \`store\` must return whether it did so, but returned ${found}.`,
    );
  });

  it('by null where nothing is, does not fail', async () => {
    const { records, reports } = over({ get: async () => null });
    expect([await records.read(KEY), await increment(records), reports]).toEqual([undefined, { n: 1 }, []]);
  });

  it('after it has stored a change, or deleted a record, has made it', async () => {
    const { records, inner } = over({
      set: async (key, value, options) => inner.set(key, value, options) && fail(),
      delete: async (key, expected) => inner.delete(key, expected) && fail(),
    });
    expect(await increment(records)).toEqual({ n: 1 });
    expect(await increment(records)).toEqual({ n: 2 });
    expect(await records.change(KEY, () => 'remove')).toBeUndefined();
    expect(await records.read(KEY)).toBeUndefined();
  });

  it('before it has stored a change has not made it', async () => {
    const { records } = over({ set: async () => fail(), delete: async () => fail() });
    await expect(increment(records)).rejects.toMatchObject(UNAVAILABLE);
    expect(await records.read(KEY)).toBeUndefined();
  });

  it('to see that it has stored a change already makes it once', async () => {
    // a client of a database that sends a write again, because the connection broke before the answer came
    const { records, inner } = over({
      set: async (key, value, options) => inner.set(key, value, options) && inner.set(key, value, options),
    });
    expect(await increment(records)).toEqual({ n: 1 });
    expect(await increment(records)).toEqual({ n: 2 });
  });

  it('with an error for clients passes it on', async () => {
    const { records, reports } = over({}, { inner: new MemoryKeyValueStore({ maxChars: 300 }) });
    const long = { value: { text: 'x'.repeat(300) }, ttlMs: HOUR };
    const store = async () => await records.change(KEY, () => long);
    await expect(store()).rejects.toMatchObject({ kind: 'too-many-requests' });
    await expect(store()).rejects.toMatchObject({ kind: 'too-many-requests' });
    expect(reports).toEqual([
      '`set` of `store` failed: McpError: The server has no room for more data. Try again later.',
    ]);
    expect(await increment(records)).toEqual({ n: 1 });
  });
});

describe('a store that does not answer', () => {
  it('is waited for for three seconds', async () => {
    jest.useFakeTimers();
    const { records, reports } = over({ get: never });
    const failure = records.read(KEY).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(2999);
    expect(reports).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(await failure).toMatchObject(UNAVAILABLE);
    expect(reports).toEqual(['`get` of `store` failed: Error: `get` of `store` did not answer within 3000 ms.']);
  });

  it('costs the changes that wait for each other three seconds in all, and not each', async () => {
    jest.useFakeTimers();
    const get = jest.fn(never);
    const { records } = over({ get });
    const all = Promise.allSettled(Array.from({ length: 50 }, () => increment(records)));
    await jest.advanceTimersByTimeAsync(3000);
    for (const each of await all) expect(each).toMatchObject({ status: 'rejected', reason: UNAVAILABLE });
    expect(get).toHaveBeenCalledTimes(1);
    // and later ones try again
    const later = increment(records).catch(() => {});
    await jest.advanceTimersByTimeAsync(3000);
    await later;
    expect(get).toHaveBeenCalledTimes(2);
  });

  it('delays no change of another record', async () => {
    jest.useFakeTimers();
    let hangs = true;
    const { records, inner } = over({ get: (key) => (hangs ? never() : inner.get(key)) });
    const stuck = increment(records).catch(() => {});
    hangs = false;
    expect(await records.change(['plan', 'a'], () => ({ value: { a: 1 }, ttlMs: HOUR }))).toEqual({ a: 1 });
    await jest.advanceTimersByTimeAsync(3000);
    await stuck;
  });

  it('keeps no timer', async () => {
    jest.useFakeTimers();
    const { records, inner } = over({ get: async (key) => inner.get(key) });
    await increment(records);
    expect(jest.getTimerCount()).toBe(0);
  });
});
