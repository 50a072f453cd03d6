export type { AuthStore, Change, StoredRecord } from './store/auth-store.js';
export { fileStore, type FileStoreOptions } from './store/file-store.js';
export { memoryStore, type MemoryStoreOptions } from './store/memory-store.js';
export { SignInBusyError } from './users/derivations.js';
export { hashPassword } from './users/password-hash.js';
export type { User, UserDirectory } from './users/user-directory.js';
export { usersFile } from './users/users-file.js';
