import { isObject, type JsonObject, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import { type CallResult, type Interceptor, requireCalled } from '../kernel/interceptors.js';
import { redactSecrets } from '../text/redact.js';
import { QuestionError, McpError, ToolError } from '../protocol/errors.js';
import { recordedCause, withFailureCause } from '../protocol/failure-cause.js';
import type { CallToolResult, ContentBlock } from '../protocol/model.js';
import { withoutHidden } from '../text/hidden-text.js';

/** Options of `sanitize`. */
export interface SanitizeOptions {
  /** Cleans each string further, after the built-in steps. */
  readonly text?: (text: string) => string;
}

/** Cleans a string, or all strings and member names in JSON data. */
type Clean = <T>(value: T) => T;

/**
 * Cleans results before they reach the model: removes control characters, escape sequences and invisible characters,
 * and masks text that looks like a credential. Applies to text blocks, text resources, links, prompt messages,
 * structured content and error messages. Binary data, URIs and completions are left alone. Results are copied, not
 * modified.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if `text` is not a function
 * @example new McpServer({ name: 'shop', version: '1.0.0', interceptors: [sanitize()] });
 */
export function sanitize(options: SanitizeOptions = {}): Interceptor {
  requireCalled('sanitize', options, 'sanitize()');
  requireOptions('sanitize', options, { text: 'function' } satisfies OptionTypes<SanitizeOptions>);
  const { text = (same) => same } = options;
  const further = (value: string) => {
    const changed: unknown = text(value);
    if (typeof changed === 'string') return changed;
    throw new TypeError('The `text` option of sanitize() must return a string.');
  };
  // remove hidden characters first: inside a secret, they would keep the secret from being recognized
  const clean = <T>(value: T) => mapTexts(redactSecrets(mapTexts(value, withoutHidden)), further) as T;
  return async function sanitized(_call, next) {
    try {
      return cleanResult(await next(), clean);
    } catch (error) {
      throw cleanError(error, clean);
    }
  };
}

function cleanResult(result: CallResult, clean: Clean): CallResult {
  if ('messages' in result) {
    const messages = result.messages.map((each) => ({ ...each, content: cleanBlock(each.content, clean) }));
    return cleanMembers({ ...result, messages }, clean);
  }
  if ('contents' in result) return { ...result, contents: result.contents.map((each) => cleanMembers(each, clean)) };
  return 'content' in result ? cleanToolResult(result, clean) : result;
}

function cleanToolResult(result: CallToolResult, clean: Clean): CallToolResult {
  const structuredContent = clean(asSent(result.structuredContent));
  const json = JSON.stringify(result.structuredContent) as string | undefined;
  // text that repeats the structured content must stay identical to it
  const content = result.content.map((block) =>
    block.type === 'text' && block.text === json
      ? { ...block, text: JSON.stringify(structuredContent) }
      : cleanBlock(block, clean),
  );
  return { ...result, content, ...(structuredContent !== undefined && { structuredContent }) };
}

function cleanBlock(block: ContentBlock, clean: Clean): ContentBlock {
  if (block.type === 'resource') return { ...block, resource: cleanMembers(block.resource, clean) };
  return cleanMembers(block, clean);
}

/** Members of a block, resource or prompt that the model reads. */
const MODEL_FIELDS = ['text', 'name', 'title', 'description'];

/** A copy with the members that the model reads cleaned. */
function cleanMembers<T extends object>(from: T, clean: Clean): T {
  const copy = { ...from } as JsonObject;
  for (const name of MODEL_FIELDS) if (copy[name] !== undefined) copy[name] = clean(copy[name]);
  return copy as T;
}

/** A copy of JSON data with all strings and member names changed. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [change(name), mapTexts(item, change)]));
}

/** The data as the client receives it. */
function asSent(data: unknown): unknown {
  const json = JSON.stringify(data) as string | undefined;
  return json === undefined ? undefined : JSON.parse(json);
}

/** A cleaned copy of an error. Errors that are masked anyway are returned as is. */
function cleanError(error: unknown, clean: Clean): unknown {
  if (error instanceof McpError) {
    const { kind, code, message, data } = error;
    // don't redact the tickets in the URLs that the user must visit
    const sent = kind === 'url-elicitation-required' ? data : clean(asSent(data));
    return withFailureCause(new McpError(kind ?? code, clean(message), sent), recordedCause(error));
  }
  if (error instanceof QuestionError) {
    const { code, data } = error;
    const cleaned = new QuestionError(clean(error.message), { ...(code !== undefined && { code }), data });
    return withFailureCause(cleaned, recordedCause(error));
  }
  if (!(error instanceof ToolError)) return error;
  return withFailureCause(new ToolError(clean(error.message), { cause: error }), recordedCause(error));
}
