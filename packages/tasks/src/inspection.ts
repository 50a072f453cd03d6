import type { JsonObject } from '@decorum/core';
import type { ExtensionHost } from '@decorum/core/plugin';

import { Ledger } from './ledger.js';
import { invalidTasksOption, type Settings } from './options.js';
import { detailed } from './status.js';
import type { TaskStore } from './store/task-store.js';
import { isOver, type Task } from './task.js';

/** The global function that gets the tasks of a server in place of running them. `decorum tasks` sets it. */
const INSPECT = Symbol.for('decorum:tasks');

/** Tasks without an owner that are read at once. */
const PAGE = 100;

/** Looks at the tasks of a server, and changes them, without running any. */
export class Inspection {
  private readonly store: TaskStore;
  private readonly ledger: Ledger;

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` for a store that isn't durable, or a server without a secret */
  constructor(
    private readonly settings: Settings,
    private readonly host: ExtensionHost,
    { writes }: { readonly writes: boolean },
  ) {
    const { store } = settings;
    if (!store.isDurable) throw invalidTasksOption('store', 'keeps tasks in the memory of the server only');
    if (host.seal === undefined)
      throw invalidTasksOption(
        'store',
        'is sealed with the secret of the server, which is missing. Set DECORUM_SECRET',
      );
    this.store = writes ? store : (store.reader?.() ?? store);
    this.ledger = new Ledger(this.store, host);
  }

  async open(): Promise<void> {
    await this.store.open?.({ name: this.host.server, report: this.host.report });
  }

  async close(): Promise<void> {
    await this.store.close?.();
  }

  /** Every task that has not ended, and those of callers without a principal that have. Oldest first. */
  async list(): Promise<readonly JsonObject[]> {
    const found = new Map<string, Task>();
    for (const { id } of await this.store.openTasks()) {
      const task = await this.ledger.get(id);
      if (task !== undefined) found.set(id, task);
    }
    let after: Task | undefined;
    for (;;) {
      const page = await this.ledger.list('', { limit: PAGE, ...(after && { after }) });
      for (const task of page) found.set(task.id, task);
      after = page.at(-1);
      if (page.length < PAGE) break;
    }
    return [...found.values()].sort((one, other) => one.createdAt - other.createdAt).map((task) => this.summary(task));
  }

  /** Everything that is known of a task; undefined if there is none. */
  async show(id: string): Promise<JsonObject | undefined> {
    const task = await this.ledger.get(id);
    if (task === undefined) return undefined;
    const effects = task.effects.map(([key]) => key).filter((key) => !key.startsWith('\0'));
    const { args } = task.call;
    return {
      ...this.summary(task),
      arguments: args,
      effects,
      crashes: task.crashes,
      ...detailed(task, this.host, this.settings.pollIntervalMs),
    };
  }

  /** Lets a task that has failed run again. What has succeeded in it is kept. Returns why it can't, if so. */
  async retry(id: string): Promise<string | undefined> {
    return await this.change(id, (task) => {
      const { outcome, ...rest } = task;
      const isFailed = outcome !== undefined && ('error' in outcome || outcome.result.isError === true);
      if (!isFailed || task.isCancelled) return undefined;
      return { ...rest, holder: undefined, crashes: 0, statusMessage: 'The task is to run again.' };
    });
  }

  /** Cancels a task that has not ended. Returns why it can't, if so. */
  async cancel(id: string): Promise<string | undefined> {
    return await this.change(id, (task) =>
      isOver(task)
        ? undefined
        : { ...task, isCancelled: true, holder: undefined, statusMessage: 'The task was cancelled.' },
    );
  }

  private async change(id: string, apply: (task: Task) => Task | undefined): Promise<string | undefined> {
    let isChanged = false;
    const task = await this.ledger.change(id, (now) => {
      const after = apply(now);
      isChanged = after !== undefined;
      return after;
    });
    if (task === undefined) return 'There is no such task, or it has expired.';
    if (!isChanged) return `The task is ${String(this.summary(task)['status'])}.`;
    // processes that run tasks of the same store look at it
    this.host.publish({ taskId: id, by: 'decorum tasks' });
    return undefined;
  }

  private summary(task: Task): JsonObject {
    const fields = detailed(task, this.host, this.settings.pollIntervalMs);
    const { taskId, status, statusMessage, createdAt, lastUpdatedAt } = fields;
    const { tool, principal } = task.call;
    const subject = principal?.subject;
    const isFailed = task.outcome !== undefined && 'result' in task.outcome && task.outcome.result.isError === true;
    return {
      taskId,
      tool,
      // people look for what went wrong: as in 2025-11-25
      status: isFailed && task.isCancelled !== true ? 'failed' : status,
      ...(statusMessage !== undefined && { statusMessage }),
      ...(subject !== undefined && { subject }),
      createdAt,
      lastUpdatedAt,
    };
  }
}

/** What a program that looks at tasks wants to do. */
export type Inspect = (create: (access: { readonly writes: boolean }) => Inspection) => Promise<void>;

/** The function of a program that looks at tasks in place of running them, if there is one. */
export const inspector = (): Inspect | undefined => (globalThis as { readonly [INSPECT]?: Inspect })[INSPECT];
