export type { AuthStore, Change, StoredRecord } from './store/auth-store.js';
export { fileStore, type FileStoreOptions } from './store/file-store.js';
export { memoryStore, type MemoryStoreOptions } from './store/memory-store.js';
