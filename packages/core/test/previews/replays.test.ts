// Clients without sessions hold the state of their calls, and may send it twice: a plan is still carried out once.
import { type CallToolResult, MemorySingleUse } from '@decorum/core';
import { describe, expect, it } from '@jest/globals';

import { allText, planning, pruning, ticketOf } from './planned.js';

const ACCEPT = { action: 'accept', content: {} };
const USED = 'The ticket has been used before';

/** A client that asks its user by hand. */
async function stateless(...[preview, options]: Parameters<typeof planning>) {
  const made = await pruning(planning(preview, options), { era: 'stateless', capabilities: { elicitation: {} } });
  const { client } = made;
  const send = async (args: object, round: object = {}) =>
    (await client.request('tools/call', {
      name: 'prune',
      arguments: { text: 'old', ...args },
      ...round,
    })) as unknown as CallToolResult & { requestState: string; inputRequests: object };
  /** The answers to the questions of a round. */
  const answer = ({ requestState, inputRequests }: { requestState: string; inputRequests: object }) => ({
    requestState,
    inputResponses: Object.fromEntries(Object.keys(inputRequests).map((key) => [key, ACCEPT])),
  });
  return { ...made, send, answer };
}

const counts = (results: readonly CallToolResult[]) => ({
  done: results.filter(({ isError }) => isError !== true).length,
  used: results.filter((result) => allText(result).startsWith(USED)).length,
});

describe('a round that is sent several times', () => {
  it('at once carries out a confirmed plan once', async () => {
    const { send, answer, deeds } = await stateless({ by: 'plan', ask: true });
    const round = answer(await send({}));
    const results = await Promise.all(Array.from({ length: 20 }, () => send({}, round)));
    expect(counts(results)).toEqual({ done: 1, used: 19 });
    expect(deeds.done).toEqual([{ ids: [1] }]);
    expect(counts([await send({}, round)])).toEqual({ done: 0, used: 1 });
  });

  it('carries out the plan of a ticket once, if the tool asks', async () => {
    const { send, answer, deeds } = await stateless();
    const ticket = ticketOf(await send({}));
    const finished: unknown[] = [];
    deeds.run = async (_query, ctx) => {
      await ctx.confirm('Sure?');
      finished.push(ctx.plan);
      return 'done';
    };
    const round = answer(await send({ ticket }));
    const results = await Promise.all(Array.from({ length: 20 }, () => send({ ticket }, round)));
    expect(counts(results)).toEqual({ done: 1, used: 19 });
    expect(counts([await send({ ticket }, round), await send({ ticket })])).toEqual({ done: 0, used: 2 });
    expect(finished).toEqual([{ ids: [1] }]);
  });

  it('goes on after a question that the tool has swallowed', async () => {
    const { send, answer, deeds } = await stateless();
    const ticket = ticketOf(await send({}));
    deeds.run = async (_query, ctx) => `${await ctx.confirm('Sure?').catch(() => 'swallowed')}`;
    const asked = await send({ ticket });
    expect(allText(await send({ ticket }, answer(asked)))).toBe('true');
  });

  it.each([true, false])('has each effect of a plan of several rounds once (ask: %s)', async (ask) => {
    const { send, answer, deeds } = await stateless({ by: 'plan', ask });
    const effects: unknown[] = [];
    deeds.run = async (_query, ctx) => {
      await ctx.confirm('First?', { key: 'first' });
      await ctx.once('delete', () => void effects.push(ctx.plan));
      await ctx.confirm('Second?', { key: 'second' });
      return 'done';
    };
    const shown = await send({});
    const args = ask ? {} : { ticket: ticketOf(shown) };
    const begun = ask ? await send(args, answer(shown)) : await send(args);
    const first = answer(begun);
    const second = answer(await send(args, first));
    expect(counts([await send(args, first)])).toEqual({ done: 0, used: 1 });
    expect(counts(await Promise.all([send(args, second), send(args, first), send(args, second)]))).toEqual({
      done: 1,
      used: 2,
    });
    expect(effects).toEqual([{ ids: [1] }]);
  });

  it('does not count where states are good for one use anyway', async () => {
    const { send, answer } = await stateless({ by: 'plan', ask: true }, { singleUse: new MemorySingleUse() });
    expect(allText(await send({}, answer(await send({}))))).toBe('done');
  });
});
