/** A task as a store keeps it. */
export interface StoredTask {
  readonly id: string;
  /** 1 for a new task, and one more with each change. */
  readonly version: number;
  /** Who may see the task: text that stands for a principal. Empty for callers without one. Never changes. */
  readonly owner: string;
  /** Whether the task has not ended. */
  readonly isOpen: boolean;
  /** Milliseconds since 1970. Never changes. */
  readonly createdAt: number;
  /** Milliseconds since 1970 after which the store may forget the task; undefined if it must not. */
  readonly expiresAt: number | undefined;
  /** The process that runs it; undefined if none does. */
  readonly holder: string | undefined;
  /** Everything else: Unicode text. Sealed, if the store is durable. */
  readonly text: string;
}

/** A task that has not ended. */
export type OpenTask = Pick<StoredTask, 'id' | 'holder'>;

/** A part of a list. */
export interface TaskPage {
  /** The task after which the page begins. It may be gone. Without it, the list begins with the oldest task. */
  readonly after?: Pick<StoredTask, 'id' | 'createdAt'>;
  /** Cap on the tasks of the page. Fewer mean that the list ends. */
  readonly limit: number;
}

/** How many tasks a store keeps. */
export interface TaskCounts {
  readonly all: number;
  /** Those of one owner. */
  readonly own: number;
}

/**
 * Keeps tasks. Methods may be asynchronous. `storeContract` of `@decorum/tasks/store-contract` tests an implementation.
 */
export interface TaskStore {
  /** Whether tasks survive the end of the process. Their texts are then sealed, which needs the server's secret. */
  readonly isDurable: boolean;
  /** Called once, before the first other call. */
  open?(server: TaskStoreServer): void | Promise<void>;
  /**
   * A store that only reads, and that can be open while another process has this one. Missing if any number of processes
   * can have this one.
   */
  reader?(): TaskStore;
  /** Called once, after the last other call. */
  close?(): void | Promise<void>;
  /** Reads a task; undefined if there is none, or if it has expired. */
  get(id: string): StoredTask | undefined | Promise<StoredTask | undefined>;
  /**
   * Stores a task, if the store has the version before it: none for version 1. Checking and writing are one step.
   * If this rejects, the task may have been stored or not: `get` tells.
   * @returns false, and changes nothing, if it has another version
   */
  set(task: StoredTask): boolean | Promise<boolean>;
  delete(id: string): void | Promise<void>;
  /**
   * Lists tasks of an owner, the oldest first. Those of the same millisecond come in any order that stays the same.
   */
  list(owner: string, page: TaskPage): readonly StoredTask[] | Promise<readonly StoredTask[]>;
  /** All tasks that have not ended, with the processes that run them, in any order. */
  openTasks(): readonly OpenTask[] | Promise<readonly OpenTask[]>;
  /** How many tasks there are, except those that have expired. */
  count(owner: string): TaskCounts | Promise<TaskCounts>;
  /**
   * Records that a process lives.
   * @param process an id that the process chose
   * @param ttlMs milliseconds after which the process counts as dead
   */
  beat(process: string, ttlMs: number): void | Promise<void>;
  /** Whether a process has recorded that it lives, and its time isn't over. */
  lives(process: string): boolean | Promise<boolean>;
  /** Records that a process ends. */
  end?(process: string): void | Promise<void>;
}

/** What a store gets from the server that it serves. */
export interface TaskStoreServer {
  readonly name: string;
  /** Reports an error, which no client sees. */
  report(error: unknown, message?: string): void;
}
