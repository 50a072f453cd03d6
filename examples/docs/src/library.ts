import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';

import { type FSWatcher, watch } from 'chokidar';

import { type Page, parsePage } from './page.js';

/** A page that came (no `before`), changed, or went (no `after`). */
export interface Change {
  readonly path: string;
  readonly before: Page | undefined;
  readonly after: Page | undefined;
}

/** Who hears of what happens in the folder. */
export interface Reader {
  changed(change: Change): void;
  failed(error: unknown): void;
}

/** Larger files are not documentation. */
const MAX_BYTES = 4 * 1024 * 1024;

// No part begins with a dot, which rules out "..", and no character means something else in a URI.
const PAGE = /^(?:[^./][^/%?#[\]\\]*\/)*[^./][^/%?#[\]\\]*\.md$/i;
const IGNORED = /(?:^|[/\\])(?:\.|node_modules(?:[/\\]|$))/;

/**
 * The Markdown files of a folder, kept in memory and kept up to date. A path that a client names is looked up among
 * them and never reaches the file system, so there is nothing to traverse.
 */
export class Library {
  readonly #folder: string;
  readonly #pages = new Map<string, Page>();
  #watcher: FSWatcher | undefined;
  #work = Promise.resolve();

  constructor(folder: string) {
    this.#folder = resolve(folder);
  }

  /** All pages, by path. */
  get pages(): readonly Page[] {
    return [...this.#pages.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  get paths(): readonly string[] {
    return this.pages.map(({ path }) => path);
  }

  page(path: string): Page | undefined {
    return this.#pages.get(path);
  }

  /** Reads every page, and follows the folder until `close`. */
  async open(reader: Reader): Promise<void> {
    const root = await realpath(this.#folder).catch(() => undefined);
    if (root === undefined || !(await stat(root)).isDirectory()) {
      throw new Error(`There is no folder ${this.#folder}. Name one that holds Markdown files.`);
    }
    const watcher = watch(root, {
      followSymlinks: false,
      ignored: (file, stats) =>
        IGNORED.test(relative(root, file)) || (stats?.isFile() === true && !/\.md$/i.test(file)),
      // an editor writes in steps; half a page is not worth announcing
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

  /** Compares with what is on the disk now; whether the watcher saw a file come, change or go does not matter. */
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

/** Reads a page; undefined when there is none, or when it is a link to what is not a page of this folder. */
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
  // Not through a link put there since it was resolved, and without waiting for the writer of a named pipe.
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
