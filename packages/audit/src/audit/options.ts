import type { JsonObject } from '@decorum/core';
import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';

import { isMac } from './chain.js';
import { requireSecrets } from './keys.js';

/** A member that was called. */
export interface AuditedMember {
  readonly kind: 'tool' | 'prompt' | 'resource';
  /** The registered name, URI or template; null if the server has no such member. */
  readonly name: string | null;
}

/** Options of `audit`. */
export interface AuditOptions {
  /**
   * Path of the file, or a function that gets each line, without a line break. `{process}` in a path stands for the lowest
   * number that no other process uses. The function gets one line at a time: if it returns a promise, the next line
   * waits for it.
   */
  readonly write: string | ((line: string) => void | Promise<void>);
  /**
   * Returns the parts of the arguments to write in clear, beside their digest. By default, nothing is. It gets a copy of
   * the arguments as sent, before they are checked. For resources, `{ uri }`.
   */
  readonly redact?: (args: JsonObject, member: AuditedMember) => JsonObject | undefined;
  /** Bytes after which the next lines go to a new file. By default, there is one file. */
  readonly maxBytes?: number;
  /** Whether to write each line before its answer is sent. By default, lines are written together, within milliseconds. */
  readonly sync?: boolean;
  /** Whether to refuse calls while lines can't be written. By default, calls go on. */
  readonly failClosed?: boolean;
  /**
   * The secret of the chain and of the digests, with at least 32 characters. Of several, the first one signs. By default,
   * the secrets in `DECORUM_SECRET`.
   */
  readonly key?: string | readonly string[];
  /** With a function: the MAC of the last line that it has got, to continue the chain. By default, a new chain begins. */
  readonly after?: string;
}

const OPTIONS: OptionTypes<AuditOptions> = {
  write: true,
  redact: 'function',
  maxBytes: 'number',
  sync: 'boolean',
  failClosed: 'boolean',
  key: true,
  after: 'string',
};

/** Fewer would make a file of every few lines. */
const MIN_BYTES = 10_000;

const wrong = (option: string, problem: string) => startupError('DECORUM_INVALID_OPTION', 'audit', option, problem);

/**
 * Rejects options that can't be used.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireAuditOptions(options: AuditOptions): void {
  requireOptions('audit', options, OPTIONS);
  const { write, maxBytes, after, key } = options;
  const isFile = typeof write === 'string';
  if (write === undefined || write === '' || (!isFile && typeof write !== 'function'))
    throw wrong('write', "must be the path of a file, such as 'audit.log', or a function that gets each line");
  if (isFile && after !== undefined) throw wrong('after', 'is for functions. A file continues its chain without it');
  if (!isFile && maxBytes !== undefined)
    throw wrong('maxBytes', 'is for files. Pass a path as `write`, or leave it out');
  if (maxBytes !== undefined && !(Number.isSafeInteger(maxBytes) && maxBytes >= MIN_BYTES))
    throw wrong('maxBytes', `must be an integer of at least ${MIN_BYTES}`);
  if (after !== undefined && !isMac(after))
    throw wrong('after', 'must be the `mac` of a line, which has 43 characters');
  requireSecrets(key);
}
