import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';

import { memoryTasks } from './store/memory-tasks.js';
import type { TaskStore } from './store/task-store.js';

/** Options of `tasks`. */
export interface TasksOptions {
  /** Where tasks are kept: `memoryTasks()` (the default), `fileTasks(folder)`, or `tasks` of `redis()`. */
  readonly store?: TaskStore;
  /** Milliseconds that a task is kept from its creation, unless its client asks for another time. Defaults to a day. */
  readonly ttlMs?: number;
  /** The longest time in milliseconds that a client may ask for. Defaults to 30 days. */
  readonly maxTtlMs?: number;
  /** Milliseconds that clients are told to wait between two polls. Defaults to 1000. */
  readonly pollIntervalMs?: number;
  /** Tasks that are kept at most. Defaults to 20,000. */
  readonly maxTasks?: number;
  /** Tasks of one principal that are kept at most. Defaults to 2000. */
  readonly maxTasksPerPrincipal?: number;
  /** Handlers that run as tasks at most at the same time in this process, those that wait included. Defaults to 2000. */
  readonly maxRunning?: number;
  /**
   * For durable stores: milliseconds after which a process that gives no sign of life counts as dead, so that another one
   * takes its tasks over. Defaults to 15 seconds.
   */
  readonly leaseMs?: number;
  /**
   * For durable stores: milliseconds after which a task fails if no process has its tool. Defaults to an hour, which is
   * longer than a deployment takes.
   */
  readonly orphanMs?: number;
}

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;

const DEFAULTS = {
  ttlMs: DAY_MS,
  maxTtlMs: 30 * DAY_MS,
  pollIntervalMs: 1000,
  maxTasks: 20_000,
  maxTasksPerPrincipal: 2000,
  maxRunning: 2000,
  leaseMs: 15_000,
  orphanMs: 3_600_000,
};

/** The options of `tasks` with their defaults. */
export type Settings = Required<TasksOptions>;

const OPTIONS: OptionTypes<TasksOptions> = {
  store: 'object',
  ttlMs: [1, YEAR_MS],
  maxTtlMs: [1, YEAR_MS],
  pollIntervalMs: [1, DAY_MS],
  maxTasks: [1, 1_000_000],
  maxTasksPerPrincipal: [1, 1_000_000],
  maxRunning: [1, 1_000_000],
  leaseMs: [100, DAY_MS],
  orphanMs: [0, YEAR_MS],
};

const STORE_METHODS = ['get', 'set', 'delete', 'list', 'openTasks', 'count', 'beat', 'lives'] as const;

/** The error for a wrong option of `tasks`. */
export const invalidTasksOption = (option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', 'tasks', option, problem);

/**
 * Fills in the defaults.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function settingsOf(options: TasksOptions): Settings {
  requireOptions('tasks', options, OPTIONS);
  const { store = memoryTasks() } = options;
  const missing = STORE_METHODS.find((method) => typeof (store as Partial<TaskStore>)[method] !== 'function');
  if (missing !== undefined)
    throw invalidTasksOption(
      'store',
      `has no method \`${missing}\`. Pass a TaskStore, such as fileTasks('data/tasks')`,
    );
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const settings: Settings = { ...DEFAULTS, ...given, store };
  if (settings.ttlMs <= settings.maxTtlMs) return settings;
  throw invalidTasksOption(
    'ttlMs',
    `is ${settings.ttlMs}, more than \`maxTtlMs\`, which is ${settings.maxTtlMs}. Raise \`maxTtlMs\``,
  );
}
