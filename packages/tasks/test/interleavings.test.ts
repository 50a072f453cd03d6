// Whatever happens in which order: a task has one end, and each effect is recorded once.
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

import { afterEach, expect, it } from '@jest/globals';
import { NoInput } from '@decorum/core';
import fc from 'fast-check';

import { closeAll, Disk, Process, type Seen } from './processes.js';

afterEach(closeAll);

const isOver = ({ status }: Seen) => status !== 'working' && status !== 'input_required';

/** What is done to a task. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant('answer' as const) },
  { weight: 1, arbitrary: fc.constant('cancel' as const) },
  { weight: 3, arbitrary: fc.constant('kill' as const) },
  { weight: 2, arbitrary: fc.constant('freeze' as const) },
  { weight: 2, arbitrary: fc.constant('thaw' as const) },
  { weight: 2, arbitrary: fc.constant('close' as const) },
  { weight: 3, arbitrary: fc.constant('stall' as const) },
  { weight: 6, arbitrary: fc.constant('wait' as const) },
);

/** The results of an effect that handlers have got. */
type Results = Map<string, Set<number>>;

/** A task and the processes that may run it. */
class Life {
  readonly disk = new Disk();
  readonly results: Results = new Map();
  private ran = 0;
  private readonly frozen: Process[] = [];
  /** How the task was seen from its end on. */
  readonly ends = new Set<string>();
  private taskId = '';
  private process!: Process;

  async begin(): Promise<void> {
    this.process = await this.start();
    this.taskId = await this.process.begin('job');
  }

  async take(what: typeof step extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
    const { process } = this;
    if (what === 'answer') await process.answer(this.taskId, { confirmed: true });
    if (what === 'cancel') await process.cancel(this.taskId);
    if (what === 'wait') await wait(20);
    if (what === 'stall') {
      process.store.condition = 'rejects';
      await wait(20);
      process.store.condition = 'works';
    }
    if (what === 'thaw') for (const each of this.frozen.splice(0)) each.store.condition = 'works';
    if (what === 'kill') process.kill();
    if (what === 'freeze') {
      process.freeze();
      this.frozen.push(process);
    }
    if (what === 'close') await process.server.close({ deadlineMs: 20 });
    if (what === 'kill' || what === 'freeze' || what === 'close') this.process = await this.start();
    await this.look();
  }

  /** Lets the task end. */
  async end(): Promise<void> {
    await this.take('thaw');
    while (!isOver(await this.look())) {
      await this.process.answer(this.taskId, { confirmed: true });
      await wait(5);
    }
    await wait(50);
    await this.look();
  }

  private async look(): Promise<Seen> {
    const seen = await this.process.get(this.taskId);
    const end = JSON.stringify([seen.status, seen.result, seen.error]);
    // once it has ended, it stays as it is
    if (isOver(seen) || this.ends.size > 0) this.ends.add(end);
    return seen;
  }

  private async start(): Promise<Process> {
    return await Process.start(
      this.disk,
      (server) => {
        server.addTool({ name: 'job', input: NoInput, task: 'required' }, async (_input, ctx) => {
          await turn();
          await turn();
          for (const effect of ['one', 'two', 'three']) {
            const result = await ctx.once(effect, async () => {
              await wait(5);
              return (this.ran += 1);
            });
            this.results.set(effect, (this.results.get(effect) ?? new Set()).add(result));
            if (effect === 'two') await ctx.confirm('Go on?');
            await ctx.sleep(effect, 10);
          }
          return `${(this.ran += 1)}`;
        });
      },
      { tasks: { leaseMs: 100 } },
    );
  }
}

it('a task has one end that never changes, and one result of each effect', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const life = new Life();
      await life.begin();
      for (const what of steps) await life.take(what);
      await life.end();
      expect(life.ends.size).toBe(1);
      for (const results of life.results.values()) expect(results.size).toBe(1);
      await closeAll();
    }),
    { numRuns: Number(process.env['TASK_ROUNDS'] ?? 15) },
  );
});
