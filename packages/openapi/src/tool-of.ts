import { type CallToolResult, type Context, type JsonObject, text, type ToolEntry } from '@decorum/core';
import type { RelayedRecord } from '@decorum/core/plugin';
import { explain } from '@decorum/schema';

import { resultOf } from './answer.js';
import { apiCaller } from './api-caller.js';
import { inputOf } from './input-schema.js';
import { cleanText } from './json.js';
import type { OpenDocument } from './open-document.js';
import type { OperationChanges, Settings } from './openapi-options.js';
import type { Operation } from './operation.js';
import { outputOf } from './output-schema.js';

/** What a method says about a tool (RFC 9110, section 9.2). */
const ANNOTATIONS: Readonly<Record<string, ToolEntry['annotations']>> = {
  GET: { readOnlyHint: true, openWorldHint: true },
  HEAD: { readOnlyHint: true, openWorldHint: true },
  OPTIONS: { readOnlyHint: true, openWorldHint: true },
  PUT: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  DELETE: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  PATCH: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  POST: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
};

/** Thousands of paths can share one description. */
const MAX_DESCRIPTION = 20_000;

/** The description of an operation: its summary, then its description. */
export function descriptionOf({ definition, method, path }: Operation): string {
  const parts = [cleanText(definition['summary']), cleanText(definition['description'])];
  const distinct = [...new Set(parts.filter((part) => part !== undefined))];
  const full = distinct.length > 0 ? distinct.join('\n\n') : `${method} ${path}`;
  const description = full.length > MAX_DESCRIPTION ? `${full.slice(0, MAX_DESCRIPTION)}…` : full;
  return definition['deprecated'] === true ? `Deprecated. ${description}` : description;
}

/** A tool, and the function that it calls. */
export interface OperationTool {
  readonly record: RelayedRecord;
  readonly handler: (args: JsonObject, ctx: Context) => Promise<CallToolResult>;
}

/**
 * The tool of an operation. Its schemas are compiled by the first call, because most of a large document's tools are never
 * called.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function toolOf(
  operation: Operation,
  {
    key,
    changes,
    document,
  }: { readonly key: string; readonly changes: OperationChanges; readonly document: OpenDocument },
  settings: Settings,
): OperationTool {
  const input = inputOf(operation, document);
  const output = outputOf(operation, document, settings.output ?? true);
  const { method } = operation;
  const entry: ToolEntry = {
    name: changes.name ?? key,
    description: changes.description ?? descriptionOf(operation),
    inputSchema: input.schema,
    ...(output.schema && { outputSchema: output.schema }),
    annotations: { ...ANNOTATIONS[method], ...changes.annotations },
  };
  const call = apiCaller(operation, { input, accept: output.accept, where: document.where }, settings);
  return {
    record: { kind: 'tool', key, entry, ...(operation.hints.tags && { tags: operation.hints.tags }) },
    async handler(args, ctx) {
      const problems = await explain(input.schema, args);
      if (problems.length > 0) {
        const lines = problems.map(({ path, expected }) => `- ${path === '' ? 'the arguments' : path}: ${expected}`);
        return { content: [text(`The arguments are not valid:\n${lines.join('\n')}`)], isError: true };
      }
      return await resultOf(await call(args, ctx), output, { method, maxErrorChars: settings.maxErrorChars });
    },
  };
}
