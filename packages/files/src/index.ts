export { lockFile, type LockFile, tryLockFile, type Waiting } from './file-lock.js';
export { type FolderUse, invalidFolder, lockFolder } from './folder-lock.js';
export { replaceFile, syncFolder } from './writes.js';
