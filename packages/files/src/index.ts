export { lockFile, type LockFile, tryLockFile, type Waiting } from './file-lock.js';
export { fileKeyValueStore, type FileKeyValueStoreOptions } from './file-key-value-store.js';
export { type FolderPlace, type FolderUse, invalidFolder, lockFolder } from './folder-lock.js';
export { replaceFile, syncFolder } from './writes.js';
