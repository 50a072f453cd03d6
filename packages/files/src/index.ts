export { lockFile, type LockFile, tryLockFile, type Waiting } from './file-lock.js';
export { fileStore, type FileStoreOptions } from './file-store.js';
export { type FolderPlace, type FolderUse, invalidFolder, lockFolder } from './folder-lock.js';
export { replaceFile, syncFolder } from './writes.js';
