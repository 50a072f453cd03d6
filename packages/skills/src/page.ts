import { McpError } from '@decorum/core';

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | undefined;
}

/** A list that is sent in pages. */
export interface Paged<T> {
  /** Entries with unique keys, sorted by them. */
  readonly items: readonly T[];
  keyOf(item: T): string;
  /** Names the list: a cursor of one list is invalid in another. */
  readonly list: string;
  readonly size: number;
}

const written = (list: string, key: string): string => Buffer.from(JSON.stringify([list, key])).toString('base64url');

/**
 * A page of a list. The cursor is the last key of the page before, so entries may come and go in between.
 * @throws {McpError} `invalid-cursor`
 */
export function pageOf<T>({ items, keyOf, list, size }: Paged<T>, cursor: unknown): Page<T> {
  const after = cursor === undefined ? undefined : keyIn(cursor, list);
  const first = after === undefined ? 0 : items.findIndex((item) => keyOf(item) > after);
  const start = first === -1 ? items.length : first;
  const page = items.slice(start, start + size);
  const last = page.at(-1);
  const hasMore = last !== undefined && start + size < items.length;
  return { items: page, nextCursor: hasMore ? written(list, keyOf(last)) : undefined };
}

function keyIn(cursor: unknown, list: string): string {
  try {
    const [own, key] = JSON.parse(Buffer.from(String(cursor), 'base64url').toString()) as [unknown, unknown];
    if (typeof key === 'string' && own === list && written(list, key) === cursor) return key;
  } catch {
    // not one of ours
  }
  throw new McpError('invalid-cursor', 'The cursor is invalid. Use one that this server returned for this list.');
}
