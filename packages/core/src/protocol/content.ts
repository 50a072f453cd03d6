import type { JsonObject } from '@decorum/schema/internal';

import type {
  AudioContent,
  BlockOptions,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  PromptMessage,
  ResourceContents,
  ResourceLink,
  TextContent,
} from './model.js';

/** Checks only the beginning: that is enough to find paths and data URLs, and images may be several megabytes. */
const NOT_BASE64 = /^[^]{0,99}?[^A-Za-z0-9+/=\s]/;

/**
 * Encodes bytes as base64. A string must already be base64, and is returned as is.
 * @throws {TypeError} for a string that isn't base64, such as a path or data URL: clients would reject the result
 */
export function base64(data: Uint8Array | string): string {
  if (typeof data !== 'string') return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
  if (!NOT_BASE64.test(data)) return data;
  throw new TypeError(`"${data.slice(0, 20)}…" is not base64. Pass bytes, or base64 without a "data:" prefix.`);
}

/**
 * A block of text.
 * @example text('Sales doubled in May.', { annotations: { audience: ['user'] } })
 */
export function text(value: string, options?: BlockOptions): TextContent {
  return options === undefined ? { type: 'text', text: value } : { type: 'text', text: value, ...options };
}

/**
 * An image block.
 * @param data bytes, or base64 text
 * @param mimeType for example `image/png`
 * @example image(await readFile('sales.png'), 'image/png')
 */
export function image(data: Uint8Array | string, mimeType: string, options?: BlockOptions): ImageContent {
  return { type: 'image', data: base64(data), mimeType, ...options };
}

/**
 * An audio block. Revision 2024-11-05 has no audio; its clients get an embedded resource.
 * @param data bytes, or base64 text
 * @param mimeType for example `audio/wav`
 * @example audio(await readFile('hello.wav'), 'audio/wav')
 */
export function audio(data: Uint8Array | string, mimeType: string, options?: BlockOptions): AudioContent {
  return { type: 'audio', data: base64(data), mimeType, ...options };
}

/** Options of `embedded`: a URI, and text or bytes. */
export interface EmbeddedOptions extends BlockOptions {
  /** URI of the resource. */
  readonly uri: string;
  /** Type of the content. Defaults to `text/plain` for text and `application/octet-stream` for bytes. */
  readonly mimeType?: string;
  /** A string becomes `text`, bytes become `blob`. */
  readonly data: Uint8Array | string;
}

/**
 * A resource embedded in a message. A string becomes `text`, bytes become `blob`.
 * @example embedded({ uri: 'sales://2025.csv', data: 'month,sales', mimeType: 'text/csv' })
 */
export function embedded({ uri, mimeType, data, ...options }: EmbeddedOptions): EmbeddedResource {
  return { type: 'resource', resource: resourceContents(uri, data, mimeType), ...options };
}

/**
 * A link to a resource that the client may read.
 * @example link('sales://2024', { title: 'The year before' })
 */
export function link(
  uri: string,
  options: Omit<ResourceLink, 'type' | 'uri' | 'name'> & { name?: string } = {},
): ResourceLink {
  return { type: 'resource_link', uri, ...options, name: options.name ?? uri };
}

/**
 * The content of one resource, from text or bytes.
 * @example resourceContents('docs://readme', '# Decorum', 'text/markdown')
 */
export function resourceContents(uri: string, data: Uint8Array | string, mimeType?: string): ResourceContents {
  if (typeof data === 'string') return { uri, mimeType: mimeType ?? 'text/plain', text: data };
  return { uri, mimeType: mimeType ?? 'application/octet-stream', blob: base64(data) };
}

/**
 * A prompt message from the user.
 * @example user('Write a haiku about tea.')
 */
export function user(content: string | ContentBlock): PromptMessage {
  return { role: 'user', content: typeof content === 'string' ? text(content) : content };
}

/**
 * A prompt message from the assistant.
 * @example assistant('Here it is:')
 */
export function assistant(content: string | ContentBlock): PromptMessage {
  return { role: 'assistant', content: typeof content === 'string' ? text(content) : content };
}

/** Options of `toolResult`. */
export interface ToolResultOptions<T> {
  /** Content for the model. Defaults to the JSON of `structuredContent`. */
  readonly content?: string | ContentBlock | readonly ContentBlock[];
  /** The value for programs. */
  readonly structuredContent?: T;
  /** Whether the call has failed. Defaults to `false`. */
  readonly isError?: boolean;
  /** Metadata, sent with the result. */
  readonly _meta?: JsonObject;
}

/** A complete tool result, for handlers that set every part themselves. */
export class ToolResult<T = unknown> {
  constructor(readonly options: ToolResultOptions<T>) {}
}

/**
 * Creates a complete tool result: content, structured content, error flag and `_meta`.
 * @example toolResult({ content: 'The printer is out of paper.', isError: true })
 */
export function toolResult<T>(options: ToolResultOptions<T>): ToolResult<T> {
  return new ToolResult(options);
}

/** The URI of content that exists only as part of its message (RFC 2392). */
export const PART_OF_MESSAGE = 'cid:content@message';
