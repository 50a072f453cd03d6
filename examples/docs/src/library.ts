import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';

import { type FSWatcher, watch } from 'chokidar';

import { type Page, parsePage } from './page.js';

/** A page was added (no `before`), changed, or deleted (no `after`). */
export interface Change {
  readonly path: string;
  readonly before: Page | undefined;
  readonly after: Page | undefined;
}

/** Receives the changes and errors of a folder. */
export interface Reader {
  changed(change: Change): void;
  failed(error: unknown): void;
}

/** Larger files are skipped. */
const MAX_BYTES = 4 * 1024 * 1024;

// No segment may start with a dot, which rules out "..". Characters with a meaning in URIs are excluded.
const PAGE = /^(?:[^./][^/%?#[\]\\]*\/)*[^./][^/%?#[\]\\]*\.md$/i;
const IGNORED = /(?:^|[/\\])(?:\.|node_modules(?:[/\\]|$))/;

/**
 * The Markdown files of a folder, in memory and up to date. Paths from clients are only looked up here. They never
 * reach the file system, so path traversal is impossible.
 */
export class Library {
  readonly #folder: string;
  readonly #pages = new Map<string, Page>();
  #watcher: FSWatcher | undefined;
  #work = Promise.resolve();

  constructor(folder: string) {
    this.#folder = resolve(folder);
  }

  /** All pages, sorted by path. */
  get pages(): readonly Page[] {
    return [...this.#pages.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  get paths(): readonly string[] {
    return this.pages.map(({ path }) => path);
  }

  page(path: string): Page | undefined {
    return this.#pages.get(path);
  }

  /** Reads all pages and watches the folder until `close`. */
  async open(reader: Reader): Promise<void> {
    const root = await realpath(this.#folder).catch(() => undefined);
    if (root === undefined || !(await stat(root)).isDirectory()) {
      throw new Error(`There is no folder ${this.#folder}. Name one that holds Markdown files.`);
    }
    const watcher = watch(root, {
      followSymlinks: false,
      ignored: (file, stats) =>
        IGNORED.test(relative(root, file)) || (stats?.isFile() === true && !/\.md$/i.test(file)),
      // editors write in steps, and a half-written page shouldn't be announced
      awaitWriteFinish: { stabilityThreshold: 50, pollInterval: 10 },
    });
    this.#watcher = watcher;
    watcher.on('all', (_event, file) => {
      const path = relative(root, file).split(sep).join('/');
      if (PAGE.test(path)) this.#work = this.#work.then(() => this.#refresh(root, path, reader));
    });
    watcher.on('error', (error) => reader.failed(error));
    await new Promise<void>((done) => void watcher.once('ready', done));
    await this.#work;
  }

  async close(): Promise<void> {
    await this.#watcher?.close();
    await this.#work;
  }

  /** Compares a page with its file. The watcher's event doesn't matter: the file shows what has changed. */
  async #refresh(root: string, path: string, reader: Reader): Promise<void> {
    try {
      const before = this.#pages.get(path);
      const after = await readPage(root, path);
      if (before?.text === after?.text) return;
      if (after) this.#pages.set(path, after);
      else this.#pages.delete(path);
      reader.changed({ path, before, after });
    } catch (error) {
      reader.failed(error);
    }
  }
}

/** Reads a page. Returns undefined if the page doesn't exist, or is a link to anything but a page of this folder. */
async function readPage(root: string, path: string): Promise<Page | undefined> {
  try {
    const file = await realpath(join(root, path));
    const target = relative(root, file).split(sep).join('/');
    if (!PAGE.test(target) || IGNORED.test(target)) return undefined;
    return await readFile(file, path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

async function readFile(file: string, path: string): Promise<Page | undefined> {
  // O_NOFOLLOW: the path may have become a link since it was resolved. O_NONBLOCK: a named pipe would block.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
    const text = await handle.readFile('utf8');
    return parsePage({ path, text, size: stats.size, modified: stats.mtime.toISOString() });
  } finally {
    await handle.close();
  }
}
