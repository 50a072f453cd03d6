// Random calls at the same time, over two processes: what is left must be what they leave one after the other.
import { setImmediate as turn } from 'node:timers/promises';

import type { Context } from '@decorum/core';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { clientOf, CountingStore, remembering, shared } from './remembering.js';

const NAMES = ['a', 'b', '__proto__'] as const;

interface Step {
  readonly kind: 'set' | 'delete' | 'append' | 'get' | 'wait';
  readonly name: string;
  readonly value: number;
}

const STEP: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('set', 'delete', 'append', 'get', 'wait'),
  name: fc.constantFrom(...NAMES),
  value: fc.nat(9),
});

type Values = Map<string, readonly number[]>;

/** What a step makes of the values. */
function stepped(values: Values, { kind, name, value }: Step): void {
  if (kind === 'set') values.set(name, [value]);
  if (kind === 'delete') values.delete(name);
  if (kind === 'append') values.set(name, [...(values.get(name) ?? []), value]);
}

/** Runs the steps of a call, and checks that it sees its own writes. */
async function play(ctx: Context, id: number, steps: readonly Step[]): Promise<string> {
  void ctx.memory<number[]>('order').update((now = []) => [...now, id]);
  const own: Values = new Map();
  for (const step of steps) {
    const memory = ctx.memory<readonly number[]>(step.name);
    stepped(own, step);
    if (step.kind === 'set') await memory.set([step.value]);
    if (step.kind === 'delete') await memory.delete();
    if (step.kind === 'append')
      expect((await memory.update((now = []) => [...now, step.value])).at(-1)).toBe(step.value);
    if (step.kind === 'wait') await turn();
    if (step.kind === 'get' && own.has(step.name)) {
      expect((await memory.get())?.slice(-own.get(step.name)!.length)).toEqual(own.get(step.name));
    }
  }
  return 'ok';
}

describe('calls at the same time', () => {
  it('leave what they would leave one after the other, in the order in which they completed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(STEP, { maxLength: 6 }), { minLength: 1, maxLength: 8 }), async (calls) => {
        const store = new CountingStore();
        const processes = [0, 1].map(() =>
          remembering(
            async (ctx, { id }) => {
              if (id !== undefined) return await play(ctx, Number(id), calls[Number(id)]!);
              return await Promise.all(['order', ...NAMES].map(async (name) => (await ctx.memory(name).get()) ?? null));
            },
            { store: shared(store), secret: 'a secret that both of these servers share' },
          ),
        );
        const clients = await Promise.all(processes.map(async ({ server }) => await clientOf(server)));
        const texts = await Promise.all(calls.map(async (_steps, id) => await clients[id % 2]!.call({ id })));
        expect(texts).toEqual(calls.map(() => 'ok'));
        const [order, ...left] = JSON.parse(await clients[0]!.call()) as [number[], ...unknown[]];
        expect([...order].sort((a, b) => a - b)).toEqual(calls.map((_steps, id) => id));
        const values: Values = new Map();
        for (const id of order) for (const step of calls[id]!) stepped(values, step);
        expect(left).toEqual(NAMES.map((name) => values.get(name) ?? null));
        expect(processes.flatMap(({ errors }) => errors)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
