import { isObject } from '../protocol/jsonrpc.js';
import {
  audio,
  embedded,
  image,
  PART_OF_MESSAGE,
  resourceContents,
  text,
  ToolResult,
  user,
} from '../protocol/content.js';
import { McpError } from '../protocol/errors.js';
import type {
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  PromptMessage,
  ReadResourceResult,
  ResourceContents,
} from '../protocol/model.js';
import type { Checked, Shape } from '../schema/shape.js';

const BLOCK_FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['text', 'text'],
  ['image', 'data'],
  ['audio', 'data'],
  ['resource', 'resource'],
  ['resource_link', 'uri'],
]);

/** Whether a value is a block of content, and not data that looks a little like one. */
export function isContentBlock(value: unknown): value is ContentBlock {
  if (!isObject(value)) return false;
  const field = BLOCK_FIELDS.get(value['type']);
  return field !== undefined && field in value;
}

const isBlocks = (value: unknown): value is readonly ContentBlock[] =>
  Array.isArray(value) && value.length > 0 && value.every(isContentBlock);

/** A result that says what went wrong. */
export function errorResult(message: string): CallToolResult {
  return { content: [text(message)], isError: true };
}

/**
 * Turns what a tool returned into its result. With an output schema the value is checked, and sent as structured
 * content with its JSON as text.
 * @throws {Error} when the value does not fit the output schema
 */
export function toCallToolResult(value: unknown, output: Shape | undefined): CallToolResult | Promise<CallToolResult> {
  if (value instanceof ToolResult) return fromToolResult(value, output);
  if (output === undefined) return { content: toContent(value) };
  const checked = output.checkOutput(value);
  return checked instanceof Promise ? checked.then((result) => structured(result)) : structured(checked);
}

function structured(checked: Checked): CallToolResult {
  const structuredContent = requireOutput(checked);
  return { content: [text(JSON.stringify(structuredContent))], structuredContent };
}

function requireOutput(checked: Checked): unknown {
  if (checked.ok) return checked.value;
  const list = checked.problems.map(({ path, expected }) => `${path || 'the value'} ${expected}`);
  throw new Error(`The tool returned a value that does not fit its output schema: ${list.join('; ')}`);
}

function fromToolResult({ options }: ToolResult, output: Shape | undefined): CallToolResult | Promise<CallToolResult> {
  const { content, structuredContent, _meta: meta } = options;
  const build = (data: unknown): CallToolResult => {
    const result: { -readonly [K in keyof CallToolResult]: CallToolResult[K] } = {
      content: content === undefined ? dataAsText(data) : isNothing(content) ? [] : toContent(content),
    };
    if (data !== undefined) result.structuredContent = data;
    if (options.isError !== undefined) result.isError = options.isError;
    if (meta !== undefined) result['_meta'] = meta;
    return result;
  };
  if (output === undefined || options.isError === true) return build(structuredContent);
  const checked = output.checkOutput(structuredContent);
  return checked instanceof Promise
    ? checked.then((result) => build(requireOutput(result)))
    : build(requireOutput(checked));
}

const isNothing = (content: unknown): boolean => Array.isArray(content) && content.length === 0;

const dataAsText = (data: unknown): ContentBlock[] => (data === undefined ? [] : [text(JSON.stringify(data))]);

/** Content blocks for any value. */
function toContent(value: unknown): readonly ContentBlock[] {
  switch (typeof value) {
    case 'undefined':
      return [];
    case 'string':
    case 'number':
    case 'boolean':
    case 'bigint':
      return [text(String(value))];
    default:
      if (isContentBlock(value)) return [value];
      if (isBlocks(value)) return value;
      return value instanceof Uint8Array ? [bytesBlock(value)] : [text(toJson(value))];
  }
}

function toJson(value: unknown): string {
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) throw new Error(`A ${typeof value} cannot be sent as content.`);
  return json;
}

// the first bytes of the formats that clients show or play, and where they are
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

function bytesBlock(bytes: Uint8Array): ContentBlock {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString('latin1');
  const mimeType = SIGNATURES.find(([, signature, offset]) => head.startsWith(signature, offset))?.[0];
  if (mimeType === undefined) return embedded({ uri: PART_OF_MESSAGE, data: bytes });
  return mimeType.startsWith('image/') ? image(bytes, mimeType) : audio(bytes, mimeType);
}

const isMessage = (value: unknown): value is PromptMessage => isObject(value) && 'role' in value && 'content' in value;

/** Turns what a prompt returned into its result. */
export function toGetPromptResult(value: unknown, description: string | undefined): GetPromptResult {
  if (isObject(value) && Array.isArray(value['messages'])) return value as unknown as GetPromptResult;
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const messages = items.map((item) => {
    if (isMessage(item)) return item;
    if (typeof item === 'string' || isContentBlock(item)) return user(item);
    throw new Error(`A prompt returned ${typeof item} where a text, a content block or a message was expected.`);
  });
  return { ...(description !== undefined && { description }), messages };
}

const isContents = (value: unknown): value is ResourceContents =>
  isObject(value) && typeof value['uri'] === 'string' && ('text' in value || 'blob' in value);

/**
 * Turns what a resource returned into its contents.
 * @throws {McpError} `unknown-resource` for `undefined`
 */
export function toReadResourceResult(value: unknown, uri: string, mimeType: string | undefined): ReadResourceResult {
  if (value === undefined) throw new McpError('unknown-resource', 'Resource not found', { uri });
  if (typeof value === 'string' || value instanceof Uint8Array)
    return { contents: [resourceContents(uri, value, mimeType)] };
  if (isContents(value)) return { contents: [value] };
  if (isObject(value) && Array.isArray(value['contents'])) return value as unknown as ReadResourceResult;
  if (Array.isArray(value) && value.length > 0 && value.every(isContents)) return { contents: value };
  return { contents: [resourceContents(uri, toJson(value), mimeType ?? 'application/json')] };
}
