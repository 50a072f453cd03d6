// What handlers remember in calls with a key.
import { ToolError } from '@decorum/core';
import { describe, expect, it } from '@jest/globals';

import { held, KEY, said, ShakyStore, till } from './till.js';

describe('what a call with a key remembers', () => {
  it.each(['stateful', 'stateless'] as const)('is written once, whatever is repeated, %s', async (era) => {
    const { customer } = till(async ({ ctx }) => `${await ctx.memory<number>('paid').update((now = 0) => now + 1)}`);
    const { client, call } = await customer({ era, principal: { subject: 'ada' } });
    expect([await said(call('a')), await said(call('a')), await said(call('b'))]).toEqual(['1', '1', '2']);
    expect(await said(client.callTool('pay', {}, { meta: { [KEY]: 'c' } }))).toBe('3');
  });

  it('is written before its outcome is recorded', async () => {
    const written: string[] = [];
    const store = new ShakyStore();
    const values = store.values;
    const set = values.set.bind(values);
    values.set = (key, value) => {
      written.push(key.split(':')[0] as string);
      return set(key, value);
    };
    const { customer } = till(async ({ ctx }) => void (await ctx.memory('paid').set(1)), { store });
    const { call } = await customer();
    await call('a');
    // the claim comes first
    expect(written).toEqual(['outcome', 'memory', 'outcome']);
  });

  it('is not stored for a session that has ended meanwhile', async () => {
    const store = new ShakyStore();
    const [begun, going, over] = [held(), held(), held()];
    const { customer } = till(
      async ({ ctx }) => {
        await ctx.memory('paid').set(1);
        ctx.signal.addEventListener('abort', () => over.resolve(''));
        begun.resolve('');
        await going.promise;
        return 'paid';
      },
      { store },
    );
    const { client, call } = await customer({ via: 'http', era: 'stateful' });
    void said(call('a'));
    await begun.promise;
    const stored: string[] = [];
    const set = store.values.set.bind(store.values);
    const outcome = new Promise<void>((resolve) => {
      store.values.set = (key, value) => {
        stored.push(key.split(':')[0] as string);
        if (key.startsWith('outcome')) resolve();
        return set(key, value);
      };
    });
    const closed = client.close();
    await over.promise;
    going.resolve('');
    await outcome;
    // what is remembered would have been stored before
    expect(stored).toEqual(['outcome']);
    await closed;
  });

  it('is nothing if its outcome is an error', async () => {
    const { customer } = till(async ({ ctx, runs }) => {
      const count = await ctx.memory<number>('paid').update((now = 0) => now + 1);
      if (runs === 1) throw new ToolError('No money.');
      return `${count}`;
    });
    const { call } = await customer();
    expect([await said(call('a')), await said(call('b'))]).toEqual(['error: No money.', '1']);
  });
});
