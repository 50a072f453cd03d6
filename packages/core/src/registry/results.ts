import {
  andThen,
  bytesOf,
  type Checked,
  type ExtraFields,
  invalidOption,
  isObject,
  type JsonObject,
  NotJson,
  type Shape,
  toJsonForm,
  toJsonText,
} from '@decorum/schema/internal';

import { resourceContents, text, ToolResult, type ToolResultOptions } from '../protocol/content.js';
import { McpError } from '../protocol/errors.js';
import { FAILURE_CAUSE } from '../protocol/failure-cause.js';
import type {
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  PromptMessage,
  ReadResourceResult,
} from '../protocol/model.js';
import { bytesBlock, contentsOf, isContentBlock, isMeantAsBlock, textOfJson, toContent, toPart } from './blocks.js';
import { Body, textOrBytes } from './bodies.js';

/** A result with an error message. */
export function errorResult(message: string): CallToolResult {
  return { content: [text(message)], isError: true };
}

/** A result that lists what is wrong with the arguments. Plugins learn why the call failed. */
export function invalidArguments(message: string): CallToolResult {
  return Object.assign(errorResult(message), { [FAILURE_CAUSE]: 'invalid-arguments' });
}

/** The `text` option: the text that is sent along with structured content. */
export type TextOption = boolean | string | ((value: never) => string) | undefined;

/**
 * Rejects invalid values of the `text` option.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkTextOption(value: unknown, where: string): void {
  if (['boolean', 'string', 'function', 'undefined'].includes(typeof value)) return;
  const problem = `is ${value === null ? 'null' : `a ${typeof value}`}. Use true, false, a string, or a function that returns one`;
  throw invalidOption(where, 'text', problem);
}

/** How to encode a tool's result. */
export interface ToolEncoding {
  /** The tool, for error messages. */
  readonly where: string;
  readonly output: Shape | undefined;
  /** Set if fields that the output schema does not have are left out. */
  readonly extra?: ExtraFields | undefined;
  readonly text: TextOption;
}

/**
 * Converts a tool's return value to its result. With an output schema, the value is validated and sent as structured
 * content, with its JSON as text.
 * @throws {Error} the error that the tool returned, or an error if the value does not match the output schema or cannot
 *   be sent
 */
export function toCallToolResult(value: unknown, encoding: ToolEncoding): CallToolResult | Promise<CallToolResult> {
  if (value instanceof Error) throw value;
  if (value instanceof ToolResult) return explicitResult(value.options, encoding);
  const { output, where, extra } = encoding;
  if (isResult(value, encoding)) return explicitResult(value, encoding);
  if (output === undefined) return { content: sendable(where, () => contentOf(value)) };
  const given = value instanceof Body ? jsonOf(value) : value;
  return andThen(output.checkOutput(given, extra), (checked) => {
    const structuredContent = requireOutput(checked, where);
    return { content: fallbackText(structuredContent, given, encoding), structuredContent };
  });
}

/** The value to validate for a body: parsed if the body is JSON. */
const jsonOf = ({ data, mimeType }: Body): unknown =>
  typeof data === 'string' && /[/+]json$/.test(mimeType ?? '') ? JSON.parse(data) : data;

const contentOf = (value: unknown): readonly ContentBlock[] => {
  if (!(value instanceof Body)) return toContent(value);
  const { data, mimeType } = value;
  return data instanceof Uint8Array ? [bytesBlock(data, mimeType)] : toContent(data);
};

/** Adds the handler's name to the error for a value that cannot be written as JSON. */
function sendable<T>(where: string, convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new Error(`${where} returned a value that cannot be sent: it ${error.message}`, { cause: error });
  }
}

function requireOutput(checked: Checked, where: string): unknown {
  if (checked.ok) return checked.value;
  const list = checked.problems.map(({ path, expected }) => `${path || 'the value'} ${expected}`);
  const hasExtra = checked.problems.some(({ expected }) => expected === 'is not a known field');
  const hint = hasExtra ? ". To leave out fields that the schema does not have, set `extraOutput: 'drop'`" : '';
  throw new Error(`${where} returned a value that does not match its output schema: ${list.join('; ')}${hint}`);
}

const RESULT_FIELDS = new Set(['content', 'structuredContent', 'isError', '_meta', 'resultType']);

/**
 * Rejects a question in the protocol's own form: only Decorum can seal the state that goes with it.
 * @throws {Error}
 */
function rejectQuestion({ resultType, inputRequests }: JsonObject, where: string): void {
  if (resultType !== 'input_required' || !isObject(inputRequests)) return;
  throw new Error(`${where} returned a result of the type "input_required". Return needInput(inputRequests) instead.`);
}

/** Whether an object is a protocol result, rather than data with a list called "content". */
function isResult(value: unknown, { output, where }: ToolEncoding): value is CallToolResult {
  if (!isObject(value)) return false;
  if (value['resultType'] !== undefined) rejectQuestion(value, where);
  if (!Array.isArray(value['content']) || (value['resultType'] ?? 'complete') !== 'complete') return false;
  const { content, isError, structuredContent, _meta: meta = {} } = value;
  if (output !== undefined && structuredContent === undefined && isError !== true) return false;
  return (
    Object.keys(value).every((name) => RESULT_FIELDS.has(name)) &&
    (isError === undefined || typeof isError === 'boolean') &&
    isObject(meta) &&
    (content.length === 0 || content.some(isMeantAsBlock))
  );
}

function explicitResult(
  options: ToolResultOptions<unknown>,
  encoding: ToolEncoding,
): CallToolResult | Promise<CallToolResult> {
  const { output, where, extra } = encoding;
  const { content, structuredContent, isError, _meta: meta } = options;
  // error data needn't match the schema, so always send it as text too
  const chosen = isError === true ? { where, output, text: true } : encoding;
  const build = (data: unknown): CallToolResult => ({
    content: content === undefined ? fallbackText(data, structuredContent, chosen) : contentOfResult(content, where),
    ...(data !== undefined && { structuredContent: data }),
    ...(isError !== undefined && { isError }),
    ...(meta !== undefined && { _meta: meta }),
  });
  if (output === undefined || isError === true) return build(sendable(where, () => toJsonForm(structuredContent)));
  return andThen(output.checkOutput(structuredContent, extra), (checked) => build(requireOutput(checked, where)));
}

const contentOfResult = (content: unknown, where: string): readonly ContentBlock[] =>
  sendable(where, () => (Array.isArray(content) ? content.flatMap((part) => toPart(part)) : toContent(content)));

/** The text to send along with structured content. */
function fallbackText(data: unknown, returned: unknown, { where, text: option = true }: ToolEncoding): ContentBlock[] {
  if (data === undefined || option === false) return [];
  if (option === true) return [text(JSON.stringify(data))];
  const value: unknown = typeof option === 'string' ? option : option(returned as never);
  if (typeof value === 'string') return [text(value)];
  throw new Error(
    `${where}: its \`text\` function returned ${value instanceof Promise ? 'a promise' : typeof value}. Return a string.`,
  );
}

/**
 * Converts a prompt's return value to its result.
 * @throws {Error} the error that the prompt returned, or an error if the value is not a message
 */
export function toGetPromptResult(value: unknown, description: string | undefined, where: string): GetPromptResult {
  if (value instanceof Error) throw value;
  if (isObject(value)) rejectQuestion(value, where);
  const isWhole = isObject(value) && isList(value['messages']);
  const {
    messages,
    description: own = description,
    _meta: meta,
  } = (isWhole ? value : { messages: value }) as JsonObject;
  const items: readonly unknown[] = isList(messages) ? [...messages] : [messages];
  return {
    ...(typeof own === 'string' && { description: own }),
    messages: items.flatMap((item) => toMessages(item, where)),
    ...(isObject(meta) && { _meta: meta }),
  };
}

function described(value: unknown): string {
  if (!isObject(value)) return value === null ? 'null' : typeof value;
  const { name } = value.constructor ?? Object;
  return name === 'Object' ? `an object with ${Object.keys(value).join(', ') || 'no members'}` : `a ${name}`;
}

const isList = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value && bytesOf(value) === undefined;

/** Adds the MIME type, which the protocol requires for a resource in a prompt. */
function typed(block: ContentBlock): ContentBlock {
  if (block.type !== 'resource' || block.resource.mimeType !== undefined) return block;
  const { uri, text: data } = block.resource;
  const { mimeType } = resourceContents(uri, data ?? new Uint8Array());
  return { ...block, resource: { ...block.resource, ...(mimeType !== undefined && { mimeType }) } };
}

function toMessages(item: unknown, where: string): PromptMessage[] {
  const isMessage = isObject(item) && 'role' in item;
  const { role, content } = isMessage ? item : { role: 'user', content: item };
  if (role !== 'user' && role !== 'assistant') {
    throw new Error(`${where} returned a message with the role ${JSON.stringify(role)}. Use "user" or "assistant".`);
  }
  const parts: readonly unknown[] = isMessage && Array.isArray(content) ? content : [content];
  return parts.map((part) => {
    const bytes = bytesOf(part);
    if (bytes !== undefined) return { role, content: bytesBlock(bytes) };
    if (typeof part === 'string') return { role, content: text(part) };
    if (isContentBlock(part)) return { role, content: typed(part) };
    throw new Error(
      `${where} returned ${described(part)} where text, a content block or { role, content } is expected.`,
    );
  });
}

/**
 * The result, if a resource returned a complete result rather than data.
 * @throws {Error} if only some of its entries are valid contents
 */
function wholeResult(value: unknown, where: string): ReadResourceResult | undefined {
  const listed: unknown = isObject(value) ? value['contents'] : undefined;
  const entries: readonly unknown[] = Array.isArray(listed) ? listed : Array.isArray(value) ? value : [value];
  const contents = entries.map(contentsOf);
  const isMeant = entries.every((entry) => isObject(entry) && typeof entry['uri'] === 'string');
  if (contents.every((entry) => entry !== undefined)) {
    if (Array.isArray(listed)) return { ...(value as object), contents };
    return contents.length > 0 ? { contents } : undefined;
  }
  if (contents.some((entry) => entry !== undefined) || (Array.isArray(listed) && isMeant)) {
    const place = `contents[${contents.indexOf(undefined)}]`;
    throw new Error(`${where} returned an invalid ${place}. Each entry needs a \`uri\`, and a \`text\` or a \`blob\`.`);
  }
  return undefined;
}

/** How to encode the contents of a resource. */
export interface ResourceEncoding {
  /** The resource, for error messages. */
  readonly where: string;
  readonly mimeType: string | undefined;
}

/**
 * Converts a resource's return value to its contents.
 * @throws {McpError} `unknown-resource` for `undefined` and `null`
 * @throws {Error} the error that the resource returned, or an error if the value cannot be sent
 */
export function toReadResourceResult(value: unknown, uri: string, encoding: ResourceEncoding): ReadResourceResult {
  if (value === undefined || value === null) throw new McpError('unknown-resource', 'Resource not found', { uri });
  if (value instanceof Error) throw value;
  if (value instanceof ToolResult)
    throw new Error(`${encoding.where} returned a toolResult. Return the content itself.`);
  if (isObject(value)) rejectQuestion(value, encoding.where);
  const whole = wholeResult(value, encoding.where);
  if (whole !== undefined) return whole;
  const { data, mimeType } = value instanceof Body ? value : new Body(value, undefined);
  const type = encoding.mimeType ?? mimeType;
  const bytes = bytesOf(data);
  if (bytes !== undefined) return { contents: [resourceContents(uri, textOrBytes(bytes, type), type)] };
  if (typeof data === 'string') return { contents: [resourceContents(uri, data, type)] };
  const json = sendable(encoding.where, () => toJsonText(data));
  const plain = textOfJson(json);
  return {
    contents: [resourceContents(uri, plain ?? json, type ?? (plain === undefined ? 'application/json' : undefined))],
  };
}
