import { randomUUID } from 'node:crypto';

import type { JsonObject } from '@decorum/core';
import type { ExtensionHost } from '@decorum/core/plugin';

import { Ledger } from './ledger.js';
import type { Settings } from './options.js';
import { isOver, type Task, type TaskOutcome } from './task.js';
import { LostTask, type RunMeans, TaskRun } from './task-run.js';

/** The longest delay of a timer, in milliseconds. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The tasks whose handlers run in this process, and those who wait for a change of any task. */
export class RunningTasks {
  readonly ledger: Ledger;
  /** This process, as stores know it. */
  readonly process = randomUUID();
  readonly runs = new Map<string, TaskRun>();
  private readonly expiries = new Map<string, NodeJS.Timeout>();
  private readonly watchers = new Map<string, Set<() => void>>();
  /** When this process was last recorded as living, in milliseconds since 1970. */
  private beatAt = 0;

  constructor(
    private readonly settings: Settings,
    private readonly host: ExtensionHost,
  ) {
    this.ledger = new Ledger(settings.store, host);
  }

  /** Records that this process lives. */
  async beat(): Promise<void> {
    const now = Date.now();
    await this.settings.store.beat(this.process, this.settings.leaseMs);
    this.beatAt = now;
  }

  /** Whether this process was away for so long that another one may have taken over. */
  get isLate(): boolean {
    return this.settings.store.isDurable && this.beatAt + this.settings.leaseMs < Date.now();
  }

  /** Resolves when a task may have changed, and in any case after a while. */
  async next(id: string, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const watchers = this.watchers.get(id) ?? new Set();
      this.watchers.set(id, watchers);
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        watchers.delete(done);
        if (watchers.size === 0) this.watchers.delete(id);
        resolve();
      };
      // a change in another process may get lost
      const timer = setTimeout(done, this.settings.leaseMs).unref();
      signal.addEventListener('abort', done);
      watchers.add(done);
    });
  }

  /** Changes a task, and tells everybody. */
  async change(id: string, apply: (task: Task) => Task | undefined): Promise<Task | undefined> {
    let isChanged = false;
    const task = await this.ledger.change(id, (before) => {
      const after = apply(before);
      isChanged = after !== undefined;
      return after;
    });
    if (isChanged && task !== undefined) {
      this.apply(task);
      this.tell(task);
    }
    return task;
  }

  /** Tells all processes of a change, or of progress, which changes nothing. */
  tell({ id, owner }: Pick<Task, 'id' | 'owner'>, progress?: JsonObject): void {
    this.host.publish({ taskId: id, by: this.process, owner, ...(progress && { progress }) });
  }

  /** Reads a task that another process may have changed. */
  async check(id: string): Promise<void> {
    try {
      const task = await this.ledger.get(id);
      if (task !== undefined) this.apply(task);
      else this.lose(id);
    } catch (error) {
      this.host.report(error, 'tasks: the store failed');
    }
  }

  /** Takes note of a change that another process made. */
  async heard({ taskId: id, by, progress }: JsonObject): Promise<void> {
    if (typeof id !== 'string' || by === this.process || progress !== undefined) return;
    if (this.runs.has(id) || this.watchers.has(id)) await this.check(id);
  }

  runOf(id: string, revision: string, stored?: Task): TaskRun {
    const means: RunMeans = {
      change: async (apply) => await this.changeHeld(id, apply),
      requireHeld: async () => {
        if (this.isLate) await this.changeHeld(id, (task) => task);
      },
      tell: (task, progress) => this.tell(task, progress),
      codeOf: (error) => this.host.codeOf(revision, error),
      ended: async (outcome) => await this.ended(id, outcome),
      report: (error) => this.host.report(error),
    };
    const run = new TaskRun(id, means, stored);
    this.runs.set(id, run);
    return run;
  }

  /** Ends a handler whose task has expired. */
  expire(run: TaskRun, task: Task): void {
    const { id, createdAt, ttlMs = Infinity } = task;
    const left = createdAt + ttlMs - Date.now();
    const due = () => {
      if (this.runs.get(id) !== run) return;
      if (left > MAX_DELAY_MS) this.expire(run, task);
      else this.lose(id);
    };
    if (left !== Infinity) this.expiries.set(id, setTimeout(due, Math.min(left, MAX_DELAY_MS)).unref());
  }

  /** Forgets a handler that has ended, or that this process must not run any more. */
  forget(id: string): void {
    this.runs.delete(id);
    clearTimeout(this.expiries.get(id));
    this.expiries.delete(id);
  }

  async release(id: string): Promise<void> {
    this.forget(id);
    if (!this.settings.store.isDurable) return;
    await this.ledger.change(id, (task) =>
      task.holder === this.process && !isOver(task) ? { ...task, holder: undefined } : undefined,
    );
  }

  /** Aborts the handler of a task that this process must not run any more. */
  lose(id: string, error: Error = new LostTask(id)): void {
    const run = this.runs.get(id);
    this.forget(id);
    run?.stop('client', error);
  }

  /** Has those who wait for a change look again. */
  wake(id: string): void {
    for (const wake of this.watchers.get(id) ?? []) wake();
  }

  /** Tells the handler of a task, and those who wait for it, how the task is now. */
  private apply(task: Task): void {
    const { id, holder } = task;
    this.wake(id);
    if (holder === this.process && !isOver(task)) this.runs.get(id)?.refresh(task);
    else this.lose(id);
  }

  /** Changes a task that this process runs. */
  private async changeHeld(id: string, apply: (task: Task) => Task): Promise<Task> {
    let isHeld = false;
    const task = await this.change(id, (now) => {
      isHeld = now.holder === this.process && !isOver(now);
      return isHeld ? apply(now) : undefined;
    });
    if (isHeld && task !== undefined) return task;
    const lost = new LostTask(id);
    this.lose(id, lost);
    throw lost;
  }

  private async ended(id: string, outcome: TaskOutcome | undefined): Promise<void> {
    if (outcome === undefined) return await this.release(id);
    this.forget(id);
    const message = 'error' in outcome ? outcome.error.message : undefined;
    await this.changeHeld(id, (task) => ({
      ...task,
      outcome,
      holder: undefined,
      ...(message !== undefined && { statusMessage: message }),
    }));
  }
}
