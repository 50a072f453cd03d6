export type { AuthStore, Change, StoredRecord } from './store/auth-store.js';
