import { bytesOf, isObject, type JsonObject, NotJson, toJsonText } from '@decorum/schema/internal';

import { audio, base64, embedded, image, PART_OF_MESSAGE, text } from '../protocol/content.js';
import type { ContentBlock, ResourceContents } from '../protocol/model.js';

const isText = (value: unknown): value is string => typeof value === 'string';
const hasData = ({ data, mimeType }: JsonObject) => isText(data) && isText(mimeType);

const BLOCKS: ReadonlyMap<unknown, (block: JsonObject) => boolean> = new Map([
  ['text', (block: JsonObject) => isText(block['text'])],
  ['image', hasData],
  ['audio', hasData],
  ['resource', ({ resource }: JsonObject) => isContents(resource)],
  ['resource_link', ({ uri, name }: JsonObject) => isText(uri) && isText(name)],
]);

/** Whether a value is a content block, rather than data that resembles one. */
export function isContentBlock(value: unknown): value is ContentBlock {
  return isObject(value) && BLOCKS.get(value['type'])?.(value) === true;
}

/** The required members of each block, for error messages. */
const NEEDS: ReadonlyMap<unknown, string> = new Map([
  ['text', '`text`, a string. Write text(value)'],
  ['image', '`data` as base64, and `mimeType`. Write image(bytes, mimeType)'],
  ['audio', '`data` as base64, and `mimeType`. Write audio(bytes, mimeType)'],
  ['resource', 'a `resource` with `uri`, and `text` or a base64 `blob`. Write embedded({ uri, data })'],
  ['resource_link', '`uri` and `name`. Write link(uri, { name })'],
]);

/** Whether a value is a content block, or would be one if its bytes were base64. */
export function isMeantAsBlock(value: unknown): boolean {
  if (!isObject(value) || !BLOCKS.has(value['type'])) return false;
  const { data, resource } = value;
  const blob = isObject(resource) ? resource['blob'] : undefined;
  return isContentBlock(value) || bytesOf(data) !== undefined || bytesOf(blob) !== undefined;
}

/**
 * Converts one item of a content list to content blocks.
 * @throws {NotJson} if the item cannot be sent, or is a block that lacks a required member
 */
export function toPart(value: unknown): readonly ContentBlock[] {
  const { type } = isObject(value) && !isContentBlock(value) ? value : {};
  const needs = NEEDS.get(type);
  if (needs === undefined) return toContent(value);
  throw new NotJson(`must not contain a block of the type "${String(type)}" without ${needs}.`);
}

/** Whether a value is the contents of a resource. */
export function isContents(value: unknown): value is ResourceContents {
  if (!isObject(value) || !['string', 'undefined'].includes(typeof value['mimeType'])) return false;
  return isText(value['uri']) && (isText(value['text']) || isText(value['blob']));
}

/** A value as resource contents, with bytes encoded as base64; undefined if it isn't resource contents. */
export function contentsOf(value: unknown): ResourceContents | undefined {
  const bytes = isObject(value) ? bytesOf(value['blob']) : undefined;
  const contents = bytes === undefined ? value : { ...(value as JsonObject), blob: base64(bytes) };
  return isContents(contents) ? contents : undefined;
}

/**
 * Converts any value that is available synchronously to content blocks.
 * @throws {NotJson}
 */
export function toContent(value: unknown): readonly ContentBlock[] {
  if (value === undefined) return [];
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'number') return [text(String(value))];
  if (isContentBlock(value)) return [value];
  if (Array.isArray(value) && value.some((item) => isMeantAsBlock(item) || bytesOf(item) !== undefined)) {
    return value.flatMap((item: unknown) => toPart(item));
  }
  if (isMeantAsBlock(value)) return toPart(value);
  const bytes = bytesOf(value);
  if (bytes !== undefined) return [bytesBlock(bytes)];
  const json = toJsonText(value);
  return [text(textOfJson(json) ?? json)];
}

/** The text of a JSON string, such as a serialized date; undefined for any other JSON. */
export function textOfJson(json: string): string | undefined {
  return json.startsWith('"') ? (JSON.parse(json) as string) : undefined;
}

// signatures (first bytes) of formats that clients can show or play
const SIGNATURES: readonly (readonly [mimeType: string, bytes: string, offset: number])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n', 0],
  ['image/jpeg', '\xff\xd8\xff', 0],
  ['image/gif', 'GIF8', 0],
  ['image/webp', 'WEBP', 8],
  ['audio/wav', 'WAVE', 8],
  ['audio/mpeg', 'ID3', 0],
  ['audio/ogg', 'OggS', 0],
  ['audio/flac', 'fLaC', 0],
];

/**
 * Creates the most suitable block for bytes.
 * @param known MIME type of the bytes. By default, it is detected from the first bytes
 */
export function bytesBlock(bytes: Uint8Array, known?: string): ContentBlock {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString('latin1');
  const mimeType = known ?? SIGNATURES.find(([, signature, offset]) => head.startsWith(signature, offset))?.[0];
  if (mimeType?.startsWith('image/')) return image(bytes, mimeType);
  if (mimeType?.startsWith('audio/')) return audio(bytes, mimeType);
  return embedded({ uri: PART_OF_MESSAGE, data: bytes, ...(mimeType !== undefined && { mimeType }) });
}
