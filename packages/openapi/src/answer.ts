import { STATUS_CODES } from 'node:http';

import { audio, type CallToolResult, type ContentBlock, embedded, image, type JsonObject, text } from '@decorum/core';
import { explain } from '@decorum/schema';

import { cleanText, isObject } from './json.js';
import type { Output } from './output-schema.js';
import type { ApiAnswer } from './send.js';

const TEXT_TYPE = /^text\/|[/+](?:json|xml|yaml|x-yaml|javascript|x-www-form-urlencoded|x-ndjson|graphql)$/;
const JSON_TYPE = /[/+]json$/;

const mediaTypeOf = (headers: Headers): string =>
  (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/** Decodes text as its content type says, or else as UTF-8. */
export function decoded({ bytes, headers }: ApiAnswer): string {
  const [, charset = 'utf-8'] = /charset="?([\w-]+)/i.exec(headers.get('content-type') ?? '') ?? [];
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

const statusText = (status: number): string =>
  [status, STATUS_CODES[status]].filter((part) => part !== undefined).join(' ');

/** The result for an answer that is no success. Its body is cut. */
function failure(answer: ApiAnswer, maxChars: number): CallToolResult {
  const type = mediaTypeOf(answer.headers);
  const isText = type === '' || TEXT_TYPE.test(type);
  const body = (isText && cleanText(decoded(answer))) || '';
  const cut = body.length > maxChars ? `${body.slice(0, maxChars)}…` : body;
  const message = `The API answered ${statusText(answer.status)}`;
  return { content: [text(cut === '' ? message : `${message}: ${cut}`)], isError: true };
}

/** The URI of bytes in a result. It leads nowhere. */
const BYTES = 'cid:answer@openapi';

function blockOf(answer: ApiAnswer): ContentBlock {
  const { bytes, headers, status } = answer;
  const type = mediaTypeOf(headers);
  if (bytes.byteLength === 0) return text(`The API answered ${statusText(status)}, without content`);
  if (type.startsWith('image/') && type !== 'image/svg+xml') return image(bytes, type);
  if (type.startsWith('audio/')) return audio(bytes, type);
  if (type === '' ? isUtf8(bytes) : TEXT_TYPE.test(type)) return text(decoded(answer));
  return embedded({ uri: BYTES, data: bytes, mimeType: type || 'application/octet-stream' });
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\0');
  } catch {
    return false;
  }
}

function parsed(answer: ApiAnswer): unknown {
  try {
    return JSON.parse(decoded(answer));
  } catch {
    return undefined;
  }
}

/** Clients refuse messages that are nested deeper, and the result itself takes some levels. */
const MAX_DEPTH = 56;

/** Why a value can't be structured content, although it is JSON. */
function flawOf(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'has a number that is too large';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
  for (const part of Object.values(value)) {
    const flaw = flawOf(part, depth + 1);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

const UNCHECKED = { path: '', expected: "can't be checked" };

/** The headers that a `HEAD` asks for. */
const SHOWN = ['content-type', 'content-length', 'etag', 'last-modified'];

function headResult({ status, headers }: ApiAnswer): CallToolResult {
  const lines = SHOWN.flatMap((name) => (headers.has(name) ? [`${name}: ${headers.get(name)}`] : []));
  return { content: [text([`The API answered ${statusText(status)}`, ...lines].join('\n'))] };
}

/** Integers with more digits are rounded when JSON is parsed. In a text, it is no harm to take them for numbers. */
const LONG_INTEGER = /(?<![\w.])\d{16,}(?![\w.])/;

/** Structured content as text. Long integers, such as ids of 64 bits, are written as the API wrote them. */
function exactJson(answer: ApiAnswer, structuredContent: JsonObject, isWrapped: boolean): string {
  const written = decoded(answer);
  if (!LONG_INTEGER.test(written)) return JSON.stringify(structuredContent);
  return isWrapped ? `{"result":${written}}` : written;
}

/** A success that the tool can't hand over as it promised. It must not look as if nothing had happened. */
function unexpected(answer: ApiAnswer, problem: string): CallToolResult {
  const message = `The request succeeded (${statusText(answer.status)}), so don't repeat it. But the answer ${problem}:`;
  return { content: [text(message), blockOf(answer)], isError: true };
}

/**
 * The tool's result for an answer. JSON is structured content if the tool has an output schema.
 * @param maxErrorChars cap on the body of an error
 */
export async function resultOf(
  answer: ApiAnswer,
  { schema, isWrapped }: Output,
  { method, maxErrorChars }: { readonly method: string; readonly maxErrorChars: number },
): Promise<CallToolResult> {
  if (answer.status < 200 || answer.status > 299) return failure(answer, maxErrorChars);
  if (method === 'HEAD') return headResult(answer);
  if (schema === undefined) return { content: [blockOf(answer)] };
  if (answer.bytes.byteLength === 0) return unexpected(answer, 'is empty');
  const value = parsed(answer);
  const flaw = flawOf(value);
  if (flaw !== undefined) return unexpected(answer, flaw);
  if (value === undefined) {
    const isJson = JSON_TYPE.test(mediaTypeOf(answer.headers));
    return unexpected(answer, isJson ? 'is not valid JSON' : 'is not the JSON that the API promises');
  }
  const structuredContent = isWrapped ? { result: value } : value;
  // a schema that leads to itself can't be checked
  const problems = await explain(schema, structuredContent).catch(() => [UNCHECKED]);
  if (isObject(structuredContent) && problems.length === 0) {
    return { content: [text(exactJson(answer, structuredContent, isWrapped))], structuredContent };
  }
  const first = problems.slice(0, 3).map(({ path, expected }) => `${path || 'the value'} ${expected}`);
  return unexpected(answer, `doesn't fit the schema that the API promises (${first.join('; ')})`);
}
