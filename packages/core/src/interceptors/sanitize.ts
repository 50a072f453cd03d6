import type { CallResult, Interceptor } from '../kernel/interceptors.js';
import { redactSecrets } from '../kernel/redact.js';
import { ClientError, McpError, ToolError } from '../protocol/errors.js';
import { isObject } from '../protocol/jsonrpc.js';
import type { CallToolResult, ContentBlock, ResourceContents } from '../protocol/model.js';
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
 */
export function sanitize({ text = (same) => same }: SanitizeOptions = {}): Interceptor {
  // what is hidden goes first: it could keep a secret from being recognised
  const clean = <T>(value: T) => mapTexts(redactSecrets(mapTexts(value, withoutHidden)), text) as T;
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
    const messages = result.messages.map(({ content, ...rest }) => ({ ...rest, content: cleanBlock(content, clean) }));
    const { description } = result;
    return { ...result, ...(description !== undefined && { description: clean(description) }), messages };
  }
  if ('contents' in result) return { ...result, contents: result.contents.map((each) => cleanContents(each, clean)) };
  return 'content' in result ? cleanToolResult(result, clean) : result;
}

function cleanToolResult(result: CallToolResult, clean: Clean): CallToolResult {
  if (result.structuredContent === undefined) {
    return { ...result, content: result.content.map((block) => cleanBlock(block, clean)) };
  }
  const json = JSON.stringify(result.structuredContent);
  const structuredContent = clean(JSON.parse(json) as unknown);
  const cleaned = JSON.stringify(structuredContent);
  // the text that repeats the structured content goes on to repeat it
  const content = result.content.map((block) =>
    block.type === 'text' && block.text === json ? { ...block, text: cleaned } : cleanBlock(block, clean),
  );
  return { ...result, content, structuredContent };
}

function cleanBlock(block: ContentBlock, clean: Clean): ContentBlock {
  switch (block.type) {
    case 'text':
      return { ...block, text: clean(block.text) };
    case 'resource':
      return { ...block, resource: cleanContents(block.resource, clean) };
    case 'resource_link': {
      const { name, title, description } = block;
      return {
        ...block,
        name: clean(name),
        ...(title !== undefined && { title: clean(title) }),
        ...(description !== undefined && { description: clean(description) }),
      };
    }
    default:
      return block;
  }
}

function cleanContents(contents: ResourceContents, clean: Clean): ResourceContents {
  return contents.text === undefined ? contents : { ...contents, text: clean(contents.text) };
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
    return new McpError(error.kind ?? error.code, clean(error.message), clean(asSent(error.data)));
  }
  if (error instanceof ClientError) {
    const { code, data } = error;
    return new ClientError(clean(error.message), { ...(code !== undefined && { code }), data });
  }
  return error instanceof ToolError ? new ToolError(clean(error.message), { cause: error }) : error;
}
