import type { ExtensionHost } from '@decorum/core/plugin';

import type { Settings } from './options.js';
import type { RunningTasks } from './running-tasks.js';
import { isOutage } from './store/guarded-store.js';
import type { OpenTask } from './store/task-store.js';
import { isOver, openQuestions, type Task } from './task.js';

/** Processes that may end while they run a task before it counts as the cause. */
const MAX_CRASHES = 3;

/** Takes over the tasks of processes that have died. */
export class Takeover {
  private isStopped = false;
  private isBusy = false;
  /** Tasks whose creation failed, although the store may have them: no client knows them. */
  private readonly discarded = new Set<string>();

  constructor(
    private readonly settings: Settings,
    private readonly host: ExtensionHost,
    private readonly running: RunningTasks,
  ) {}

  /** Begins to take over, and goes on until `stop`. Returns a function that ends it. */
  async begin(): Promise<() => void> {
    await this.keepUp();
    const every = setInterval(() => void this.keepUp(), Math.ceil(this.settings.leaseMs / 3)).unref();
    return () => {
      this.isStopped = true;
      clearInterval(every);
    };
  }

  /** Takes nothing over any more, but goes on to say that this process lives. */
  stop(): void {
    this.isStopped = true;
  }

  /** Deletes a task whose creation failed. */
  async discard(id: string): Promise<void> {
    if (this.settings.store.isDurable) this.discarded.add(id);
    try {
      await this.settings.store.delete(id);
      this.discarded.delete(id);
    } catch {
      // `keepUp` tries again
    }
  }

  /** Says that this process lives, even if taking over takes long. */
  private async keepUp(): Promise<void> {
    try {
      await this.running.beat();
      if (this.isBusy || this.isStopped) return;
      this.isBusy = true;
      try {
        for (const id of this.discarded) await this.discard(id);
        await this.takeOver(await this.settings.store.openTasks());
      } finally {
        this.isBusy = false;
      }
    } catch (error) {
      // the store has reported it
      if (!isOutage(error)) this.host.report(error);
    }
  }

  private async takeOver(open: readonly OpenTask[]): Promise<void> {
    await this.catchUp(open);
    const dead = new Map<string, boolean>();
    const isDead = async (holder: string) => {
      const known = dead.get(holder) ?? (await this.running.isDead(holder));
      dead.set(holder, known);
      return known;
    };
    for (const { id, holder } of open) {
      if (this.isStopped) return;
      if (this.running.runs.has(id) || this.discarded.has(id)) continue;
      // this process may hold a task that it does not run, if a write has failed and arrived all the same
      if (holder !== undefined && holder !== this.running.process && !(await isDead(holder))) continue;
      await this.resume(id, holder).catch((error: unknown) => {
        if (isOutage(error)) throw error;
        this.host.report(error);
      });
    }
  }

  /** Reads what other processes may have changed without a word of it reaching this one. */
  private async catchUp(open: readonly OpenTask[]): Promise<void> {
    const held = new Set(open.flatMap(({ id, holder }) => (holder === this.running.process ? [id] : [])));
    for (const [id, run] of this.running.runs) if (run.isWaiting || !held.has(id)) await this.running.check(id);
  }

  private async resume(id: string, dead: string | undefined): Promise<void> {
    const known = await this.running.ledger.get(id);
    if (known === undefined) return;
    const after = this.afterCrash(known, dead);
    if (after === undefined || (after.holder !== undefined && this.running.count >= this.settings.maxRunning)) return;
    const task = await this.running.change(id, (now) =>
      isOver(now) || now.holder !== dead || this.isStopped ? undefined : { ...now, ...after },
    );
    if (task === undefined || isOver(task) || task.holder !== this.running.process || this.running.runs.has(id)) return;
    if (this.isStopped) return await this.running.release(id);
    const run = this.running.runOf(id, task.call, task);
    this.running.expire(run, task);
    this.running.watch(run, (host) => this.host.run(structuredClone(task.call), host));
  }

  /** What changes about a task that no living process runs; undefined if nothing does. */
  private afterCrash(task: Task, dead: string | undefined): Partial<Task> | undefined {
    const { process } = this.running;
    const isCrash = dead !== undefined && dead !== process && !isIdle(task);
    const crashes = task.crashes + Number(isCrash);
    if (crashes >= MAX_CRASHES) return failed(crashes, 'The task ended its process several times.');
    const options = this.host.optionsOf(task.call.tool);
    if (options !== undefined && (options['task'] ?? 'forbidden') !== 'forbidden') return { holder: process, crashes };
    // nobody runs it from now on, and the time for others to take it begins
    if (dead !== undefined) return { holder: undefined, crashes };
    if (Date.now() - task.updatedAt < this.settings.orphanMs) return undefined;
    return failed(crashes, 'The tool of the task does not exist any more.');
  }
}

/** Whether the handler of a task waits for the client or sleeps. It then can't be why its process ended. */
function isIdle(task: Task): boolean {
  const sleeps = ([key, end]: readonly [string, unknown?]) => key.startsWith(SLEEP) && Number(end) > Date.now();
  return openQuestions(task).length > 0 || task.effects.some(sleeps);
}

/** Prefix of the effects of `ctx.sleep`. */
const SLEEP = '\0sleep ';

const failed = (crashes: number, problem: string): Partial<Task> => ({
  crashes,
  holder: undefined,
  statusMessage: problem,
  outcome: { error: { code: -32603, message: problem } },
});
