import type { JsonObject, ToolEntry } from '@decorum/core';
import { isObject, revisionOf } from '@decorum/core/internal';

import { originOf } from '../origin.js';
import { type Judge, type MatcherContext, verdict } from './matcher.js';
import { differences, indented, isText, show } from './show.js';

/** The content in a result of `callTool`, `readResource` or `getPrompt`. */
export function contentOf(result: unknown): readonly JsonObject[] {
  const { content, contents, messages } = isObject(result) ? result : {};
  if (Array.isArray(content)) return content as readonly JsonObject[];
  if (Array.isArray(contents)) return contents as readonly JsonObject[];
  if (Array.isArray(messages))
    return (messages as readonly { content: JsonObject }[]).map((message) => message.content);
  throw new TypeError(`Pass what callTool, readResource or getPrompt returns, not ${show(result)}.`);
}

/** The texts in a result, in order. */
export function textsOf(result: unknown): readonly string[] {
  return contentOf(result).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
}

const bytesOf = (base64: unknown): string => `${Buffer.from(String(base64), 'base64').length} bytes`;

function showBlock({ type, text, data, mimeType, uri, blob }: JsonObject): string {
  if (typeof text === 'string') return `text ${show(text)}`;
  if (data !== undefined) return `${String(type)}, ${String(mimeType)}, ${bytesOf(data)}`;
  if (blob !== undefined) return `blob, ${String(mimeType)}, ${bytesOf(blob)}`;
  return uri === undefined ? String(type) : `${String(type)} ${show(uri)}`;
}

/** Describes a result, for a message. */
export function showResult(result: unknown): string {
  const { structuredContent, isError } = result as JsonObject;
  const lines = [
    ...contentOf(result).map(showBlock),
    ...(structuredContent === undefined ? [] : [`structured ${show(structuredContent)}`]),
  ];
  const what = isError === true ? 'It is a tool error with' : 'It has';
  return lines.length === 0 ? `${what} no content.` : `${what}:\n\n${indented(lines)}`;
}

/** Whether a result has a text. */
export const returnsText: Judge<[expected?: unknown]> = (context, result, [expected]) => {
  const found = textsOf(result).some((text) => expected === undefined || isText(context, expected, text));
  const wanted = expected === undefined ? 'a text' : `the text ${show(expected)}`;
  return verdict(found, {
    otherwise: `The result does not have ${wanted}. ${showResult(result)}`,
    negated: `The result has ${wanted}, but should not. ${showResult(result)}`,
  });
};

/** Whether the client's revision has structured content, and whether it sends only objects. */
function traitsOf(result: unknown): { readonly isStructured: boolean; readonly wraps: boolean } {
  const revision = revisionOf(originOf(result)?.connection.revision);
  if (revision === undefined) return { isStructured: true, wraps: false };
  const tool: ToolEntry = { name: 'probe', inputSchema: {} };
  const { structuredContent } = revision.toolResult({ content: [], structuredContent: [] }, tool);
  return { isStructured: structuredContent !== undefined, wraps: isObject(structuredContent) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The structured content of a result. In revisions without structured content, servers send it as JSON in a text block.
 * @returns undefined if there is none
 */
export function structuredOf(result: unknown): unknown {
  const { structuredContent } = isObject(result) ? result : {};
  if (structuredContent !== undefined || traitsOf(result).isStructured) return structuredContent;
  return textsOf(result)
    .map(parse)
    .findLast((value) => value !== undefined);
}

function structuredDifferences(context: MatcherContext, expected: unknown, result: unknown): readonly string[] {
  const value = structuredOf(result);
  const found = differences(context, expected, { value, path: '' });
  const isWrapped = traitsOf(result).wraps && isObject(value) && Object.keys(value).join() === 'result';
  if (found.length === 0 || !isWrapped) return found;
  const inside = differences(context, expected, { value: value['result'], path: '' });
  return inside.length === 0 ? [] : found;
}

/** Whether a result has structured content. */
export const returnsStructured: Judge<[expected?: unknown]> = (context, result, [expected]) => {
  contentOf(result);
  if (structuredOf(result) === undefined) {
    return { pass: false, message: () => `The result has no structured content. ${showResult(result)}` };
  }
  const wrong = expected === undefined ? [] : structuredDifferences(context, expected, result);
  const like = expected === undefined ? '' : ` like ${show(expected)}`;
  return verdict(wrong.length === 0, {
    otherwise: `The structured content differs from what is expected:\n\n${indented(wrong)}\n\n${showResult(result)}`,
    negated: `The result has structured content${like}, but should not. ${showResult(result)}`,
  });
};

/** An expected image: its media type, alone or with its bytes. */
export type ExpectedImage = string | { readonly mimeType?: unknown; readonly data?: unknown };

/** Encodes bytes as base64, as in messages. */
function wordImage(expected: ExpectedImage): object {
  if (typeof expected === 'string') return { mimeType: expected };
  const { data } = expected;
  return data instanceof Uint8Array ? { ...expected, data: Buffer.from(data).toString('base64') } : expected;
}

/** Whether a result has an image. */
export const returnsImage: Judge<[expected?: ExpectedImage]> = (context, result, [expected = {}]) => {
  const wanted = wordImage(expected);
  const fits = (block: JsonObject) =>
    block['type'] === 'image' && differences(context, wanted, { value: block, path: '' }).length === 0;
  const words = Object.keys(wanted).length === 0 ? 'an image' : `an image like ${show(wanted)}`;
  return verdict(contentOf(result).some(fits), {
    otherwise: `The result does not have ${words}. ${showResult(result)}`,
    negated: `The result has ${words}, but should not. ${showResult(result)}`,
  });
};
