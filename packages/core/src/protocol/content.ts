import type {
  AudioContent,
  BlockOptions,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  JsonObject,
  PromptMessage,
  ResourceContents,
  ResourceLink,
  TextContent,
} from './model.js';

/** Checks only the beginning: that finds paths and data URLs, and an image may have megabytes. */
const NOT_BASE64 = /^[^]{0,99}?[^A-Za-z0-9+/=\s]/;

/**
 * Bytes as base64; text is taken to be base64 already.
 * @throws {TypeError} for text that isn't, such as a path or a data URL: clients would refuse the whole result
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
 * An image.
 * @param data bytes, or base64
 * @param mimeType for example `image/png`
 * @example image(await readFile('sales.png'), 'image/png')
 */
export function image(data: Uint8Array | string, mimeType: string, options?: BlockOptions): ImageContent {
  return { type: 'image', data: base64(data), mimeType, ...options };
}

/**
 * A sound. Clients of 2024-11-05 have no audio; they get it as an embedded resource.
 * @param data bytes, or base64
 * @param mimeType for example `audio/wav`
 * @example audio(await readFile('hello.wav'), 'audio/wav')
 */
export function audio(data: Uint8Array | string, mimeType: string, options?: BlockOptions): AudioContent {
  return { type: 'audio', data: base64(data), mimeType, ...options };
}

/** What `embedded` takes: a URI, and text or bytes. */
export interface EmbeddedOptions extends BlockOptions {
  readonly uri: string;
  /** By default `text/plain` or `application/octet-stream`. */
  readonly mimeType?: string;
  readonly data: Uint8Array | string;
}

/**
 * A resource carried inside the message. A string becomes `text`, bytes become `blob`.
 * @example embedded({ uri: 'sales://2025.csv', data: 'month,sales', mimeType: 'text/csv' })
 */
export function embedded({ uri, mimeType, data, ...options }: EmbeddedOptions): EmbeddedResource {
  return { type: 'resource', resource: resourceContents(uri, data, mimeType), ...options };
}

/**
 * A pointer to a resource that the client may read.
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
 * A message of a prompt, said by the user.
 * @example user('Write a haiku about tea.')
 */
export function user(content: string | ContentBlock): PromptMessage {
  return { role: 'user', content: typeof content === 'string' ? text(content) : content };
}

/**
 * A message of a prompt, said by the assistant.
 * @example assistant('Here it is:')
 */
export function assistant(content: string | ContentBlock): PromptMessage {
  return { role: 'assistant', content: typeof content === 'string' ? text(content) : content };
}

/** What `toolResult` takes. */
export interface ToolResultOptions<T> {
  /** What a model reads; by default the JSON of `structuredContent`. */
  readonly content?: string | ContentBlock | readonly ContentBlock[];
  readonly structuredContent?: T;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
}

/** A complete result of a tool, for handlers that decide everything themselves. */
export class ToolResult<T = unknown> {
  constructor(readonly options: ToolResultOptions<T>) {}
}

/**
 * Makes a complete result of a tool: content, structured content, error flag and `_meta`.
 * @example toolResult({ content: 'The printer is out of paper.', isError: true })
 */
export function toolResult<T>(options: ToolResultOptions<T>): ToolResult<T> {
  return new ToolResult(options);
}

/** The URI of content that is nothing but part of its message (RFC 2392). */
export const PART_OF_MESSAGE = 'cid:content@message';
