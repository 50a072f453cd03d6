import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { Turns } from '../src/turns.js';

let now = 0;
beforeEach(() => void jest.spyOn(performance, 'now').mockImplementation(() => now));
afterEach(() => void jest.restoreAllMocks());

const done: string[] = [];
beforeEach(() => void done.splice(0));

/** Work that takes some milliseconds. */
const work = (name: string, ms = 0) => ({
  run() {
    done.push(name);
    now += ms;
  },
});

describe('work', () => {
  it('runs at once while its turn of the event loop has taken less than 10 ms', async () => {
    const turns = new Turns();
    for (const name of ['a', 'b', 'c']) turns.run(work(name, 5));
    expect(done).toEqual(['a', 'b']);
    await turn();
    expect(done).toEqual(['a', 'b']);
    await turn();
    expect(done).toEqual(['a', 'b', 'c']);
  });

  it('waits for everything that came before it', async () => {
    const turns = new Turns();
    turns.run(work('a', 25));
    for (const name of ['b', 'c', 'd', 'e']) turns.run(work(name, 6));
    await turn();
    const seen = [];
    while (done.length < 5) {
      await turn();
      seen.push(done.join(''));
      if (seen.length === 1) turns.run(work('f'));
    }
    expect(seen).toEqual(['abc', 'abcde']);
    await turn();
    expect(done.at(-1)).toBe('f');
  });

  it('that other work asks for is part of that work', async () => {
    const turns = new Turns();
    turns.run(work('a', 10));
    turns.run({ run: () => turns.run(work('parsed', 50)) });
    turns.run(work('b'));
    await turn();
    await turn();
    expect(done).toEqual(['a', 'parsed']);
    await turn();
    expect(done).toEqual(['a', 'parsed', 'b']);
  });

  it('has the `AsyncLocalStorage` of its own request', async () => {
    const storage = new AsyncLocalStorage<string>();
    const turns = new Turns();
    const tell = { run: () => void done.push(storage.getStore() ?? 'nothing') };
    storage.run('first', () => turns.run(work('a', 10)));
    for (const name of ['second', 'third']) storage.run(name, () => turns.run(tell));
    await turn();
    await turn();
    expect(done).toEqual(['a', 'second', 'third']);
  });
});
