import { createHash } from 'node:crypto';
import {
  type FSWatcher,
  readdirSync,
  readFileSync,
  type Stats,
  statSync,
  unwatchFile,
  watch,
  watchFile,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

// editors and git write several files, or one file in several steps
const SETTLE_MS = 15;

/** Polling interval for files whose folder can't be watched. */
const LOOK_MS = 200;

/** Whether a file in the root of the project is read before the program runs. */
export const isSetting = (name: string): boolean => /^(tsconfig.*\.json|package\.json|\.env)$/.test(name);

/**
 * Watches the files of a program. It watches their folders, because editors replace a file when they save it. It starts
 * to watch a folder before it looks at the files, so no edit is missed in between.
 */
export class Watcher {
  /** The last known state of each file. */
  private readonly files = new Map<string, string>();
  /** Files that count as edited only if their content differs: a program may write them itself when it starts. */
  private readonly read = new Set<string>();
  private readonly folders = new Map<string, FSWatcher>();
  private readonly polled = new Set<string>();
  private readonly changed = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly root: string,
    private readonly see: (files: readonly string[]) => void,
  ) {
    const settings = readdirSync(root).filter(isSetting);
    this.add(settings.map((name) => join(root, name)));
  }

  /**
   * Watches more files. They don't have to exist.
   * @param since files that have changed since then count as edited (milliseconds since the epoch)
   */
  add(files: Iterable<string>, since = Infinity): void {
    for (const file of files) {
      if (this.files.has(file)) continue;
      const found = statOf(file);
      this.begin(file);
      if (found && found.ctimeMs > since) this.note(file);
    }
  }

  /** Watches the content of a file that the program has read. */
  addRead(file: string): void {
    if (this.files.has(file)) return;
    this.read.add(file);
    this.begin(file);
  }

  close(): void {
    clearTimeout(this.timer);
    for (const watcher of this.folders.values()) watcher.close();
    for (const file of this.polled) unwatchFile(file);
  }

  private begin(file: string): void {
    const isWatched = this.watch(dirname(file));
    this.files.set(file, this.stateOf(file));
    if (!isWatched) this.poll(file);
  }

  private stateOf(file: string): string {
    return this.read.has(file) ? contentOf(file) : stateOf(statOf(file));
  }

  /** Watches a folder. Returns false if it doesn't exist, or if the system can't watch any more folders. */
  private watch(folder: string): boolean {
    if (this.folders.has(folder)) return true;
    try {
      const watcher = watch(folder, (_event, name) => this.look(folder, name));
      watcher.on('error', () => this.lose(folder));
      this.folders.set(folder, watcher);
      return true;
    } catch {
      return false;
    }
  }

  /** Polls the files of a folder that can no longer be watched. */
  private lose(folder: string): void {
    this.folders.get(folder)?.close();
    this.folders.delete(folder);
    for (const file of this.filesIn(folder)) this.poll(file);
  }

  private look(folder: string, name: string | null): void {
    if (name !== null && name !== basename(folder)) return this.compare(join(folder, name));
    // the folder itself was moved or removed, and another one may have taken its place
    this.lose(folder);
    this.watch(folder);
    for (const file of this.filesIn(folder)) this.compare(file);
  }

  private filesIn(folder: string): string[] {
    return [...this.files.keys()].filter((file) => dirname(file) === folder);
  }

  private compare(file: string): void {
    const known = this.files.get(file) ?? (dirname(file) === this.root && isSetting(basename(file)) ? '' : undefined);
    if (known === undefined) return;
    const state = this.stateOf(file);
    if (state === known) return;
    this.files.set(file, state);
    if (state === '') this.poll(file);
    this.note(file);
  }

  /** Polls a file. It may come back together with its folder, for example after `git checkout`. */
  private poll(file: string): void {
    if (this.polled.has(file)) return;
    this.polled.add(file);
    watchFile(file, { interval: LOOK_MS, persistent: false }, () => {
      this.watch(dirname(file));
      this.compare(file);
    });
  }

  private note(file: string): void {
    this.changed.add(file);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const files = [...this.changed];
      this.changed.clear();
      this.see(files);
    }, SETTLE_MS);
  }
}

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

function contentOf(file: string): string {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('base64');
  } catch {
    return '';
  }
}

const stateOf = (found: Stats | undefined): string =>
  found ? [found.ino, found.mtimeMs, found.ctimeMs, found.size].join(' ') : '';
