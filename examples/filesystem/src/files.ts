import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, type FileHandle, lstat, open, readFile, rename, rm, writeFile } from 'node:fs/promises';

import { ToolError } from '@decorum/core';

const CHUNK = 64 * 1024;

// Rejects a symlink that has replaced the file since its path was resolved, and doesn't wait for a pipe's writer.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export const readBytes = (path: string) => readFile(path, { flag: READ });

export const readText = (path: string) => readFile(path, { flag: READ, encoding: 'utf8' });

export async function readFirstLines(path: string, count: number): Promise<string> {
  return await withFile(path, async (file) => {
    const lines: string[] = [];
    for await (const line of file.readLines({ encoding: 'utf8' })) {
      lines.push(line);
      if (lines.length === count) break;
    }
    return lines.join('\n');
  });
}

/** Reads from the end, so that the last lines of a large log cost little. */
export async function readLastLines(path: string, count: number): Promise<string> {
  return await withFile(path, async (file) => {
    let { size: start } = await file.stat();
    let end = Buffer.alloc(0);
    // one more than requested, because the first piece may be part of a line
    while (start > 0 && linesOf(end).length <= count) {
      const length = Math.min(start, Math.max(CHUNK, end.length));
      start -= length;
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, start);
      end = Buffer.concat([buffer, end]);
    }
    return linesOf(end).slice(-count).join('\n');
  });
}

/**
 * Replaces a file atomically: readers see either the old text or the new one. If a symlink has replaced the file in the
 * meantime, the symlink is overwritten, not followed.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const old = await lstat(path).catch(() => undefined);
    // the temporary file is created next to `path`, so for an allowed directory it would be outside
    if (old?.isDirectory()) throw new ToolError(`${path} is a directory.`);
    const mode = old?.isFile() ? old.mode : 0o666;
    await writeFile(temporary, text, { flag: 'wx', mode });
    // the umask may have cleared some bits
    if (old?.isFile()) await chmod(temporary, mode);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, READ);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

const linesOf = (text: Buffer) =>
  text
    .toString()
    .replace(/\r?\n$/, '')
    .split(/\r?\n/);
