import type { ExtensionHost, Run, RunHost } from '@decorum/core/plugin';

import type { Settings } from './options.js';
import type { RunningTasks } from './running-tasks.js';
import { isOver, type Task } from './task.js';

/** Processes that may end while they run a task before it counts as the cause. */
const MAX_CRASHES = 3;

/** Takes over the tasks of processes that have died. */
export class Takeover {
  private isStopped = false;

  constructor(
    private readonly settings: Settings,
    private readonly host: ExtensionHost,
    private readonly running: RunningTasks,
  ) {}

  /** Begins to take over, and goes on until `stop`. Returns a function that ends it. */
  async begin(): Promise<() => void> {
    await this.running.beat();
    await this.takeOver();
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

  /** Takes over the tasks that nobody runs. */
  private async takeOver(): Promise<void> {
    const { store } = this.settings;
    const living = new Map<string, boolean>([[this.running.process, true]]);
    for (const { id, holder } of await store.openTasks()) {
      if (this.isStopped) return;
      if (holder !== undefined) {
        if (!living.has(holder)) living.set(holder, await store.lives(holder));
        if (living.get(holder)) continue;
      }
      if (!this.running.runs.has(id)) await this.resume(id, holder);
    }
  }

  private async resume(id: string, dead: string | undefined): Promise<void> {
    const known = await this.running.ledger.get(id);
    if (known === undefined) return;
    const { host, settings } = this;
    const options = host.optionsOf(known.call.tool);
    const isMissing = options === undefined || (options['task'] ?? 'forbidden') === 'forbidden';
    if (isMissing && Date.now() - known.updatedAt < settings.orphanMs) return;
    const crashes = known.crashes + (dead === undefined ? 0 : 1);
    const problem = isMissing
      ? 'The tool of the task does not exist any more.'
      : crashes >= MAX_CRASHES
        ? 'The task ended its process several times.'
        : undefined;
    const task = await this.running.change(id, (now) => {
      if (isOver(now) || now.holder !== dead) return undefined;
      if (problem === undefined) return { ...now, holder: this.running.process, crashes };
      return {
        ...now,
        crashes,
        holder: undefined,
        statusMessage: problem,
        outcome: { error: { code: -32603, message: problem } },
      };
    });
    if (task === undefined || task.holder !== this.running.process || this.running.runs.has(id)) return;
    const run = this.running.runOf(id, task.call.revision, task);
    this.running.expire(run, task);
    run.watch((own) => this.start(task, own));
  }

  private start({ call }: Task, host: RunHost): Run {
    try {
      return this.host.run(call, host);
    } catch (error) {
      const result = Promise.reject(error as Error);
      result.catch(() => {});
      return { result, cancel: () => {} };
    }
  }

  private async keepUp(): Promise<void> {
    try {
      const { isLate } = this.running;
      await this.running.beat();
      // this process was away for so long that another one may have taken over
      if (isLate) await Promise.all([...this.running.runs.keys()].map((id) => this.running.check(id)));
      await this.takeOver();
    } catch (error) {
      this.host.report(error, 'tasks: the store failed');
    }
  }
}
