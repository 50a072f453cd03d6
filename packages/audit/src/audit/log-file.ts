import {
  closeSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

import { startupError } from '@decorum/core/plugin';
import { lockFile, tryLockFile, type Waiting } from '@decorum/files';

import type { ChainEnd } from './chain.js';
import { chainEndOf, fullName, fullNumbers } from './chain-end.js';
import type { Sink } from './sink.js';

const CALLER = 'audit';

/** Stands in a path for the lowest number that no other process uses. */
const PROCESS = '{process}';

/** More processes on one path are a mistake. */
const MAX_PROCESSES = 1000;

/** Milliseconds to wait for more lines. Each write has a price, whatever its length. */
const DELAY_MS = 10;

/** Milliseconds between two looks at whether the file is still there. */
const LOOK_MS = 1000;

/** The time, for waiting until a file is free. */
const CLOCK = { now: () => performance.now(), wait: (ms: number): Promise<void> => wait(ms) };

const invalid = (problem: string, cause?: unknown) =>
  Object.assign(startupError('DECORUM_INVALID_OPTION', CALLER, 'write', problem), { cause });

/** How a file is written. */
export interface LogFileOptions {
  readonly path: string;
  readonly maxBytes: number;
  readonly sync: boolean;
}

/** Appends lines to a file, which gets a number when it is full. Only one process can write it. */
export class LogFile implements Sink {
  readonly delayMs: number | undefined;
  readonly maxLines = Infinity;
  private path: string;
  private lock: FileHandle | undefined;
  private file = -1;
  /** Bytes of whole lines. */
  private size = 0;
  /** Whether there may be part of a line behind them. */
  private isTorn = false;
  private fullFiles = 0;
  private inode = 0;
  private lookedAt = 0;

  constructor(
    private readonly options: LogFileOptions,
    private readonly clock: Waiting['clock'] = CLOCK,
  ) {
    this.path = resolve(options.path);
    this.delayMs = options.sync ? undefined : DELAY_MS;
  }

  get name(): string {
    return `"${this.path}"`;
  }

  async open(): Promise<ChainEnd> {
    try {
      this.lock = await this.take();
      this.fullFiles = (await fullNumbers(this.path)).at(-1) ?? 0;
      const end = await chainEndOf(this.path);
      this.append();
      if (end.rest.length === 0) this.endLast();
      return end.rest.length === 0 ? end : { mac: end.mac, rest: this.endTorn(end.rest) };
    } catch (error) {
      await this.close();
      if ((error as { code?: unknown }).code === 'DECORUM_INVALID_OPTION') throw error;
      if ((error as { code?: unknown }).code === 'DECORUM_MISSING_LIBRARY') throw error;
      throw invalid(`can't be used: ${(error as Error).message}`, error);
    }
  }

  /** Writes at once: what is under way when the process exits could be lost. Lines are written together, so it is rare. */
  write(lines: readonly string[]): void {
    if (this.isTorn) this.repair();
    this.look();
    if (this.size >= this.options.maxBytes) this.turnOver();
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    this.isTorn = true;
    for (let at = 0; at < bytes.length;) at += writeSync(this.file, bytes, at);
    this.size += bytes.length;
    this.isTorn = false;
  }

  async close(): Promise<void> {
    if (this.file !== -1) {
      await promisify(fdatasync)(this.file).catch(() => undefined);
      closeSync(this.file);
      this.file = -1;
    }
    await this.lock?.close();
    this.lock = undefined;
  }

  private async take(): Promise<FileHandle> {
    if (this.path.includes(PROCESS)) return await this.takeNumbered(this.path);
    const taken = (used: string) =>
      invalid(
        `is "${this.path}", which ${used}. Each process needs a file of its own: put ${PROCESS} into the name, as in 'audit-${PROCESS}.log'`,
      );
    await this.makeFolder();
    return (await lockFile(
      { path: `${this.path}.lock`, caller: CALLER },
      { isCancelled, taken, clock: this.clock },
    )) as FileHandle;
  }

  private async makeFolder(): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
  }

  private async takeNumbered(pattern: string): Promise<FileHandle> {
    for (let number = 0; number < MAX_PROCESSES; number += 1) {
      this.path = pattern.replaceAll(PROCESS, String(number));
      await this.makeFolder();
      const lock = await tryLockFile({ path: `${this.path}.lock`, caller: CALLER });
      if (lock !== undefined) return lock;
    }
    throw invalid(`has ${MAX_PROCESSES} processes. Pass another path`);
  }

  private append(): void {
    this.file = openSync(this.path, 'a+', 0o600);
    ({ size: this.size, ino: this.inode } = fstatSync(this.file));
    this.lookedAt = this.clock.now();
    this.isTorn = false;
  }

  /** Begins a new file if something else has moved or removed the file: nobody would find what is written to it. */
  private look(): void {
    const now = this.clock.now();
    if (now - this.lookedAt < LOOK_MS) return;
    if (statSync(this.path, { throwIfNoEntry: false })?.ino === this.inode) this.lookedAt = now;
    else {
      // until the new file is open, the number of the old one must not become that of something else
      const moved = this.file;
      this.append();
      closeSync(moved);
    }
  }

  /** Ends the line of a process that died while it wrote it. The next line has a MAC over it. */
  private endTorn(rest: Uint8Array): Uint8Array {
    if (rest.at(-1) === 0x0a) return rest;
    writeSync(this.file, '\n');
    this.size += 1;
    return Buffer.concat([rest, Buffer.from('\n')]);
  }

  /** Ends the last line, if a process died before it wrote the line break. */
  private endLast(): void {
    const last = Buffer.alloc(1);
    if (this.size === 0 || readSync(this.file, last, 0, 1, this.size - 1) === 0 || last[0] === 0x0a) return;
    writeSync(this.file, '\n');
    this.size += 1;
  }

  /** Removes what a failed write has left. Something else may have made the file shorter. */
  private repair(): void {
    this.size = Math.min(this.size, fstatSync(this.file).size);
    ftruncateSync(this.file, this.size);
    this.isTorn = false;
  }

  /** Gives a full file its number, and begins the next one. */
  private turnOver(): void {
    const full = this.file;
    renameSync(this.path, fullName(this.path, this.fullFiles + 1));
    this.fullFiles += 1;
    this.append();
    // the disk may take its time
    fdatasync(full, () => closeSync(full));
  }
}

const isCancelled = () => false;
