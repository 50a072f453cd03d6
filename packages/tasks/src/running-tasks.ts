import { randomUUID } from 'node:crypto';

import type { JsonObject } from '@decorum/core';
import type { ExtensionHost, Question, Run, RunHost, ToolCall } from '@decorum/core/plugin';

import { Ledger } from './ledger.js';
import { sizeOf } from './limits.js';
import { LostTask } from './lost-task.js';
import type { Settings } from './options.js';
import { isOver, type Task } from './task.js';
import type { RunMeans } from './run-means.js';
import { TaskRun } from './task-run.js';

/** The longest delay of a timer, in milliseconds. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The tasks whose handlers run in this process, and those who wait for a change of any task. */
export class RunningTasks {
  readonly ledger: Ledger;
  /** This process, as stores know it. */
  readonly process = randomUUID();
  readonly runs = new Map<string, TaskRun>();
  /** The runs whose handlers have not ended, including those that were stopped and ignore it, and their characters. */
  private readonly live = new Map<TaskRun, number>();
  private readonly watchers = new Map<string, Set<() => void>>();
  /** When this process was last recorded as living, in milliseconds since 1970. */
  private beatAt = 0;
  /** Until when no process counts as dead, in milliseconds since 1970. */
  private graceEnd = 0;
  private beating: Promise<void> | undefined;
  private isClosing = false;

  constructor(
    private readonly settings: Settings,
    private readonly host: ExtensionHost,
  ) {
    this.ledger = new Ledger(settings.store, host);
  }

  /** How many handlers run. */
  get count(): number {
    return this.live.size;
  }

  /** The characters of the arguments of all handlers that run. */
  get chars(): number {
    let sum = 0;
    for (const chars of this.live.values()) sum += chars;
    return sum;
  }

  /** Records that this process lives. If it was away for long, it then looks for the tasks that it has lost. */
  async beat(): Promise<void> {
    this.beating ??= this.beatNow().finally(() => (this.beating = undefined));
    await this.beating;
  }

  private async beatNow(): Promise<void> {
    const now = Date.now();
    const { store, leaseMs } = this.settings;
    await store.beat(this.process, leaseMs);
    // the others could not say that they live either, if it was the store that was away: they get the time to come back
    if (this.beatAt > 0 && this.beatAt + leaseMs / 2 < now) this.graceEnd = Date.now() + leaseMs;
    if (this.isLate) await Promise.all([...this.runs.keys()].map((id) => this.check(id)));
    this.beatAt = now;
  }

  /** Whether a process is dead, as far as the store can know. */
  async isDead(process: string): Promise<boolean> {
    return this.graceEnd < Date.now() && !(await this.settings.store.lives(process));
  }

  /** Whether this process was away for so long that another one may have taken over. */
  private get isLate(): boolean {
    return this.settings.store.isDurable && this.beatAt + this.settings.leaseMs < Date.now();
  }

  /** Resolves when a task may have changed, and in any case after a while. */
  async next(id: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
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
      // a change in another process may get lost; and while a client waits, the process must not end
      const timer = setTimeout(done, this.settings.leaseMs);
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
    const task = await this.ledger.get(id);
    if (task !== undefined) this.apply(task);
    else if (this.runs.get(id)?.version) this.lose(id);
  }

  /** Takes note of a change that another process made. */
  async heard({ taskId: id, by, progress }: JsonObject): Promise<void> {
    if (typeof id !== 'string' || by === this.process || progress !== undefined) return;
    // if the store fails, `Takeover` looks again
    if (this.runs.has(id) || this.watchers.has(id)) await this.check(id).catch(() => {});
  }

  runOf(id: string, { revision, args }: ToolCall, stored?: Task): TaskRun {
    const means: RunMeans = {
      change: async (apply) => await this.changeHeld(id, apply),
      requireHeld: async () => {
        if (this.isLate) await this.beat();
      },
      tell: (task, progress) => this.tell(task, progress),
      codeOf: (error) => this.host.codeOf(revision, error),
      rests: () => {
        if (this.isClosing && this.mayYield(run)) this.yield(run);
      },
      release: async () => await this.release(id),
      report: (error) => this.host.report(error),
    };
    const run = new TaskRun(id, means, stored);
    this.runs.set(id, run);
    this.live.set(run, sizeOf(args));
    return run;
  }

  /** Begins to run the handler of a task. */
  watch(run: TaskRun, start: (host: RunHost) => Run, ask?: (question: Question) => Promise<JsonObject>): void {
    run.watch(start, ask);
    const forget = () => void this.live.delete(run);
    void (run.ended?.then(forget) ?? forget());
  }

  /** Ends a handler whose task has expired. */
  expire(run: TaskRun, { createdAt, ttlMs }: Pick<Task, 'createdAt' | 'ttlMs'>): void {
    if (ttlMs === undefined || this.runs.get(run.id) !== run) return;
    const left = createdAt + ttlMs - Date.now();
    const due = () => {
      if (left > MAX_DELAY_MS) return this.expire(run, { createdAt, ttlMs });
      this.lose(run.id);
      this.wake(run.id);
    };
    // timers may be early by a part of a millisecond
    run.expiry = setTimeout(due, Math.min(left + 1, MAX_DELAY_MS)).unref();
  }

  /** Stops what waits, from now on: the others have time to end. */
  close(): void {
    this.isClosing = true;
    for (const run of this.runs.values()) if (this.mayYield(run)) this.yield(run);
  }

  /** Stops everything, and leaves it to other processes. */
  async end(): Promise<void> {
    const runs = [...this.runs.values()];
    for (const run of runs) run.stop('closing', new LostTask(run.id));
    await Promise.all(runs.map(async ({ id }) => await this.release(id)));
  }

  /** Leaves a task to other processes. */
  async release(id: string): Promise<void> {
    if (this.settings.store.isDurable) {
      // if the store fails, others take it over once the lease of this process has ended
      const isOurs = (task: Task) => task.holder === this.process && !isOver(task);
      await this.ledger
        .change(id, (task) => (isOurs(task) ? { ...task, holder: undefined } : undefined))
        .catch(() => {});
    }
    this.runs.delete(id);
  }

  /** Aborts the handler of a task that this process must not run any more. */
  lose(id: string, error: Error = new LostTask(id)): void {
    const run = this.runs.get(id);
    if (run === undefined) return;
    this.runs.delete(id);
    run.stop('client', error);
    if (run.ended === undefined) this.live.delete(run);
  }

  /** Whether another process can go on with a task, or nobody will while this one closes. */
  private mayYield(run: TaskRun): boolean {
    return run.isWaiting || (run.isSleeping && this.settings.store.isDurable);
  }

  private yield(run: TaskRun): void {
    run.stop('closing', new LostTask(run.id));
    this.wake(run.id);
    void this.release(run.id);
  }

  /** Has those who wait for a change look again. */
  private wake(id: string): void {
    for (const wake of this.watchers.get(id) ?? []) wake();
  }

  /** Tells the handler of a task, and those who wait for it, how the task is now. */
  private apply(task: Task): void {
    const { id, holder } = task;
    this.wake(id);
    const run = this.runs.get(id);
    // it may have been read before it was taken over
    if (run === undefined || task.version < run.version) return;
    if (holder === this.process && !isOver(task)) run.refresh(task);
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
    // an end that the store seemed to reject may have been stored
    if (task !== undefined) this.apply(task);
    const lost = new LostTask(id);
    this.lose(id, lost);
    throw lost;
  }
}
