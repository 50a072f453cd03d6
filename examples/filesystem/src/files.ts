import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, type FileHandle, lstat, open, rename, rm, writeFile } from 'node:fs/promises';

import { ToolError } from '@decorum/core';

const CHUNK = 64 * 1024;

/** Cap on the bytes that a call reads: more would fill the memory, and no model reads that much. */
export const MAX_BYTES = 16 * 1024 * 1024;

const tooLarge = (path: string, remedy: string) =>
  new ToolError(`${path}: a call reads at most ${MAX_BYTES} bytes. ${remedy}`);

// Rejects a symlink that has replaced the file since its path was resolved, and doesn't wait for a pipe's writer.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** @throws {ToolError} if the file is larger than `limit` */
export async function readBytes(path: string, limit = MAX_BYTES): Promise<Buffer> {
  return await withFile(path, async (file) => {
    if ((await file.stat()).size > limit)
      throw tooLarge(path, 'Read the first or last lines of a text file (head, tail).');
    return await file.readFile();
  });
}

/** @throws {ToolError} if the file is larger than `limit` */
export const readText = async (path: string, limit?: number) => (await readBytes(path, limit)).toString();

export async function readFirstLines(path: string, count: number): Promise<string> {
  return await withFile(path, async (file) => {
    let start = Buffer.alloc(0);
    let isEnd = false;
    // one more than requested, because the last piece may be part of a line
    while (!isEnd && linesOf(start).length <= count) {
      if (start.length > MAX_BYTES) throw tooLarge(path, 'Read fewer lines.');
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(CHUNK, start.length)));
      start = Buffer.concat([start, buffer.subarray(0, bytesRead)]);
      isEnd = bytesRead === 0;
    }
    return linesOf(start).slice(0, count).join('\n');
  });
}

/** Reads from the end, so that the last lines of a large log cost little. */
export async function readLastLines(path: string, count: number): Promise<string> {
  return await withFile(path, async (file) => {
    let { size: start } = await file.stat();
    let end = Buffer.alloc(0);
    // one more than requested, because the first piece may be part of a line
    while (start > 0 && linesOf(end).length <= count) {
      if (end.length > MAX_BYTES) throw tooLarge(path, 'Read fewer lines.');
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
