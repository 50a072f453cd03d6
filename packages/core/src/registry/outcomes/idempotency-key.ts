import { excerpt, type JsonObject } from '@decorum/schema/internal';

import { McpError } from '../../protocol/errors.js';
import type { TransportInfo } from '../../protocol/wire.js';

/** The key of `_meta` under which clients send an idempotency key. */
export const IDEMPOTENCY_KEY = 'dev.decorum/idempotency-key';

const HEADER = 'idempotency-key';

const problem = (text: string) => new McpError('invalid-params', text);

const FORM = 'Send a string of 1 to 255 visible ASCII characters.';

function requireKey(value: unknown, place: string): string {
  if (typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value)) return value;
  throw problem(`The idempotency key in ${place} is not valid. ${FORM}`);
}

/** A header holds a string as structured fields have it, in quotes (RFC 9651). Many clients leave the quotes out. */
function keyOfHeader(header: string | readonly string[]): string {
  const [value = '', ...more] = typeof header === 'string' ? [header] : header;
  if (more.some((other) => other !== value)) throw problem('The request has several Idempotency-Key headers.');
  const [, quoted] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(value) ?? [];
  const text = quoted === undefined ? value : quoted.replace(/\\(["\\])/g, '$1');
  if (quoted === undefined && value.startsWith('"')) return requireKey(undefined, 'the Idempotency-Key header');
  return requireKey(text, 'the Idempotency-Key header');
}

/**
 * The idempotency key of a call; undefined if it has none.
 * @throws {McpError} `invalid-params` for one that is not valid, and if `_meta` and the header differ
 */
export function idempotencyKeyOf(meta: JsonObject | undefined, { headers }: TransportInfo): string | undefined {
  const given = meta?.[IDEMPOTENCY_KEY];
  const inMeta = given === undefined ? undefined : requireKey(given, `_meta["${IDEMPOTENCY_KEY}"]`);
  const header = headers?.[HEADER];
  const inHeader = header === undefined ? undefined : keyOfHeader(header);
  if (inMeta !== undefined && inHeader !== undefined && inMeta !== inHeader) {
    const both = `"${excerpt(inMeta)}" and "${excerpt(inHeader)}"`;
    throw problem(`The idempotency keys in _meta and in the Idempotency-Key header differ: ${both}. Send one of them.`);
  }
  return inMeta ?? inHeader;
}
