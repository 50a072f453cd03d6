import { isUtf8 } from 'node:buffer';

import { type JsonObject, McpError } from '@decorum/core';
import { excerpt, isObject, type MirroredArgument, revisionOf, type Subject } from '@decorum/core/transport';

import type { Headers } from './http-context.js';
import { HttpError } from './http-error.js';

/** Which of the two kinds of answer a client takes. */
export type Accepted = 'both' | 'json' | 'stream' | 'neither';

/** The `Accept` header that the official clients send; everything is accepted by it. */
export const USUAL_ACCEPT = 'application/json, text/event-stream';

/** Reads an `Accept` header (RFC 9110, section 12.5.1). Without one, everything is accepted. */
export function acceptedBy(accept: string | undefined): Accepted {
  if (accept === USUAL_ACCEPT || accept === undefined) return 'both';
  let json = false;
  let stream = false;
  for (const range of accept.toLowerCase().split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim());
    if (parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) continue;
    if (type === '*/*' || type === 'application/*' || type === 'application/json') json = true;
    if (type === '*/*' || type === 'text/*' || type === 'text/event-stream') stream = true;
  }
  if (json) return stream ? 'both' : 'json';
  return stream ? 'stream' : 'neither';
}

const mismatch = (message: string) => new McpError('header-mismatch', message);

/**
 * Looks at the `MCP-Protocol-Version` of a session's request. A session stays in its revision, whichever is named.
 * @throws {HttpError} 400
 */
export function requireKnownVersion(version: string | undefined): void {
  if (version !== undefined && revisionOf(version) === undefined) {
    throw new HttpError(400, 'The MCP-Protocol-Version is not supported.');
  }
}

/** Says how `MCP-Protocol-Version` differs from the version that a message names. */
export function versionMismatch(declared: string | undefined, version: string): McpError {
  if (declared === undefined) return mismatch('The header MCP-Protocol-Version is missing.');
  return mismatch(`The header MCP-Protocol-Version is ${excerpt(declared)}, but the message says ${excerpt(version)}.`);
}

/**
 * Checks `Mcp-Method` and `Mcp-Name` against a message.
 * @param subject what names the target of the request; undefined where its method has none
 * @throws {McpError} `header-mismatch`
 */
export function checkRouting(headers: Headers, method: string, subject: Subject | undefined): void {
  if (headers['mcp-method'] !== method) throw mismatch('The header Mcp-Method is not the method of the message.');
  if (subject === undefined) return;
  const { param, value } = subject;
  const name = headers['mcp-name'];
  if (name === undefined || ((name !== value || !PLAIN.test(name)) && decodeHeader(name) !== value)) {
    throw mismatch(`The header Mcp-Name is not the "${param}" of the message.`);
  }
}

/**
 * Compares `Mcp-Param-*` with the arguments that they repeat. Other headers of that kind are for somebody else.
 * @throws {McpError} `header-mismatch`
 */
export function checkArguments(headers: Headers, mirrored: readonly MirroredArgument[], args: JsonObject): void {
  for (const { header, path, type } of mirrored) {
    const value = path.reduce<unknown>(
      (at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
      args,
    );
    const raw = headers[header];
    if ((value ?? undefined) === undefined && raw === undefined) continue;
    const text = typeof raw === 'string' ? decodeHeader(raw) : undefined;
    if (text === undefined || !says(text, value, type)) {
      throw mismatch(`The header ${header} does not repeat the argument "${path.join('.')}".`);
    }
  }
}

/** Integers are compared as numbers, everything else to the letter; what is of another type is repeated by nothing. */
function says(text: string, value: unknown, type: MirroredArgument['type']): boolean {
  if (type !== 'integer') return typeof value === type && text === String(value);
  return /^-?\d+(?:\.0+)?$/.test(text) && Number.isSafeInteger(value) && Number(text) === value;
}

const CHARACTERS = /^[\t\x20-\x7e]*$/;
/** What stands for itself: nothing encoded, no space around it. */
const PLAIN = /^[\x21-\x3c\x3e-\x7e][\x21-\x7e]*$/;
const PREFIX = '=?base64?';
const SUFFIX = '?=';

/**
 * The value behind a header: as it is, or decoded where it is `=?base64?…?=`. Undefined where it cannot be read:
 * characters that a header must not have, or anything but canonical base64 (RFC 4648, section 4) of UTF-8.
 */
export function decodeHeader(raw: string): string | undefined {
  if (!CHARACTERS.test(raw)) return undefined;
  const value = raw.trim();
  if (!value.startsWith(PREFIX) || !value.endsWith(SUFFIX) || value.length < PREFIX.length + SUFFIX.length)
    return value;
  const encoded = value.slice(PREFIX.length, -SUFFIX.length);
  const bytes = Buffer.from(encoded, 'base64');
  // Node skips what is not base64, so only the way back shows whether the text was exact
  return bytes.toString('base64') === encoded && isUtf8(bytes) ? bytes.toString() : undefined;
}
