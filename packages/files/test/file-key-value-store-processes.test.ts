// What a folder holds while several processes use it, and after one of them has died. They run the built package.
import { readdirSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it, jest } from '@jest/globals';

import { createFolder, openChild, openStore } from './folders.js';

/** Eight writers, each of which changes its value all the time, and prints the number that it has stored. */
const STORM = `
  const filling = 'x'.repeat(20_000);
  for (let writer = 0; writer < 8; writer++) {
    void (async () => {
      for (;;) {
        const now = await store.get('key' + writer);
        const n = Number(now?.split(' ')[0] ?? 0) + 1;
        const isStored = await store.set('key' + writer, n + ' ' + filling + ' ' + n, { ttlMs: HOUR, expected: now });
        if (isStored) print(writer + ' ' + n);
      }
    })();
  }
`;

/** Adds 1 to a number as often as told, at the same time, and prints `done`. */
const count = (times: number) => `
  const add = async () => {
    for (;;) {
      const now = await store.get('count');
      if (await store.set('count', String(Number(now ?? 0) + 1), { ttlMs: HOUR, expected: now })) return;
    }
  };
  await Promise.all(Array.from({ length: ${times} }, add));
  await store.close();
  print('done');
`;

/** Locks the folder, and keeps it. */
const HOLD = `
  import { createRequire } from 'node:module';
  import { openSync } from 'node:fs';
  const { tryLock } = createRequire(import.meta.url)('fs-native-extensions');
  while (!tryLock(openSync(process.argv[1] + '/lock', 'r+'), 2 ** 30, 1));
  print('locked');
  setInterval(() => {}, 60_000);
`;

describe('a folder of several processes', () => {
  it('loses none of 100 changes of one value that race', async () => {
    const folder = createFolder();
    const [one, two] = await Promise.all([openChild(count(50), folder), openChild(count(50), folder)]);
    expect([await one.line(), await two.line()]).toEqual(['done', 'done']);
    expect(await (await openStore(folder)).get('count')).toBe('100');
  });

  it('has every value that was stored, and no half of any, after processes were killed', async () => {
    const folder = createFolder();
    const stored = new Map<string, number>();
    for (const lines of [20, 77, 130]) {
      const children = await Promise.all([openChild(STORM, folder), openChild(STORM, folder)]);
      const printed: string[] = [];
      // one dies, and the other goes on
      for (const { line, kill } of children) {
        for (let n = 0; n < lines; n += 1) printed.push((await line()) as string);
        printed.push(...(await kill()));
      }
      for (const [writer, n] of printed.map((line) => line.split(' ') as [string, string]))
        stored.set(writer, Math.max(Number(n), stored.get(writer) ?? 0));
      const store = await openStore(folder);
      for (const [writer, n] of stored) {
        const [before = '', filling, after] = (await store.get(`key${writer}`))?.split(' ') ?? [];
        expect(Number(before)).toBeGreaterThanOrEqual(n);
        expect([after, filling?.length]).toEqual([before, 20_000]);
      }
      await store.close?.();
    }
    expect(readdirSync(folder).filter((file) => file.endsWith('.new'))).toEqual([]);
  });

  it('is free as soon as a process is killed that has it locked', async () => {
    const folder = createFolder();
    const holder = await openChild(HOLD, folder);
    const store = await openStore(folder);
    expect(await holder.line()).toBe('locked');
    const set = store.set('a', 'value', { ttlMs: 60_000, expected: undefined });
    await holder.kill();
    expect(await set).toBe(true);
  });

  it('is waited for by a process that stood still meanwhile', async () => {
    const folder = createFolder();
    const holder = await openChild(HOLD, folder);
    await holder.line();
    const store = await openStore(folder);
    const set = store.set('a', 'value', { ttlMs: 60_000, expected: undefined });
    const { now } = performance;
    let ahead = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + ahead);
    const looks = async () => {
      const enough = clock.mock.calls.length + 6;
      while (clock.mock.calls.length < enough) await turn();
    };
    await looks();
    ahead = 60_000;
    await Promise.race([looks(), set]);
    await holder.kill();
    expect(await set).toBe(true);
    clock.mockRestore();
  });

  it('fails in time while a stopped process has it locked', async () => {
    const folder = createFolder();
    const holder = await openChild(HOLD, folder);
    await holder.line();
    const store = await openStore(folder);
    await expect(store.set('a', 'value', { ttlMs: 60_000, expected: undefined })).rejects.toThrow(
      `Another process has locked "${folder}" for 2500 ms. If it was stopped, let it continue, or end it.`,
    );
    expect(await store.get('a')).toBeUndefined();
    await holder.kill();
  });
});
