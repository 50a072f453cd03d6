import { type CallToolResult, type JsonObject, text } from '@decorum/core';
import type { ToolPlan, VisibleTools } from '@decorum/core/internal';

import type { ToolNames } from './tool-names.js';
import { isForModel } from './tool-ui.js';

/** Beyond this, the result has no further tools: a model reads all of it. */
const MAX_CHARS = 50_000;

/** What models need of an entry to call the tool. */
const FIELDS = ['name', 'title', 'description', 'inputSchema', 'annotations'];

const shown = (written: JsonObject): JsonObject =>
  Object.fromEntries(FIELDS.flatMap((field) => (written[field] === undefined ? [] : [[field, written[field]]])));

const lines = ({ name, description, inputSchema }: JsonObject): string =>
  [name, description, `Arguments: ${JSON.stringify(inputSchema)}`].filter((line) => line !== undefined).join('\n');

interface Found {
  readonly visible: VisibleTools;
  readonly limit: number;
  readonly names: ToolNames;
}

/** The result of a search. */
export function foundTools(ranked: Iterable<ToolPlan>, { visible, limit, names }: Found): CallToolResult {
  const tools: JsonObject[] = [];
  const texts: string[] = [];
  let left = MAX_CHARS;
  for (const tool of ranked) {
    const written = tool.isFinder ? undefined : visible.written(tool);
    if (written === undefined || !isForModel(written)) continue;
    const entry = shown(written);
    left -= JSON.stringify(entry).length + 1;
    if (left < 0 && tools.length > 0) break;
    tools.push(entry);
    texts.push(lines(entry));
    if (tools.length === limit) break;
  }
  const head =
    tools.length === 0
      ? 'No tool matches. Try other words: what to do, and to what.'
      : `Call these tools with ${names.call}.`;
  return { content: [text([head, ...texts].join('\n\n'))], structuredContent: { tools } };
}
