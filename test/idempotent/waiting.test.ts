// Calls with one key at the same time, in one process and in several, and processes that die or stand still.
import { type Context, ToolError } from '@decorum/core';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { held, KEY, said, ShakyStore, till } from './till.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const turns = async (count = 20) => {
  for (let n = 0; n < count; n += 1) await turn();
};

/** Servers over one store, whose runs the test ends. */
async function processes(count: number, options: Parameters<typeof till>[1] = {}) {
  const shared = new Map<string, string>();
  const runs: { resolve(value: string): void; reject(error: Error): void; ctx: Context }[] = [];
  const nodes = [];
  for (let n = 0; n < count; n += 1) {
    const store = new ShakyStore(shared);
    const { made, customer } = till(
      ({ ctx }) => {
        const { promise, ...run } = held();
        runs.push({ ...run, ctx });
        return promise;
      },
      { store, ...options },
    );
    nodes.push({ store, made, ...(await customer({ principal: { subject: 'ada' } })) });
  }
  return { runs, nodes };
}

describe('calls with one key', () => {
  it.each([1, 2])('wait for the one that runs, in %d processes', async (count) => {
    const { runs, nodes } = await processes(count);
    const calls = Array.from({ length: 20 }, (_, n) => said(nodes[n % count]!.call('a')));
    await turns();
    await jest.advanceTimersByTimeAsync(3000);
    expect(runs).toHaveLength(1);
    runs[0]!.resolve('paid');
    await jest.advanceTimersByTimeAsync(3000);
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['paid']));
    expect(runs).toHaveLength(1);
  });

  it.each([1, 2])('run one after the other as long as there is no outcome, in %d processes', async (count) => {
    const { runs, nodes } = await processes(count);
    const calls = Array.from({ length: 5 }, (_, n) => said(nodes[n % count]!.call('a')));
    for (const n of [0, 1, 2]) {
      await turns();
      await jest.advanceTimersByTimeAsync(2000);
      expect(runs).toHaveLength(n + 1);
      if (n < 2) runs[n]!.reject(new Error('a bug'));
      else runs[n]!.resolve('paid');
    }
    await turns();
    await jest.advanceTimersByTimeAsync(2000);
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => answer === 'paid')).toHaveLength(3);
    expect(runs).toHaveLength(3);
  });

  it.each([1, 2])('are refused at once with other arguments, in %d processes', async (count) => {
    const { runs, nodes } = await processes(count);
    const first = said(nodes[0]!.call('a', { amount: 1 }));
    await turns();
    expect(await said(nodes[count - 1]!.call('a', { amount: 2 }))).toContain('other arguments');
    runs[0]!.resolve('paid');
    expect(await first).toBe('paid');
  });

  it.each([1, 2])('wait no longer than their client, or the time limit of the tool, in %d processes', async (count) => {
    const { runs, nodes } = await processes(count, { tool: { timeoutMs: 4000 } });
    const first = said(nodes[0]!.call('a'));
    await turns();
    // the first one's time begins anew
    void runs[0]!.ctx.elicit({ type: 'object' }, { message: 'Still there?' }).catch(() => {});
    const { client } = nodes[count - 1]!;
    const cancelled = new AbortController();
    const impatient = said(client.callTool('pay', {}, { meta: { [KEY]: 'a' }, signal: cancelled.signal }));
    const second = said(client.callTool('pay', {}, { meta: { [KEY]: 'a' } }));
    await turns();
    cancelled.abort(new Error('Never mind.'));
    expect(await impatient).toContain('Never mind');
    await jest.advanceTimersByTimeAsync(2000);
    runs[0]!.resolve('paid');
    await jest.advanceTimersByTimeAsync(1900);
    expect([await first, await second]).toEqual(['paid', 'paid']);
    expect(runs).toHaveLength(1);
  });

  it('get an error that says what to do when their time is over first', async () => {
    const { runs, nodes } = await processes(1);
    const first = said(nodes[0]!.call('a'));
    await turns();
    const second = said(nodes[0]!.call('a'));
    await turns();
    await jest.advanceTimersByTimeAsync(600_000);
    expect(await second).toMatch(/^error: A call with this idempotency key is still running\. Repeat the call later/);
    runs[0]!.resolve('paid');
    expect(await first).toBe('paid');
    expect(await said(nodes[0]!.call('a'))).toBe('paid');
  });
});

it('a call that never ends keeps its key, and the operator is told which tool needs a time limit', async () => {
  const { runs, nodes } = await processes(2, { idempotent: '1m' });
  const [first, second] = [nodes[0]!, nodes[1]!];
  void said(first.call('a'));
  await turns();
  for (const at of [1, 2]) {
    const call = said(second.call('a'));
    await turns();
    await jest.advanceTimersByTimeAsync(601_000);
    expect([at, await call]).toEqual([at, expect.stringContaining('is still running. Repeat the call later')]);
  }
  expect(runs).toHaveLength(1);
  expect(second.made.warnings).toEqual([
    expect.stringMatching(/^Till\.pay \(idempotent\): a call has waited 10 minutes for .* Set `timeoutMs`/),
  ]);
});

describe('a process that dies', () => {
  /** A tool that pays by a service which honors keys. */
  function bank() {
    const paid = new Map<string, number>();
    const mails: number[] = [];
    const shared = new Map<string, string>();
    const gates = [held(), held()];
    let runs = 0;
    const node = async () => {
      const store = new ShakyStore(shared);
      const { made, customer } = till(
        async ({ ctx }) => {
          const run = (runs += 1);
          const receipt = await ctx.once('pay', (key) => {
            paid.set(key, (paid.get(key) ?? 0) + 1);
            return `receipt ${run}`;
          });
          if (run <= gates.length) await gates[run - 1]!.promise;
          await ctx.once('mail', () => void mails.push(run));
          return `${receipt}, mailed by ${run}`;
        },
        { store },
      );
      return { store, made, ...(await customer({ principal: { subject: 'ada' } })) };
    };
    return { paid, mails, gates, node };
  }

  it('leaves its effects to the call that takes over after 10 seconds', async () => {
    const { paid, node } = bank();
    const [dead, living] = [await node(), await node()];
    void said(dead.call('a'));
    await turns();
    dead.store.isDown = true;
    void said(living.call('a'));
    await turns();
    await jest.advanceTimersByTimeAsync(9000);
    expect(living.made.runs).toBe(0);
    await jest.advanceTimersByTimeAsync(2500);
    expect(living.made.runs).toBe(1);
    await turns();
    expect([...paid.values()]).toEqual([1]);
  });

  it('is found out by calls that have less time than that', async () => {
    const { runs, nodes } = await processes(2, { tool: { timeoutMs: 4000 } });
    const [dead, living] = [nodes[0]!, nodes[1]!];
    void said(dead.call('a'));
    await turns();
    dead.store.isDown = true;
    for (let n = 0; n < 3; n += 1) {
      const call = said(living.call('a'));
      await turns();
      await jest.advanceTimersByTimeAsync(5000);
      if (n < 2) expect(await call).toContain('still running');
    }
    expect(runs).toHaveLength(2);
  });

  it('is not what happened to one that could not reach the store either while nobody could', async () => {
    const { runs, nodes } = await processes(2, { tool: { timeoutMs: 60_000 } });
    const [busy, other] = [nodes[0]!, nodes[1]!];
    const first = said(busy.call('a'));
    await turns();
    const second = said(other.call('a'));
    await turns();
    for (const { store } of nodes) store.isDown = true;
    await jest.advanceTimersByTimeAsync(14_000);
    expect(await second).toContain('Try again later');
    // a little before the next sign of life
    for (const { store } of nodes) store.isDown = false;
    const third = said(other.call('a'));
    await turns();
    await jest.advanceTimersByTimeAsync(3000);
    expect(runs).toHaveLength(1);
    runs[0]!.resolve('paid once');
    await turns();
    await jest.advanceTimersByTimeAsync(3000);
    expect([await first, await third]).toEqual(['paid once', 'paid once']);
  });

  it('and only stood still gets the outcome of the run that has taken over', async () => {
    const { paid, gates, node } = bank();
    const [slow, fast] = [await node(), await node()];
    const first = said(slow.call('a'));
    await turns();
    slow.store.isDown = true;
    const second = said(fast.call('a'));
    await turns();
    await jest.advanceTimersByTimeAsync(12_000);
    slow.store.isDown = false;
    // its `ctx.once` begins nothing any more
    gates[0]!.resolve('');
    await turns();
    await jest.advanceTimersByTimeAsync(2000);
    gates[1]!.resolve('');
    await jest.advanceTimersByTimeAsync(2000);
    expect(await second).toBe('receipt 1, mailed by 2');
    expect(await first).toBe('receipt 1, mailed by 2');
    expect([...paid.values()]).toEqual([1]);
  });

  it('and was suspended with its machine, where the uptime stood still, begins no effect', async () => {
    const { mails, gates, node } = bank();
    const [slow, fast] = [await node(), await node()];
    const first = said(slow.call('a'));
    await turns();
    const uptime = performance.now();
    slow.store.isDown = true;
    const second = said(fast.call('a'));
    await turns();
    await jest.advanceTimersByTimeAsync(12_000);
    slow.store.isDown = false;
    const clock = jest.spyOn(performance, 'now').mockReturnValue(uptime);
    gates[0]!.resolve('');
    await turns();
    clock.mockRestore();
    gates[1]!.resolve('');
    await jest.advanceTimersByTimeAsync(2000);
    expect([await first, await second]).toEqual(['receipt 1, mailed by 2', 'receipt 1, mailed by 2']);
    expect(mails).toEqual([2]);
  });

  it('and only stood still runs again if the run that has taken over has no outcome', async () => {
    const { paid, gates, node } = bank();
    const [slow, fast] = [await node(), await node()];
    const first = said(slow.call('a'));
    await turns();
    slow.store.isDown = true;
    const second = said(fast.call('a'));
    await turns();
    await jest.advanceTimersByTimeAsync(12_000);
    slow.store.isDown = false;
    gates[0]!.resolve('');
    await turns();
    gates[1]!.reject(new Error('a bug'));
    await jest.advanceTimersByTimeAsync(3000);
    expect(await second).toContain('Internal error');
    expect(await first).toBe('receipt 1, mailed by 3');
    expect([...paid.values()]).toEqual([1]);
  });

  it('gives the same key to effects in all runs, and the results of those that have ended', async () => {
    const keys: string[] = [];
    const { made, customer } = till(async ({ ctx, runs }) => {
      const first = await ctx.once('first', (key) => `${keys.push(key)}`);
      await ctx.once('second', (key) => {
        keys.push(key);
        if (runs < 3) throw new Error('The service is down.');
      });
      return first;
    });
    const { call } = await customer();
    await said(call('a'));
    await said(call('a'));
    expect(await said(call('a'))).toBe('1');
    expect(made.runs).toBe(3);
    expect(keys).toHaveLength(4);
    expect(new Set(keys.slice(1)).size).toBe(1);
    await call('b');
    expect(new Set(keys).size).toBe(4);
  });

  it('keeps no result of an effect that is too large, and runs that effect again', async () => {
    const { customer } = till(async ({ ctx, runs }) => {
      const large = await ctx.once('large', () => `${runs}`.repeat(70_000));
      const small = await ctx.once('small', () => `small ${runs}`);
      if (runs === 1) throw new Error('a bug');
      return `${large[0]}, ${small}`;
    });
    const { call } = await customer();
    await said(call('a'));
    expect(await said(call('a'))).toBe('2, small 1');
  });

  it('keeps the results of 500 effects, and runs later ones again', async () => {
    let effects = 0;
    const { customer } = till(async ({ ctx, runs }) => {
      for (let n = 0; n < 600; n += 1) await ctx.once(`effect ${n}`, () => void (effects += 1));
      if (runs === 1) throw new Error('a bug');
      return 'done';
    });
    const { call } = await customer();
    await said(call('a'));
    expect(await said(call('a'))).toBe('done');
    expect(effects).toBe(600 + 100);
  });

  it('keeps the key while an effect runs, although the call has failed', async () => {
    const paying = held();
    const { made, customer } = till(async ({ ctx, runs }) => {
      const paid = ctx.once('pay', () => paying.promise);
      if (runs === 1) throw new ToolError(await Promise.reject(new Error('a bug')));
      return await paid;
    });
    const { call } = await customer();
    expect(await said(call('a'))).toContain('Internal error');
    const second = said(call('a'));
    await turns();
    expect(made.runs).toBe(1);
    paying.resolve('paid once');
    expect(await second).toBe('paid once');
    expect(made.runs).toBe(2);
  });
});
