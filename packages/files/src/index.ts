export { type FolderUse, invalidFolder, lockFolder } from './folder-lock.js';
export { replaceFile, syncFolder } from './writes.js';
