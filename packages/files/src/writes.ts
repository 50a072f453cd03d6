import { open, rename, rm } from 'node:fs/promises';

/** Makes the new, renamed and removed files of a folder survive a crash. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows can't open folders, and writes their changes itself
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Replaces a file by a draft beside it, which only this user can read: whatever happens, the old or the new file is
 * there as a whole. The new one survives a crash once `syncFolder` has resolved. If this rejects, the old one is there.
 */
export async function replaceFile(file: string, draft: string, content: string | Uint8Array): Promise<void> {
  try {
    const handle = await open(draft, 'w', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
