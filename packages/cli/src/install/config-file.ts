/** Reads and writes the configuration of a client, which may write it at the same time. */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';
import { locked } from './file-lock.js';

/** A configuration as it was read. */
export interface ConfigFile {
  /** Absolute path, without symbolic links. */
  readonly path: string;
  /** Undefined if there is no file. */
  readonly bytes: Buffer | undefined;
  /** The text without byte order mark; empty if there is no file. */
  readonly text: string;
  readonly hasMark: boolean;
}

/** Larger files aren't configurations. */
const MAX_BYTES = 64 * 1024 * 1024;

const MARK = '\uFEFF';

const unusable = (path: string, problem: string, cause?: unknown) =>
  new CommandFailure(`${path} ${problem} Nothing was changed.`, EXIT.environment, cause);

/** The file that a path leads to, also if it doesn't exist yet. */
function realPath(path: string, depth = 0): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const link = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    if (link && depth < 40) return realPath(resolve(dirname(path), readlinkSync(path)), depth + 1);
    if (link) throw error;
    return dirname(path) === path ? path : join(realPath(dirname(path), depth), basename(path));
  }
}

function statOf(path: string): Stats | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) throw unusable(path, 'is a folder. Pass the path of a file to --config.');
  if (stats !== undefined && !stats.isFile()) throw unusable(path, 'is not a file. Pass the path of one to --config.');
  if (stats !== undefined && stats.size > MAX_BYTES) throw unusable(path, 'has over 64 MB.');
  return stats;
}

function decoded(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new CommandFailure(`${path} is not text in UTF-8. Save it as UTF-8 first.`, EXIT.failed, error);
  }
}

/** Reads a file; undefined if there is none. */
function bytesOf(path: string): Buffer | undefined {
  return statOf(path) === undefined ? undefined : readFileSync(path);
}

/**
 * Reads a configuration.
 * @param given path from the user or of the client
 * @throws {CommandFailure} if it isn't a file in UTF-8 that can be read
 */
export function readConfig(given: string): ConfigFile {
  try {
    const path = realPath(resolve(given));
    const bytes = bytesOf(path);
    const text = bytes === undefined ? '' : decoded(path, bytes);
    const hasMark = text.startsWith(MARK);
    return { path, bytes, text: hasMark ? text.slice(1) : text, hasMark };
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw unusable(given, `can't be read: ${(error as Error).message}.`, error);
  }
}

/** The copy beside a configuration, from before `decorum install` changed it. */
export const backupOf = ({ path }: ConfigFile): string => `${path}.decorum-backup`;

/** The backup of a file that did not exist. */
const ABSENT = 'There was no file before `decorum install`.\n';

/** A file from before it was changed. */
export interface Backup {
  /** Without byte order mark; empty if there was no file. */
  readonly text: string;
  readonly existed: boolean;
}

/** The backup of a file; undefined if there is none, or if it is another kind of text than the file. */
export function readBackup(file: ConfigFile): Backup | undefined {
  try {
    const text = decoded(backupOf(file), readFileSync(backupOf(file)));
    if (text === ABSENT) return { text: '', existed: false };
    return text.startsWith(MARK) === file.hasMark
      ? { text: text.slice(file.hasMark ? 1 : 0), existed: true }
      : undefined;
  } catch {
    return undefined;
  }
}

interface WriteOptions {
  /** Permissions. */
  readonly mode: number;
  /** The file that is replaced. */
  readonly old?: Stats | undefined;
  /** Called before the file is replaced, and may throw. */
  readonly check?: () => void;
}

/** Writes a file so that others see either the old one or the new one, also if this process is killed. */
function writeAtomically(path: string, content: Buffer | string, { mode, old, check }: WriteOptions): void {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  const descriptor = openSync(temporary, 'wx', mode);
  try {
    try {
      writeFileSync(descriptor, content);
      if (old !== undefined) keepOwner(descriptor, old);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    check?.();
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** Gives a new file the owner and the permissions of an old one. */
function keepOwner(descriptor: number, { uid, gid, mode }: Stats): void {
  try {
    // only root may do this, and only root has to
    if (process.getuid?.() === 0) fchownSync(descriptor, uid, gid);
  } catch {
    // some file systems have no owners
  }
  // the mode of `openSync` is limited by the umask
  fchmodSync(descriptor, mode & 0o7777);
}

/** Makes sure that a new name in a folder survives a power cut. */
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Windows can't do this
  }
}

/** Another program has written a configuration since it was read. */
class Changed extends CommandFailure {
  constructor(path: string) {
    super(`${path} has changed meanwhile. Nothing was written. Run the command again.`);
  }
}

/** Enough for some dozens of commands at once, of which one succeeds each time. */
const MAX_ATTEMPTS = 100;

/** Reads, changes and writes a configuration, again if another program has written it meanwhile. */
export function again<T>(change: () => T): T {
  for (let attempt = 1; ; attempt++) {
    try {
      return change();
    } catch (error) {
      if (!(error instanceof Changed) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** @throws {CommandFailure} if another program has written the file since it was read */
function requireUnchanged({ path, bytes }: ConfigFile): void {
  const now = bytesOf(path);
  const isSame = bytes === undefined ? now === undefined : now?.equals(bytes);
  if (isSame) return;
  throw new Changed(path);
}

function requireWritable(path: string, stats: Stats): void {
  accessSync(path, constants.W_OK);
  // root may write it nevertheless
  if ((stats.mode & 0o222) === 0) throw unusable(path, 'is read-only.');
}

/** How to write a configuration. */
export interface ConfigWrite {
  /** Whether only the user may read it, if it is a new file. */
  readonly isPrivate: boolean;
  /** What to do with the backup: write the text from before, leave it, or remove it. */
  readonly backup: 'write' | 'keep' | 'remove';
}

/**
 * Writes a configuration.
 * @param text its new text; undefined to remove the file
 * @throws {CommandFailure} if another program has written it meanwhile, or if it can't be written
 */
export function writeConfig(file: ConfigFile, text: string | undefined, { isPrivate, backup }: ConfigWrite): void {
  const { path, bytes, hasMark } = file;
  const check = () => requireUnchanged(file);
  try {
    const old = statOf(path);
    if (old !== undefined) requireWritable(path, old);
    check();
    mkdirSync(dirname(path), { recursive: true });
    locked(path, () => {
      check();
      if (backup === 'write') writeAtomically(backupOf(file), bytes ?? ABSENT, { mode: 0o600 });
      if (text === undefined) rmSync(path);
      else writeAtomically(path, (hasMark ? MARK : '') + text, { mode: isPrivate ? 0o600 : 0o666, old, check });
      if (backup === 'remove') rmSync(backupOf(file), { force: true });
    });
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw unusable(path, `can't be written: ${(error as Error).message}.`, error);
  }
}
