import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

import { type FSWatcher, watch } from 'chokidar';

// editors and git write several files, or one file in several steps
const SETTLE_MS = 15;

/** Time between two looks for files that were removed. */
const MISSING_MS = 200;

/** Whether a file in the root of the project is read before the program runs. */
export const isSetting = (name: string): boolean => /^(tsconfig.*\.json|package\.json|\.env)$/.test(name);

/** Watches the files of a program. Their folders are watched, because editors replace a file when they save it. */
export class Watcher {
  private readonly watcher: FSWatcher;
  private readonly files = new Set<string>();
  private readonly folders = new Set<string>();
  private readonly changed = new Set<string>();
  /** Files that were removed. They may come back with their folders, as after `git checkout`, which nobody watches then. */
  private readonly missing = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private search: NodeJS.Timeout | undefined;

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
      const folder = dirname(file);
      if (this.folders.has(folder)) continue;
      this.folders.add(folder);
      this.watcher.add(folder);
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    clearInterval(this.search);
    await this.watcher.close();
  }

  private take(event: string, path: string): void {
    if (event !== 'add' && event !== 'change' && event !== 'unlink') return;
    if (!this.files.has(path) && !(dirname(path) === this.root && isSetting(relative(this.root, path)))) return;
    if (event === 'unlink') {
      this.missing.add(path);
      this.search ??= setInterval(() => this.find(), MISSING_MS).unref();
    } else this.missing.delete(path);
    this.note(path);
  }

  /** Looks for the files that were removed, and watches their folders anew. */
  private find(): void {
    const found = [...this.missing].filter((file) => existsSync(file));
    for (const folder of new Set(found.map((file) => dirname(file)))) {
      this.watcher.unwatch(folder);
      this.watcher.add(folder);
    }
    for (const file of found) {
      this.missing.delete(file);
      this.note(file);
    }
    if (this.missing.size > 0) return;
    clearInterval(this.search);
    this.search = undefined;
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
