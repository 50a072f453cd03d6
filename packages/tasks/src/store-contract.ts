// `@decorum/tasks/store-contract`: for authors of task stores.
export type { StoredTask, TaskCounts, TaskStore, TaskStoreServer } from './store/task-store.js';
