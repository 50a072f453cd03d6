import { open, readdir } from 'node:fs/promises';
import { basename, dirname, extname } from 'node:path';

import { BEGINNING, type ChainEnd, isBeginning, NO_BYTES, readLine } from './chain.js';

/** Digits of the number of a full file, so that the names sort as the files were written. */
const DIGITS = 6;

/** How many bytes of the end of a file are read first. */
const FIRST_BYTES = 2 ** 16;

const LINE_FEED = 0x0a;

/** The name that a file gets when it is full: `audit.000001.log` for `audit.log`. */
export function fullName(path: string, count: number): string {
  const extension = extname(path);
  return `${path.slice(0, path.length - extension.length)}.${String(count).padStart(DIGITS, '0')}${extension}`;
}

/** The numbers of the full files beside a file, lowest first. */
export async function fullNumbers(path: string): Promise<number[]> {
  const extension = extname(path);
  const before = `${basename(path, extension)}.`;
  const numbers = (await readdir(dirname(path))).map((name) => {
    if (!name.startsWith(before) || !name.endsWith(extension)) return 0;
    const digits = name.slice(before.length, name.length - extension.length);
    return name === basename(fullName(path, Number(digits))) ? Number(digits) : 0;
  });
  return numbers.filter((number) => number > 0).sort((one, other) => one - other);
}

/** The last line in some bytes, and what stands behind it; undefined if there is no whole line. */
function endIn(bytes: Buffer): ChainEnd | undefined {
  let to = bytes.lastIndexOf(LINE_FEED);
  // a process may die between a line and its line break
  const last = readLine(bytes.subarray(to + 1));
  if (last !== undefined) return { mac: last.mac, rest: NO_BYTES };
  while (to !== -1) {
    const from = to === 0 ? -1 : bytes.lastIndexOf(LINE_FEED, to - 1);
    const line = readLine(bytes.subarray(from + 1, to));
    if (line !== undefined) return { mac: line.mac, rest: bytes.subarray(to + 1) };
    to = from;
  }
  return undefined;
}

/** What one file ends with. Without a whole line, `rest` is all of it, and `mac` is undefined. */
async function endOfFile(path: string): Promise<{ readonly mac: string | undefined; readonly rest: Uint8Array }> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    for (let length = FIRST_BYTES; ; length *= 8) {
      const from = Math.max(0, size - length);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
      const bytes = buffer.subarray(0, bytesRead);
      const end = endIn(bytes);
      if (end !== undefined) return end;
      if (from === 0) return { mac: undefined, rest: bytes };
    }
  } finally {
    await file.close();
  }
}

/**
 * Where the chain of a log goes on.
 * @param path the file that is written; it may not exist
 * @throws {Error} if there is something else in it
 */
export async function chainEndOf(path: string): Promise<ChainEnd> {
  const last = (await fullNumbers(path)).at(-1);
  const files = [...(last === undefined ? [] : [fullName(path, last)]), path];
  let end = BEGINNING;
  for (const file of files) {
    const { mac, rest } = await endOfFile(file).catch(missing);
    if (mac === undefined && !isBeginning(rest)) throw new Error(`"${file}" is not an audit log`);
    end = mac === undefined ? { mac: end.mac, rest: Buffer.concat([end.rest, rest]) } : { mac, rest };
  }
  return end;
}

function missing(error: NodeJS.ErrnoException) {
  if (error.code === 'ENOENT') return { mac: undefined, rest: BEGINNING.rest };
  throw error;
}
