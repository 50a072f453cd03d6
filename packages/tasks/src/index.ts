export { fileTasks, type FileTasksOptions } from './store/file-tasks.js';
export type { TasksOptions } from './options.js';
export { memoryTasks } from './store/memory-tasks.js';
export type { OpenTask, StoredTask, TaskCounts, TaskPage, TaskStore, TaskStoreServer } from './store/task-store.js';
export { tasks } from './tasks.js';
