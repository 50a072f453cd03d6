import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { Turns } from '../src/turns.js';
import { openSession, post, request, serve } from './fixture.js';

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
  it('runs at once while its turn of the event loop has taken less than 10 ms, and in order afterwards', async () => {
    const turns = new Turns();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) turns.run(work(name, 5));
    expect(done.join('')).toBe('ab');
    await turn();
    expect(done.join('')).toBe('abcd');
    turns.run(work('g', 5));
    await turn();
    expect(done.join('')).toBe('abcdef');
    await turn();
    expect(done.join('')).toBe('abcdefg');
  });

  it('runs at once in the next turn', async () => {
    const turns = new Turns();
    turns.run(work('a', 50));
    await turn();
    turns.run(work('b'));
    expect(done.join('')).toBe('ab');
  });

  it('that is large waits for all other work of its turn; at least one piece of it runs in each', async () => {
    const turns = new Turns();
    for (const name of ['A', 'B', 'C']) turns.runLarge(work(name, 100));
    expect([turns.isBusy, done]).toEqual([true, []]);
    for (const name of ['a', 'b', 'c']) turns.run(work(name, 9));
    await turn();
    expect(done.join('')).toBe('abcA');
    for (const name of ['d', 'e', 'f']) turns.run(work(name, 9));
    await turn();
    await turn();
    expect(done.join('')).toBe('abcAdefBC');
    expect(turns.isBusy).toBe(false);
  });

  it('that large work asks for is part of it', async () => {
    const turns = new Turns();
    turns.runLarge({
      run() {
        turns.run(work('a', 100));
        turns.run(work('b', 100));
      },
    });
    turns.runLarge(work('C'));
    await turn();
    expect(done.join('')).toBe('ab');
    await turn();
    expect(done.join('')).toBe('abC');
  });

  it('has the `AsyncLocalStorage` of its own request', async () => {
    const storage = new AsyncLocalStorage<string>();
    const turns = new Turns();
    const tell = { run: () => void done.push(storage.getStore() ?? 'nothing') };
    storage.run('first', () => turns.run(work('a', 10)));
    storage.run('second', () => turns.run(tell));
    storage.run('third', () => turns.runLarge(tell));
    await turn();
    expect(done).toEqual(['a', 'second', 'third']);
  });
});

describe('a small request', () => {
  it('is answered before large bodies that arrived earlier', async () => {
    jest.restoreAllMocks();
    const { url } = await serve();
    const session = await openSession(url);
    const names = Array.from({ length: 45_000 }, (_, index) => [`name${index}`, 0]);
    let answered = 0;
    const sent = Array.from({ length: 12 }, async (_, id) => {
      await post(url, request(id, 'ping', Object.fromEntries(names)), session);
      answered += 1;
    });
    await Promise.race(sent);
    expect((await post(url, request(100, 'ping'), session)).status).toBe(200);
    expect(answered).toBeLessThan(12);
    await Promise.all(sent);
  });
});
