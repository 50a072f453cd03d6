// `@decorum/tasks/store-contract`: for authors of task stores.
export type { OpenTask, StoredTask, TaskCounts, TaskStore, TaskStoreServer } from './store/task-store.js';
