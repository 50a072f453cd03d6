import { definePlugin, type Plugin } from '@decorum/core/plugin';

import { memoryTasks } from './store/memory-tasks.js';
import type { TaskStore } from './store/task-store.js';

/** Options of `tasks`. */
export interface TasksOptions {
  /** Where tasks are kept. Defaults to the memory of the process. */
  readonly store?: TaskStore;
}

declare module '@decorum/core' {
  interface ExtensionToolOptions {
    /**
     * Whether clients may call the tool as a task: `forbidden` (the default), `optional` or `required`. Needs `tasks()` of
     * `@decorum/tasks` among the server's `plugins`.
     */
    readonly task?: 'forbidden' | 'optional' | 'required';
  }
}

/**
 * Lets tools run as tasks.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { McpServer, Tool } from '@decorum/core';
 * import { tasks } from '@decorum/tasks';
 *
 * class Reports {
 *   @Tool({ description: 'Builds the yearly report', task: 'optional' })
 *   yearly() {
 *     return 'The report';
 *   }
 * }
 *
 * new McpServer({ name: 'reports', version: '1.0.0', providers: [Reports], plugins: [tasks()] });
 * ```
 */
export const tasks: (options?: TasksOptions) => Plugin = definePlugin(
  ({ store = memoryTasks() }: TasksOptions = {}) => ({
    name: 'tasks',
    onClose: () => store.close?.(),
    extensions: [{ id: 'io.modelcontextprotocol/tasks', toolOptions: { task: 'string' } }],
  }),
);
