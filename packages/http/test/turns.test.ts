import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { Turns } from '../src/endpoint/turns.js';
import { post, request, serveSession } from './fixture.js';

let now = 0;
beforeEach(() => void jest.spyOn(performance, 'now').mockImplementation(() => now));
afterEach(() => void jest.restoreAllMocks());

const done: string[] = [];
beforeEach(() => void done.splice(0));

/** Work that takes some milliseconds. */
const work = (name: string, ms: number) => () => {
  done.push(name);
  now += ms;
};

describe('work that is spread over turns of the event loop', () => {
  it('goes on for 10 ms in each, in order', async () => {
    const turns = new Turns();
    for (const name of ['a', 'b', 'c', 'd', 'e']) turns.add(work(name, 5));
    expect([turns.isBusy, done.join('')]).toEqual([true, '']);
    await turn();
    expect(done.join('')).toBe('ab');
    turns.add(work('f', 5));
    await turn();
    expect(done.join('')).toBe('abcd');
    await turn();
    expect([turns.isBusy, done.join('')]).toEqual([false, 'abcdef']);
  });

  it('goes on with at least one piece in each', async () => {
    const turns = new Turns();
    for (const name of ['a', 'b', 'c']) turns.add(work(name, 100));
    await turn();
    expect(done.join('')).toBe('a');
    await turn();
    expect(done.join('')).toBe('ab');
    await turn();
    expect(done.join('')).toBe('abc');
  });

  it('goes on when some more is added later, or by other work', async () => {
    const turns = new Turns();
    turns.add(work('a', 1));
    await turn();
    turns.add(() => turns.add(work('b', 1)));
    await turn();
    expect(done.join('')).toBe('ab');
  });

  it('has the `AsyncLocalStorage` of its own request', async () => {
    const storage = new AsyncLocalStorage<string>();
    const turns = new Turns();
    for (const name of ['first', 'second']) {
      storage.run(name, () => turns.add(() => void done.push(storage.getStore() ?? 'nothing')));
    }
    await turn();
    expect(done).toEqual(['first', 'second']);
  });
});

describe('a small request', () => {
  it('is answered before large bodies that arrived earlier', async () => {
    jest.restoreAllMocks();
    const { url, session } = await serveSession();
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
