// What one caller may fill of the store, with outcomes, plans and memory.
import { type Context, McpServer, MemoryKeyValueStore, NoInput, type ReachedLimit, Tool } from '@decorum/core';
import { connect, type ConnectOptions } from '@decorum/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { held, said, SECRET, till, type TillOptions } from './till.js';

const HOUR = 3_600_000;
const LIMITS = { maxStoredBytesPerCaller: 10_000 };
const FULL = /^McpError: The server has no room left for you: .* Nothing was done\. Try again later/;

afterEach(() => void jest.useRealTimers());

type Call = (key: string) => Promise<object>;

/** Calls with new keys until one is refused, or 100 times. Returns how many were not. */
async function fill(call: Call, prefix = 'key'): Promise<number> {
  for (let n = 0; n < 100; n += 1) if (FULL.test(await said(call(`${prefix}-${n}`)))) return n;
  return Infinity;
}

function limited(options: TillOptions = {}, pay?: Parameters<typeof till>[0]) {
  const hits: ReachedLimit[] = [];
  return { hits, ...till(pay, { limits: LIMITS, onLimit: (hit) => void hits.push(hit), ...options }) };
}

describe('a caller who has filled its share of the store', () => {
  it('is refused with new keys, without a run, and gets the outcomes that there are', async () => {
    const { made, hits, customer } = limited();
    const { call } = await customer({ principal: { subject: 'mallory' } });
    const count = await fill(call);
    expect(count).toBeGreaterThan(10);
    expect(made.runs).toBe(count);
    expect(await said(call('key-0'))).toBe('paid 1');
    expect(await said(call())).toBe(`paid ${count + 1}`);
    expect(hits).toMatchObject([{ limit: 'maxStoredBytesPerCaller', principal: { subject: 'mallory' } }]);
  });

  it('leaves room for others', async () => {
    const { customer } = limited();
    const [mallory, ada] = [
      await customer({ principal: { subject: 'mallory' } }),
      await customer({ principal: { subject: 'ada' } }),
    ];
    await fill(mallory.call);
    expect(await said(ada.call('a'))).toMatch(/^paid/);
  });

  it('has room again once its outcomes have expired', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const { customer } = limited({ idempotent: '1h' });
    const { call } = await customer({ principal: { subject: 'mallory' } });
    const count = await fill(call);
    jest.advanceTimersByTime(HOUR / 2);
    expect(await fill(call, 'more')).toBe(0);
    jest.advanceTimersByTime(HOUR / 2 + HOUR / 8);
    expect(await fill(call, 'later')).toBe(count);
  });

  it('gains nothing by new sessions', async () => {
    const { customer } = limited();
    const [one, other] = [await customer({ via: 'http' }), await customer({ via: 'http' })];
    expect(await fill(one.call)).toBeLessThan(100);
    expect(await fill(other.call)).toBe(0);
    await Promise.all([one.client.close(), other.client.close()]);
  });

  it('has not filled it by calls that were recorded nowhere', async () => {
    const { customer } = limited({}, () => {
      throw new Error('a bug');
    });
    const { call } = await customer({ principal: { subject: 'ada' } });
    expect(await fill(call)).toBe(Infinity);
  });

  it('can be the one client of a process, which shares the store with nobody', async () => {
    const { customer } = limited();
    expect(await fill((await customer()).call)).toBe(Infinity);
  });

  it.each([
    ['a caller without a session', { via: 'http', era: 'stateless' }],
    ['a session', { via: 'http', era: 'stateful' }],
  ] satisfies [string, ConnectOptions][])('gets no new plan as %s', async (_who, options) => {
    class Files {
      @Tool({ preview: 'plan' }) prune() {
        return 'done';
      }

      plan() {
        return 'x'.repeat(1000);
      }
    }
    const server = new McpServer({ name: 'files', version: '1', providers: [Files], secret: SECRET, limits: LIMITS });
    const client = await connect(server, options);
    expect(await fill(() => client.callTool('prune', {}))).toBeLessThan(10);
    await client.close();
  });

  it('is remembered no more in any anonymous session, until one of its sessions ends', async () => {
    class Notes {
      @Tool() async write(_input: NoInput, ctx: Context) {
        await ctx.memory<string>('note').set('x'.repeat(3000));
        return 'written';
      }
    }
    const server = new McpServer({ name: 'notes', version: '1', providers: [Notes], secret: SECRET, limits: LIMITS });
    const open = async (options?: ConnectOptions) => {
      const client = await connect(server, { via: 'http', ...options });
      return { client, said: await said(client.callTool('write', {})) };
    };
    const [first, second, third] = [await open(), await open(), await open()];
    expect([first.said, second.said]).toEqual(['written', 'written']);
    expect(third.said).toMatch(/no room left to remember more for you/);
    const user = await open({ principal: { subject: 'ada' } });
    expect(user.said).toBe('written');
    await first.client.close();
    const fourth = await open();
    expect(fourth.said).toBe('written');
    await Promise.all([second, third, user, fourth].map(async ({ client }) => await client.close()));
  });
});

it('a run keeps its key although the store has no room for the result of its effect', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  const store = new MemoryKeyValueStore({ maxChars: 20_000 });
  const paying = held();
  const nodes = [1, 2].map(() =>
    till(
      async ({ ctx }) => {
        await ctx.once('large', () => 'x'.repeat(30_000));
        return await paying.promise;
      },
      { store },
    ),
  );
  const [first, second] = [await nodes[0]!.customer(), await nodes[1]!.customer()];
  const calls = [said(first.call('a'))];
  await jest.advanceTimersByTimeAsync(1000);
  calls.push(said(second.call('a')));
  // more than the ten beats after which a counter has another digit
  await jest.advanceTimersByTimeAsync(60_000);
  expect(nodes.map(({ made }) => made.runs)).toEqual([1, 0]);
  paying.resolve('paid once');
  await jest.advanceTimersByTimeAsync(2000);
  expect(await Promise.all(calls)).toEqual(['paid once', 'paid once']);
});

it('a run keeps its key in a store that is full to the last character', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  const store = new MemoryKeyValueStore({ maxChars: 2000 });
  const paying = held();
  const nodes = [1, 2].map(() => till(() => paying.promise, { store }));
  const [first, second] = [await nodes[0]!.customer(), await nodes[1]!.customer()];
  const calls = [said(first.call('a'))];
  await jest.advanceTimersByTimeAsync(1000);
  const { size } = store as unknown as { size: number };
  store.set('rest', 'x'.repeat(2000 - size - 'rest'.length), { ttlMs: HOUR, expected: undefined });
  calls.push(said(second.call('a')));
  await jest.advanceTimersByTimeAsync(60_000);
  expect(nodes.map(({ made }) => made.runs)).toEqual([1, 0]);
  paying.resolve('paid');
  await jest.advanceTimersByTimeAsync(2000);
  expect((await Promise.all(calls))[0]).toBe('paid');
});
