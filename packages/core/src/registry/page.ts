import { createHmac, timingSafeEqual } from 'node:crypto';
import type { JsonObject } from '@decorum/schema/internal';

import { McpError } from '../protocol/errors.js';
import type { Implementation } from '../protocol/model.js';
import type { CacheHint, Revision } from '../protocol/revisions/revision.js';
import type { Need } from '../protocol/scopes.js';
import type { Access } from '../protocol/wire.js';

/** A list entry in the neutral model, with its key and its access function. */
export interface Listed<T> {
  readonly key: string;
  readonly entry: T;
  /** Undefined if everybody may see and use the entry. */
  readonly access?: Access | undefined;
  /** A second condition, besides `access`, for seeing the entry in lists and subscribing to it. Undefined if none. */
  readonly shown?: Access | undefined;
  /** Undefined if the member declares neither `scopes` nor `public`. */
  readonly need?: Need | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Whether lists have the entry only for callers with the scopes to use it, whatever the server lists. */
  readonly onlyUsable?: boolean | undefined;
  /** Whether it finds or calls other tools. */
  readonly isFinder?: true;
}

/** A request for one page. */
export interface PageRequest {
  readonly revision: Revision;
  readonly cursor: unknown;
  /** Cursors are bound to the session or the principal that received them. */
  readonly scope: string;
  /** Whether the list depends on the caller. If so, shared caches must not store it. */
  readonly personal: boolean;
}

interface ListOptions<T> {
  /** Member of the result that holds the list. */
  readonly member: string;
  /** Encodes an entry for a revision. Undefined leaves it out. */
  encode(revision: Revision, entry: T): JsonObject | undefined;
  readonly server: Implementation;
  readonly pageSize: number;
  readonly cache: CacheHint;
  /** Keys for cursors: the first one seals, and any of them opens. */
  readonly cursorKeys: readonly Uint8Array[];
}

const SEAL_BYTES = 16;

/** Pages of a list. The JSON of each page is cached per revision, for as long as the list's array exists. */
export class ListPages<T> {
  private readonly written = new WeakMap<readonly Listed<T>[], Map<string, string>>();

  constructor(private readonly options: ListOptions<T>) {}

  /**
   * Returns one page, as the JSON of a result.
   * @param listed the list as the caller sees it; the same array until something changes
   * @throws {McpError} `invalid-cursor`
   */
  page(listed: readonly Listed<T>[], request: PageRequest): string {
    const { cursor, scope } = request;
    const start = cursor === undefined ? 0 : this.open(cursor, scope, listed);
    const end = start + this.options.pageSize;
    const json = this.write(listed, start, request);
    const last = end < listed.length ? listed[end - 1] : undefined;
    if (last === undefined) return json;
    const next = JSON.stringify(this.seal(end - 1, last.key, scope));
    return `{"nextCursor":${next},${json.slice(1)}`;
  }

  private write(listed: readonly Listed<T>[], start: number, { revision, personal }: PageRequest): string {
    const written = this.written.get(listed) ?? new Map<string, string>();
    this.written.set(listed, written);
    const id = `${revision.rank} ${start} ${personal}`;
    let json = written.get(id);
    if (json === undefined) {
      const { member, pageSize, server, cache } = this.options;
      const hint: CacheHint = personal ? { ...cache, scope: 'private' } : cache;
      const entries = listed
        .slice(start, start + pageSize)
        .flatMap(({ entry }) => this.options.encode(revision, entry) ?? []);
      json = JSON.stringify(revision.complete({ [member]: entries }, server, hint));
      written.set(id, json);
    }
    return json;
  }

  private seal(index: number, key: string, scope: string): string {
    const position = `${index} ${key}`;
    const [sealed] = this.sign(position, scope);
    return Buffer.concat([sealed as Buffer, Buffer.from(position)]).toString('base64url');
  }

  /** Signs a position with each key. */
  private sign(position: string, scope: string): readonly Buffer[] {
    const { cursorKeys, member } = this.options;
    const text = JSON.stringify([member, scope, position]);
    return cursorKeys.map((key) => createHmac('sha256', key).update(text).digest().subarray(0, SEAL_BYTES));
  }

  /** The start of the page after a cursor. Entries may have been added or removed since the cursor was issued. */
  private open(cursor: unknown, scope: string, listed: readonly Listed<T>[]): number {
    const bytes = Buffer.from(typeof cursor === 'string' ? cursor : '', 'base64url');
    const position = bytes.subarray(SEAL_BYTES).toString();
    const seal = bytes.subarray(0, SEAL_BYTES);
    // decoding skips invalid characters; without this check, altered cursors would be accepted
    const isExact = bytes.toString('base64url') === cursor && seal.length === SEAL_BYTES;
    if (!isExact || !this.sign(position, scope).some((known) => timingSafeEqual(seal, known))) {
      throw new McpError('invalid-cursor', 'The cursor is invalid. Use one that this server returned to this client.');
    }
    const space = position.indexOf(' ');
    const index = Number(position.slice(0, space));
    const key = position.slice(space + 1);
    if (listed[index]?.key === key) return index + 1;
    const moved = listed.findIndex((item) => item.key === key);
    return moved === -1 ? Math.min(index, listed.length) : moved + 1;
  }
}
