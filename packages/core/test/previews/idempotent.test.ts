// Previews of tools that keep one outcome for each idempotency key.
import { describe, expect, it } from '@jest/globals';

import { allText, planning, pruning, TICKET, ticketOf } from './planned.js';

const KEY = { 'dev.decorum/idempotency-key': 'order-7' };

describe('a tool with a preview and idempotency keys', () => {
  it('records no plan, and repeats the outcome although the ticket is used', async () => {
    const { call, deeds } = await pruning(planning('plan', { tool: { idempotent: '1h' } }));
    const plans = [await call({}, KEY), await call({}, KEY)];
    expect(ticketOf(plans[0]!)).not.toBe(ticketOf(plans[1]!));
    const ticket = ticketOf(plans[1]!);
    expect(allText(await call({ ticket }, KEY))).toBe('done');
    expect(allText(await call({}, { ...KEY, [TICKET]: ticket }))).toBe('done');
    expect(allText(await call({ ticket }))).toMatch(/^The ticket has been used before/);
    expect(deeds.done).toEqual([{ ids: [2] }]);
  });

  it('keeps no refusal: the key is free for the right ticket', async () => {
    const { call, deeds } = await pruning(planning('plan', { tool: { idempotent: '1h' } }));
    const ticket = ticketOf(await call({}, KEY));
    expect((await call({ ticket: 'made up' }, KEY)).isError).toBe(true);
    expect(allText(await call({ ticket }, KEY))).toBe('done');
    expect(deeds.done).toHaveLength(1);
  });

  it('goes on with its plan under the same key, and only there', async () => {
    const { call, deeds } = await pruning(planning('plan', { tool: { idempotent: '1h' } }));
    const ticket = ticketOf(await call({}, KEY));
    let charged = 0;
    deeds.run = async (_query, ctx) => {
      await ctx.once('charge', () => (charged += 1));
      if (deeds.done.length === 1) throw new Error('the power failed');
      return 'done';
    };
    expect((await call({ ticket }, KEY)).isError).toBe(true);
    expect(allText(await call({ ticket }))).toMatch(/^The ticket has been used before/);
    expect(allText(await call({ ticket }, KEY))).toBe('done');
    expect(deeds.done).toEqual([{ ids: [1] }, { ids: [1] }]);
    expect(charged).toBe(1);
  });
});
