import type { SearchSettings } from './search-options.js';

/** The name of the tool that finds others, without a prefix. */
export const SEARCH_TOOLS = 'search_tools';
/** The name of the tool that calls others, without a prefix. */
export const CALL_TOOL = 'call_tool';

/** The names of the two tools on a server. */
export interface ToolNames {
  readonly search: string;
  readonly call: string;
}

/** The names of the two tools, with the prefix. */
export function toolNames({ prefix }: Pick<SearchSettings, 'prefix'>): ToolNames {
  const placed = (name: string) => (prefix === '' ? name : `${prefix}_${name}`);
  return { search: placed(SEARCH_TOOLS), call: placed(CALL_TOOL) };
}
