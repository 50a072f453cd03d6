import { McpError } from '@decorum/core';

import type { OpenTask, StoredTask, TaskCounts, TaskPage, TaskStore } from './task-store.js';

/** The longest time to wait for a store, in milliseconds. */
const PATIENCE_MS = 5000;

/** Whether an error says that the store failed. */
export const isOutage = (error: unknown): boolean => error instanceof McpError && error.kind === 'unavailable';

/**
 * A store whose methods reject in time, with an error for clients. The first failure of a method is reported, and not the
 * next ones until it works again: clients poll. Nor are those of calls that began before it worked again.
 */
export class GuardedStore implements TaskStore {
  readonly isDurable: boolean;
  private readonly failing = new Set<string>();
  /** How often each method has begun to work again. */
  private readonly recoveries = new Map<string, number>();

  /**
   * @param report reports an error, which no client sees
   * @param leaseMs no store can be used that takes longer, in milliseconds
   */
  constructor(
    private readonly store: TaskStore,
    private readonly report: (error: unknown, message: string) => void,
    private readonly leaseMs: number,
  ) {
    this.isDurable = store.isDurable;
  }

  get(id: string): StoredTask | undefined | Promise<StoredTask | undefined> {
    return this.guard('get', () => this.store.get(id));
  }

  set(task: StoredTask): boolean | Promise<boolean> {
    return this.guard('set', () => this.store.set(task));
  }

  delete(id: string): void | Promise<void> {
    return this.guard('delete', () => this.store.delete(id));
  }

  list(owner: string, page: TaskPage): readonly StoredTask[] | Promise<readonly StoredTask[]> {
    return this.guard('list', () => this.store.list(owner, page));
  }

  openTasks(): readonly OpenTask[] | Promise<readonly OpenTask[]> {
    return this.guard('openTasks', () => this.store.openTasks());
  }

  count(owner: string): TaskCounts | Promise<TaskCounts> {
    return this.guard('count', () => this.store.count(owner));
  }

  beat(process: string, ttlMs: number): void | Promise<void> {
    return this.guard('beat', () => this.store.beat(process, ttlMs));
  }

  lives(process: string): boolean | Promise<boolean> {
    return this.guard('lives', () => this.store.lives(process));
  }

  end(process: string): void | Promise<void> {
    return this.guard('end', () => this.store.end?.(process));
  }

  private guard<T>(method: string, call: () => T | Promise<T>): T | Promise<T> {
    try {
      const result = call();
      if (result instanceof Promise) return this.inTime(method, result);
      this.works(method);
      return result;
    } catch (error) {
      throw this.failed(method, error);
    }
  }

  private async inTime<T>(method: string, result: Promise<T>): Promise<T> {
    const before = this.recoveriesOf(method);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const ms = Math.min(PATIENCE_MS, this.leaseMs);
      const tooLate = () => reject(new Error(`\`${method}\` of the store did not settle within ${ms} ms.`));
      timer = setTimeout(tooLate, ms).unref();
    });
    try {
      const value = await Promise.race([result, late]);
      this.works(method);
      return value;
    } catch (error) {
      throw this.failed(method, error, before);
    } finally {
      clearTimeout(timer);
    }
  }

  private works(method: string): void {
    if (this.failing.size > 0 && this.failing.delete(method))
      this.recoveries.set(method, this.recoveriesOf(method) + 1);
  }

  private recoveriesOf(method: string): number {
    return this.recoveries.get(method) ?? 0;
  }

  /** @param before the recoveries of the method when the call began */
  private failed(method: string, error: unknown, before = this.recoveriesOf(method)): McpError {
    if (!this.failing.has(method) && before === this.recoveriesOf(method)) {
      this.report(error, `tasks: \`${method}\` of the store failed`);
      this.failing.add(method);
    }
    return new McpError('unavailable', 'Tasks are not available at the moment. Try again later.');
  }
}
