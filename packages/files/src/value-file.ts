import { createHash } from 'node:crypto';
import { open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What files take on a disk: whole blocks. */
const BLOCK_BYTES = 4096;

const HEAD = /^decorum 1 (\d{1,16})\n/;

/** The longest head of a file, in bytes. */
const MAX_HEAD_BYTES = 32;

/** A value in a file. */
export interface StoredValue {
  readonly value: string;
  readonly expiresAt: number;
}

/** The name of the file for a key. Case doesn't matter to some disks, so it has only digits and small letters. */
export const fileOf = (key: string): string => `${createHash('sha256').update(key).digest('hex')}.value`;

/** Where the next content of a file is written. */
export const draftOf = (file: string): string => file.replace(/value$/, 'new');

const isValue = (file: string): boolean => /^[\da-f]{64}\.value$/.test(file);
const isDraft = (file: string): boolean => /^[\da-f]{64}\.new$/.test(file);

/** Whether a file belongs to the store. */
export const isOwn = (file: string): boolean => isValue(file) || isDraft(file);

/** The content of the file for a value. */
export const encoded = ({ value, expiresAt }: StoredValue): string => `decorum 1 ${expiresAt}\n${value}`;

/** Bytes that a content takes on a disk. */
export const sizeOf = (length: number): number => Math.ceil(length / BLOCK_BYTES) * BLOCK_BYTES;

const missing = (error: unknown): undefined => {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  return undefined;
};

/**
 * Reads a value, also one that has expired; undefined if there is none.
 * @throws {Error} if the file has other content
 */
export async function readValue(path: string): Promise<(StoredValue & { readonly size: number }) | undefined> {
  const content = await readFile(path).catch(missing);
  if (content === undefined) return undefined;
  const text = content.toString('utf8');
  const head = headOf(text, path);
  return { value: text.slice(head.length), expiresAt: head.expiresAt, size: sizeOf(content.length) };
}

function headOf(text: string, path: string): { readonly expiresAt: number; readonly length: number } {
  const [head, expiresAt] = HEAD.exec(text) ?? [];
  if (head !== undefined) return { expiresAt: Number(expiresAt), length: head.length };
  throw new Error(`"${path}" is damaged, or from a newer version. Update @decorum/files, or remove the file.`);
}

/** When a value expires, without reading it; undefined if there is none, or it can't be read. */
export async function readExpiry(path: string): Promise<number | undefined> {
  const file = await open(path, 'r').catch(missing);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEAD_BYTES), 0, MAX_HEAD_BYTES, 0);
    return headOf(buffer.toString('latin1', 0, bytesRead), path).expiresAt;
  } catch {
    // those who want its value are told
    return undefined;
  } finally {
    await file.close();
  }
}

/** The files of values in a folder. */
export const listValues = async (folder: string): Promise<string[]> => (await readdir(folder)).filter(isValue);

/** Removes what processes have left that were killed while they wrote, and counts the bytes of all values. */
export async function countBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const file of await readdir(folder)) {
    const path = join(folder, file);
    if (isDraft(file)) await rm(path, { force: true });
    if (isValue(file)) bytes += sizeOf((await stat(path).catch(missing))?.size ?? 0);
  }
  return bytes;
}
