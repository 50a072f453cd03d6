import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

import type { Connection } from './connection.js';
import { ConnectionError } from './connection-error.js';
import type { RequestOptions } from './request.js';

/** Caps on a list, because a server may go on forever. */
const MAX_PAGES = 1000;
const MAX_ENTRIES = 100_000;
const MAX_CURSOR = 65_536;

/** A list of the server. */
export interface Listed {
  readonly method: string;
  /** The field of the result that has the entries. */
  readonly member: string;
  readonly options?: RequestOptions | undefined;
}

/**
 * Yields the pages of a list.
 * @throws {ConnectionError} `protocol` if a page is malformed or a cursor comes back; `too-large` if the list is endless
 */
export async function* pagesOf(
  connection: Connection,
  list: Listed,
): AsyncGenerator<readonly JsonObject[], void, void> {
  const { method, member, options } = list;
  const seen = new Set<unknown>();
  let entries = 0;
  let cursor: unknown;
  do {
    const page = await connection.request(method, cursor === undefined ? {} : { cursor }, options);
    const found = page[member];
    if (!Array.isArray(found) || !found.every(isObject)) {
      throw new ConnectionError('protocol', `The server answered "${method}" without a list of ${member}.`);
    }
    entries += found.length;
    yield found as JsonObject[];
    cursor = page['nextCursor'] ?? undefined;
    if (seen.has(cursor)) throw new ConnectionError('protocol', `The pages of "${method}" go round in circles.`);
    if (typeof cursor === 'string' && cursor.length > MAX_CURSOR) {
      throw new ConnectionError('too-large', `"${method}" has a cursor of more than ${MAX_CURSOR} characters.`);
    }
    seen.add(cursor);
    if (cursor !== undefined && (seen.size >= MAX_PAGES || entries > MAX_ENTRIES)) {
      const caps = `${MAX_PAGES} pages or ${MAX_ENTRIES} entries`;
      throw new ConnectionError('too-large', `"${method}" has more than ${caps}.`);
    }
  } while (cursor !== undefined);
}

/**
 * `_meta` of a request for all tools of a server that lists only some of them: a client that calls a tool for somebody else
 * has to know all.
 */
export const ALL_TOOLS: JsonObject = Object.freeze({ 'dev.decorum/tools': 'all' });

/** All entries of a list. */
export async function listAll(connection: Connection, list: Listed): Promise<readonly JsonObject[]> {
  const entries: JsonObject[] = [];
  for await (const page of pagesOf(connection, list)) for (const entry of page) entries.push(entry);
  return entries;
}
