import { type CallResult, type Interceptor, requireCalled } from '../kernel/interceptors.js';
import { redactSecrets } from '../text/redact.js';
import { ClientError, McpError, ToolError } from '../protocol/errors.js';
import { isObject } from '../protocol/jsonrpc.js';
import { type OptionTypes, requireKnown } from '../protocol/option-names.js';
import type { CallToolResult, ContentBlock, JsonObject } from '../protocol/model.js';
import { withoutHidden } from './hidden-text.js';

/** Options of `sanitize`. */
export interface SanitizeOptions {
  /** Cleans each text further, when all else is done. */
  readonly text?: (text: string) => string;
}

/** Cleans a text, or all texts in JSON data. */
type Clean = <T>(value: T) => T;

/**
 * Cleans what goes to the model: takes out control characters, escape sequences and what people do not see, and masks
 * what looks like a credential. Applies to text blocks, texts of resources, links, prompt messages, structured content,
 * and the messages of errors. Binary data, URIs and completions stay as they are. Results are copied, not changed.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a `text` that is no function
 * @example new McpServer({ name: 'shop', version: '1.0.0', interceptors: [sanitize()] });
 */
export function sanitize(options: SanitizeOptions = {}): Interceptor {
  requireCalled('sanitize', options, 'sanitize()');
  requireKnown('sanitize', options, { text: 'function' } satisfies OptionTypes<SanitizeOptions>);
  const { text = (same) => same } = options;
  const further = (value: string) => {
    const changed: unknown = text(value);
    if (typeof changed === 'string') return changed;
    throw new TypeError('The option `text` of sanitize() returned no text.');
  };
  // what is hidden goes first: it could keep a secret from being recognised
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
  // the text that repeats the structured content goes on to repeat it
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

/** What a model reads of a block, a resource or a prompt. */
const READ = ['text', 'name', 'title', 'description'];

/** A copy with other texts in the members that are read. */
function cleanMembers<T extends object>(from: T, clean: Clean): T {
  const copy = { ...from } as JsonObject;
  for (const name of READ) if (copy[name] !== undefined) copy[name] = clean(copy[name]);
  return copy as T;
}

/** A copy of JSON data with other texts, and other names of members. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [change(name), mapTexts(item, change)]));
}

/** Data as the client gets it. */
function asSent(data: unknown): unknown {
  const json = JSON.stringify(data) as string | undefined;
  return json === undefined ? undefined : JSON.parse(json);
}

/** An error like the one given; those whose message nobody will read stay the same. */
function cleanError(error: unknown, clean: Clean): unknown {
  if (error instanceof McpError) {
    const { kind, code, message, data } = error;
    // the URLs that the user must visit lead nowhere without their tickets
    const sent = kind === 'url-elicitation-required' ? data : clean(asSent(data));
    return new McpError(kind ?? code, clean(message), sent);
  }
  if (error instanceof ClientError) {
    const { code, data } = error;
    return new ClientError(clean(error.message), { ...(code !== undefined && { code }), data });
  }
  return error instanceof ToolError ? new ToolError(clean(error.message), { cause: error }) : error;
}
