import { FAILURES } from '../errors.js';
import { notificationFrame } from '../jsonrpc.js';
import type { CallToolResult, JsonObject } from '../model.js';
import { type AllowList, allowed, allowList, allowOnly } from './allow-list.js';
import { FIELDS_20260728 } from './model-fields.js';
import type { Revision } from './revision.js';

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/** Whether only the specification can say what a number means. */
const isReserved = (code: number): boolean => code >= -32099 && code <= -32000;

/** Of older revisions, for a handler that writes the number out. */
const RESOURCE_NOT_FOUND = -32002;

const verbatim = (value: object): JsonObject => value as JsonObject;

const list = allowList(FIELDS_20260728);

const PLAIN = new Set(['content', 'structuredContent', 'isError']);

/**
 * The result of a tool with the fields that the revision has. Most results are text and data, which each revision with
 * structured content has: they are returned as they are, because this runs for each call.
 */
export function sentResult(given: object, { toolResult }: AllowList): JsonObject {
  const result = given as JsonObject & Pick<CallToolResult, 'content'>;
  for (const name in result) if (!PLAIN.has(name)) return allowed(result, toolResult);
  for (const block of result.content) {
    for (const name in block) if (name !== 'type' && name !== 'text') return allowed(result, toolResult);
  }
  return result;
}

/** Revision 2026-07-28: stateless. The neutral model is shaped like it, so nearly everything is sent as it is. */
export const revision20260728: Revision = allowOnly(list, {
  id: '2026-07-28',
  rank: 4,
  era: 'stateless',
  methods: new Set([
    'server/discover',
    'tools/list',
    'tools/call',
    'prompts/list',
    'prompts/get',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'completion/complete',
    'subscriptions/listen',
  ]),
  batches: false,
  unreadableId: undefined,
  primesStreams: false,
  tool: verbatim,
  prompt: verbatim,
  resource: verbatim,
  resourceTemplate: verbatim,
  toolResult: (result) => sentResult(result, list),
  promptResult: verbatim,
  readResult: verbatim,
  complete(result, server, cache) {
    const { name, version } = server;
    // who wants to know more asks for it
    const identity = 'supportedVersions' in result ? server : { name, version };
    return {
      resultType: 'complete',
      ...result,
      ...(cache && { ttlMs: cache.ttlMs, cacheScope: cache.scope }),
      _meta: { ...(result['_meta'] as JsonObject | undefined), [SERVER_INFO]: identity },
    };
  },
  notification: notificationFrame,
  question({ method, params }) {
    if (method === 'ping') return undefined;
    const { elicitationId: _sessionsOnly, ...known } = params;
    return { params: known };
  },
  capabilities: verbatim,
  implementation: verbatim,
  errorCode({ kind, code }) {
    if (kind === 'url-elicitation-required') return undefined;
    if (code === RESOURCE_NOT_FOUND) return FAILURES['unknown-resource'];
    return kind === undefined && isReserved(code) ? undefined : code;
  },
});
