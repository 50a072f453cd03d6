import type { JsonObject } from '@decorum/core';
import { isObject, type ToolPlan } from '@decorum/core/internal';

const pageOf = (entry: object): JsonObject | undefined => {
  const { _meta: meta } = entry as JsonObject;
  const ui = isObject(meta) ? meta['ui'] : undefined;
  return isObject(ui) ? ui : undefined;
};

/** What a tool says of its page (MCP Apps); undefined if it has none. */
export const uiOf = ({ options, entry }: ToolPlan): unknown => options['ui'] ?? pageOf(entry);

/** Whether models may see a tool, as clients know it. Some are only for the page of another tool. */
export function isForModel(written: JsonObject): boolean {
  const visibility = pageOf(written)?.['visibility'];
  return !Array.isArray(visibility) || visibility.includes('model');
}
