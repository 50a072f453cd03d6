import { dirname, relative, resolve, sep } from 'node:path';

import { type FSWatcher, watch } from 'chokidar';

// editors and git write several files, or one file in several steps
const SETTLE_MS = 15;

/** Whether a file in the root of the project is read before the program runs. */
export const isSetting = (name: string): boolean => /^(tsconfig.*\.json|package\.json|\.env)$/.test(name);

/** Watches the files of a program. Their folders are watched, because editors replace a file when they save it. */
export class Watcher {
  private readonly watcher: FSWatcher;
  private readonly files = new Set<string>();
  private readonly folders = new Set<string>();
  private readonly changed = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly root: string,
    private readonly see: (files: readonly string[]) => void,
  ) {
    this.watcher = watch(root, { depth: 0, ignoreInitial: true, atomic: false });
    this.folders.add(root);
    this.watcher.on('all', (event, path) => this.take(event, resolve(root, path)));
    this.watcher.on('error', () => {});
  }

  /** Watches more files. They need not exist. */
  add(files: Iterable<string>): void {
    for (const file of files) {
      if (this.files.has(file)) continue;
      this.files.add(file);
      // a folder that is removed is seen again by the one above it
      for (let folder = dirname(file); !this.folders.has(folder); folder = dirname(folder)) {
        this.folders.add(folder);
        this.watcher.add(folder);
        if (!folder.startsWith(this.root + sep)) break;
      }
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    await this.watcher.close();
  }

  private take(event: string, path: string): void {
    if (event === 'addDir' && this.folders.has(path) && path !== this.root) return this.restore(path);
    if (event !== 'add' && event !== 'change' && event !== 'unlink') return;
    if (!this.files.has(path) && !(dirname(path) === this.root && isSetting(relative(this.root, path)))) return;
    this.note(path);
  }

  /** A folder is there again, as after `git checkout`: what is in it may have come before the folder was watched. */
  private restore(folder: string): void {
    const isIn = (path: string) => path.startsWith(folder + sep);
    this.watcher.add([folder, ...[...this.folders].filter(isIn)]);
    for (const file of this.files) if (isIn(file)) this.note(file);
  }

  private note(path: string): void {
    this.changed.add(path);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const files = [...this.changed];
      this.changed.clear();
      this.see(files);
    }, SETTLE_MS);
  }
}
