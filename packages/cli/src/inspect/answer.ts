import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

/** Something that can be saved: an image, audio, or the bytes of a resource. */
export interface Media {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
  /** The URI of a resource. */
  readonly uri?: string | undefined;
}

/** What a verb found out. */
export interface Answer {
  /** For programs. */
  readonly json: unknown;
  /** For people. */
  readonly text: string;
  readonly media?: readonly Media[];
  /** Whether a tool has failed. */
  readonly isError?: boolean;
}

const kindOf = ({ mimeType, data }: Media) => `[${mimeType}, ${Buffer.from(data, 'base64').length} bytes]`;

/** The image, the audio or the bytes in a block of content. A server may send anything. */
function mediaIn({ type, data, mimeType, resource }: JsonObject): Media | undefined {
  if (typeof data === 'string') return { mimeType: String(mimeType ?? type), data };
  return isObject(resource) ? blobIn(resource) : undefined;
}

function blobIn({ uri, blob, mimeType = 'application/octet-stream' }: JsonObject): Media | undefined {
  return typeof blob === 'string' ? { mimeType: String(mimeType), data: blob, uri: String(uri) } : undefined;
}

function textOf(block: JsonObject): string {
  const media = mediaIn(block);
  if (media) return kindOf(media);
  const { text, uri, resource } = block;
  if (typeof text === 'string') return text;
  if (isObject(resource) && typeof resource['text'] === 'string') return resource['text'];
  return typeof uri === 'string'
    ? `${String(block['title'] ?? block['name'] ?? '')} ${uri}`.trim()
    : JSON.stringify(block);
}

const objectsIn = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const mediaOf = (blocks: readonly JsonObject[]) => blocks.flatMap((block) => mediaIn(block) ?? []);

/** Shows the result of a tool. */
export function toolAnswer(result: object): Answer {
  const { content, structuredContent, isError } = result as JsonObject;
  const blocks = objectsIn(content);
  const isBare = blocks.length === 0 && structuredContent !== undefined;
  const text = isBare ? JSON.stringify(structuredContent, null, 2) : blocks.map(textOf).join('\n');
  return { json: result, text, media: mediaOf(blocks), isError: isError === true };
}

/** Shows the contents of a resource. */
export function resourceAnswer(result: object): Answer {
  const contents = objectsIn((result as JsonObject)['contents']);
  const media = contents.flatMap((each) => blobIn(each) ?? []);
  const text = contents.map((each) => {
    const blob = blobIn(each);
    return blob ? kindOf(blob) : textOf(each);
  });
  return { json: result, text: text.join('\n'), media };
}

/** Shows the messages of a prompt. */
export function promptAnswer(result: object): Answer {
  const messages = objectsIn((result as JsonObject)['messages']);
  const blocks = messages.map(({ content }) => (isObject(content) ? content : {}));
  const text = messages.map(({ role }, at) => `${String(role)}: ${textOf(blocks[at] ?? {})}`);
  return { json: result, text: text.join('\n'), media: mediaOf(blocks) };
}
