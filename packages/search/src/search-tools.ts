import { type CallToolResult, type Context, McpError, type McpServer } from '@decorum/core';
import { FINDER, hasTool, visibleTools, warnOfUnknownTools } from '@decorum/core/internal';
import { type AddedMember, ATTACH, type MemberSource, startupError } from '@decorum/core/plugin';

import { foundTools } from './found-tools.js';
import { IndexCache } from './index-cache.js';
import { MAX_LIMIT, type SearchSettings } from './search-options.js';
import { CALL_TOOL, SEARCH_TOOLS, type ToolNames } from './tool-names.js';

/** Options of both tools. Half of a schema is of no use, so what they find is never cut: it has a maximum of its own. */
const FINDS: object = { [FINDER]: true, maxResultChars: false };

/** The most characters of a query. */
const MAX_QUERY = 500;

const searchRecord = ({ limit }: SearchSettings, { call }: ToolNames): AddedMember => ({
  kind: 'tool',
  key: SEARCH_TOOLS,
  options: {
    description: `Finds tools by what they do. This server has many more tools than it lists: search before you tell anybody that something can't be done. Returns the names, descriptions and argument schemas of the best matches, to call with ${call}.`,
    annotations: { readOnlyHint: true, openWorldHint: false },
    coerce: true,
    input: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          minLength: 1,
          maxLength: MAX_QUERY,
          description: 'A few words: what to do, and to what',
        },
        limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: limit },
      },
      required: ['query'],
      additionalProperties: false,
    },
    ...FINDS,
  },
});

const callRecord = ({ search }: ToolNames): AddedMember => ({
  kind: 'tool',
  key: CALL_TOOL,
  options: {
    description: `Calls a tool that ${search} has found.`,
    input: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        arguments: { type: 'object', description: 'As the schema of that tool asks for them' },
      },
      required: ['name'],
      additionalProperties: false,
    },
    ...FINDS,
  },
});

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` if the server has a tool with one of the names */
function requireFree(server: McpServer, { search, call }: ToolNames): void {
  const taken = [search, call].find((name) => hasTool(server, name));
  if (taken === undefined) return;
  const problem = `is needed, because the server has a tool "${taken}" of its own. Pass prefix: 'find', or rename that tool`;
  throw startupError('DECORUM_INVALID_OPTION', 'search', 'prefix', problem);
}

/** The two tools, as an entry of `providers`. */
export function searchTools(settings: SearchSettings, names: ToolNames): MemberSource {
  const { prefix } = settings;
  return {
    [ATTACH](server: McpServer) {
      requireFree(server, names);
      const indexes = new IndexCache(settings.synonyms);
      const find = async (
        { query, limit = settings.limit }: { readonly query: string; readonly limit?: number },
        ctx: Context,
      ): Promise<CallToolResult> => {
        const visible = await visibleTools(server, ctx);
        const index = await indexes.of(visible.tools);
        return foundTools(index.ranked(query), { visible, limit, names });
      };
      const call = (): never => {
        // calls of other tools never reach this one
        throw new McpError('unknown-tool', `Unknown tool: ${names.call}`);
      };
      return server.addMembers(
        [searchRecord(settings, names), callRecord(names)],
        { [SEARCH_TOOLS]: find, [CALL_TOOL]: call },
        { source: 'search()', ...(prefix !== '' && { prefix }) },
      );
    },
    onStart: (server) => warnOfUnknownTools(server, 'always', settings.always),
  };
}
