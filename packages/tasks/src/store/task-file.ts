import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

import type { StoredTask } from './task-store.js';

/** The format, for later versions. */
const FORMAT = 1;

const SUFFIX = '.task';
const NAME = /^[0-9a-f]{64}\.task$/;
const DRAFT = /^[0-9a-f]{64}\.task\.new$/;
const SET_ASIDE = /^[0-9a-f]{64}\.task\.unreadable$/;

/** The file of a task. Hexadecimal, because some file systems ignore case. */
export const fileOf = (id: string): string => `${createHash('sha256').update(id).digest('hex')}${SUFFIX}`;

/** Where a file is written before it gets its name. */
export const draftOf = (file: string): string => `${file}.new`;

/** What a file is renamed to that can't be read. */
export const asideOf = (file: string): string => `${file}.unreadable`;

/** Whether the file is that of a task. */
export const isTaskFile = (file: string): boolean => NAME.test(file);

/** Whether the file was being written when a process died. */
export const isDraft = (file: string): boolean => DRAFT.test(file);

/** Whether the store writes files of this name. */
export const isOwn = (file: string): boolean => NAME.test(file) || DRAFT.test(file) || SET_ASIDE.test(file);

/** Thrown for a file that a newer version has written. */
export class NewerFormat extends Error {
  constructor(file: string) {
    super(`${file} was written by a newer version of @decorum/tasks. Install that version`);
  }
}

/** The content of a file: a line with a checksum of the rest, a line of facts, and the text. */
export function encoded({ text, ...facts }: StoredTask): Buffer {
  const body = Buffer.from(`${JSON.stringify(facts)}\n${text}`);
  return Buffer.concat([Buffer.from(`${JSON.stringify({ format: FORMAT, crc32: crc32(body) })}\n`), body]);
}

/**
 * The task in a file.
 * @throws {Error} if it was altered or cut off
 */
export function decoded(content: Buffer, file: string): StoredTask {
  const end = content.indexOf('\n');
  const { format, crc32: sum } = JSON.parse(content.toString('utf8', 0, Math.max(0, end))) as Record<string, unknown>;
  if (typeof format === 'number' && format > FORMAT) throw new NewerFormat(file);
  const body = content.subarray(end + 1);
  if (format !== FORMAT || sum !== crc32(body)) throw new Error('It was altered or cut off.');
  const start = body.indexOf('\n') + 1;
  const facts = JSON.parse(body.toString('utf8', 0, start)) as Omit<StoredTask, 'text'>;
  if (fileOf(facts.id) !== file) throw new Error('It has the name of another task.');
  // JSON has no undefined
  const { expiresAt, holder } = facts;
  return { ...facts, expiresAt, holder, text: body.toString('utf8', start) };
}
