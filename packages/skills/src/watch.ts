import { relative, sep } from 'node:path';

import { watch } from 'chokidar';

import { isHidden } from './read-skill.js';

// editors write a file in several steps, and git writes several files
const SETTLE_MS = 50;

/**
 * Watches folders. Doesn't keep the process alive.
 * @param changed called after edits, once nothing has changed for a moment
 * @returns a function that ends it
 */
export async function watchFolders(
  roots: readonly string[],
  changed: () => void,
  failed: (error: unknown) => void,
): Promise<() => Promise<void>> {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch([...roots], {
    followSymlinks: false,
    persistent: false,
    ignoreInitial: true,
    ignored: (file) => roots.some((root) => isHiddenIn(root, file)),
  });
  watcher.on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(changed, SETTLE_MS);
  });
  watcher.on('error', failed);
  await new Promise<void>((done) => void watcher.once('ready', done));
  // what was edited between the first reading and now
  changed();
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}

function isHiddenIn(root: string, file: string): boolean {
  const parts = relative(root, file).split(sep);
  return parts[0] !== '..' && parts.some(isHidden);
}
