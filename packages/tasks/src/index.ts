export { memoryTasks } from './store/memory-tasks.js';
export type { OpenTask, StoredTask, TaskCounts, TaskPage, TaskStore, TaskStoreServer } from './store/task-store.js';
export { tasks, type TasksOptions } from './tasks.js';
