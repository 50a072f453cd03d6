import { isUtf8 } from 'node:buffer';

import { type JsonObject, McpError } from '@decorum/core';
import { excerpt, isObject, revisionOf } from '@decorum/core/internal';
import type { MirroredArgument, Subject } from '@decorum/core/transport';

import type { Headers, HttpRequest } from './http-context.js';
import { HttpError } from './http-error.js';

const JSON_MEDIA_TYPE = /^\s*application\/json\s*(?:;|$)/i;

/** Whether the headers of a request announce a body. */
export function announcesBody(headers: Headers): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return length !== '0' || encoding !== undefined;
}

/**
 * Whether there is a body to read. It must be JSON, because a page of another origin can send other types without a
 * preflight.
 * @param hasBody whether the host expects a body
 * @throws {HttpError} 415
 */
export function expectsBody({ method, headers }: HttpRequest, hasBody: boolean): boolean {
  if (method === 'GET') return false;
  const { 'content-type': type = '' } = headers;
  if (type === '' && !hasBody) return false;
  if (!JSON_MEDIA_TYPE.test(type)) throw new HttpError(415, 'The Content-Type must be application/json.');
  return true;
}

/** The kinds of response that a client accepts; undefined for both. */
export type Accepted = 'json' | 'stream' | 'neither' | undefined;

/** The `Accept` header that the official clients send. It needs no parsing. */
export const USUAL_ACCEPT = 'application/json, text/event-stream';

/** Parses an `Accept` header (RFC 9110, section 12.5.1). Without one, the client accepts everything. */
export function acceptedBy(accept: string | undefined): Accepted {
  if (accept === undefined) return undefined;
  let json = false;
  let stream = false;
  for (const range of accept.toLowerCase().split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim());
    if (parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) continue;
    if (type === '*/*' || type === 'application/*' || type === 'application/json') json = true;
    if (type === '*/*' || type === 'text/*' || type === 'text/event-stream') stream = true;
  }
  if (json) return stream ? undefined : 'json';
  return stream ? 'stream' : 'neither';
}

const mismatch = (message: string) => new McpError('header-mismatch', message);

/**
 * Checks the `MCP-Protocol-Version` of a request in a session. Any known version passes, because a session never
 * changes its revision.
 * @throws {HttpError} 400
 */
export function requireKnownVersion(version: string | undefined): void {
  if (version !== undefined && revisionOf(version) === undefined) {
    throw new HttpError(400, 'The MCP-Protocol-Version is not supported.');
  }
}

/** The error for an `MCP-Protocol-Version` that differs from the version in the message. */
export function versionMismatch(declared: string | undefined, version: string): McpError {
  if (declared === undefined) return mismatch('The MCP-Protocol-Version header is missing.');
  const difference = `is ${excerpt(declared)}, but the message has ${excerpt(version)}`;
  return mismatch(`The MCP-Protocol-Version header ${difference}.`);
}

/**
 * Checks `Mcp-Method` and `Mcp-Name` against a message.
 * @param subject the parameter that names the target of the request; undefined if the method has none
 * @throws {McpError} `header-mismatch`
 */
export function checkRouting(headers: Headers, method: string, subject: Subject | undefined): void {
  if (headers['mcp-method'] !== method) throw mismatch('The Mcp-Method header does not match the message.');
  if (subject === undefined) return;
  const { param, value } = subject;
  const name = headers['mcp-name'];
  if (name === undefined || ((name !== value || UNUSUAL.test(name)) && decodeHeader(name) !== value)) {
    throw mismatch(`The Mcp-Name header does not match the "${param}" of the message.`);
  }
}

/**
 * Checks mirrored headers (`Mcp-Param-*`) against the arguments. Headers that mirror no argument are ignored.
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
    if (!matches(text, value, type)) {
      throw mismatch(`The ${header} header does not match the argument "${path.join('.')}".`);
    }
  }
}

/** Compares integers as numbers and everything else as text. A value of the wrong type matches nothing. */
function matches(text: string | undefined, value: unknown, type: MirroredArgument['type']): boolean {
  if (type !== 'integer') return typeof value === type && text === String(value);
  return /^-?\d+(?:\.0+)?$/.test(String(text)) && Number.isSafeInteger(value) && Number(text) === value;
}

const CHARACTERS = /^[\t\x20-\x7e]*$/;
/** A character that is invalid, or that shows that a value may need decoding or trimming. */
const UNUSUAL = /[^\x21-\x3c\x3e-\x7e]/;
const PREFIX = '=?base64?';
const SUFFIX = '?=';

/**
 * Decodes the value of a header, which may have the form `=?base64?…?=`. Returns undefined for characters that are
 * invalid in a header, and for anything but canonical base64 (RFC 4648, section 4) of UTF-8.
 */
export function decodeHeader(raw: string): string | undefined {
  if (!CHARACTERS.test(raw)) return undefined;
  const value = raw.trim();
  if (!value.startsWith(PREFIX) || !value.endsWith(SUFFIX) || value.length < PREFIX.length + SUFFIX.length)
    return value;
  const encoded = value.slice(PREFIX.length, -SUFFIX.length);
  const bytes = Buffer.from(encoded, 'base64');
  // Node silently skips invalid base64, so only a round trip proves that the input was canonical
  return bytes.toString('base64') === encoded && isUtf8(bytes) ? bytes.toString() : undefined;
}
