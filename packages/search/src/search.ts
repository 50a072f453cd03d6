import { TOOL_CATALOG } from '@decorum/core/internal';
import { definePlugin, type Plugin } from '@decorum/core/plugin';

import { ShortList } from './short-list.js';
import { type SearchOptions, settingsOf } from './search-options.js';
import { toolNames } from './tool-names.js';
import { searchTools } from './search-tools.js';

/**
 * Lets clients of a server with many tools see only a few of them, and two tools that find and call the rest. A call of
 * a tool that was found is judged, observed and answered like a direct call.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, also when the server is created, if it has a tool with one of the names
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { openapi } from '@decorum/openapi';
 * import { search } from '@decorum/search';
 *
 * const shop = await openapi('shop.yaml', { baseUrl: 'https://api.example.com' });
 *
 * new McpServer({ name: 'shop', version: '1.0.0', providers: [shop], plugins: [search({ above: 50 })] });
 * ```
 */
export const search: (options?: SearchOptions) => Plugin = definePlugin((options: SearchOptions = {}): Plugin => {
  const settings = settingsOf(options);
  const names = toolNames(settings);
  const plugin = {
    name: 'search',
    providers: [searchTools(settings, names)],
    [TOOL_CATALOG]: new ShortList(settings, names),
  };
  return plugin;
});
