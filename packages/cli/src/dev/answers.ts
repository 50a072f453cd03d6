import { INITIALIZE } from '@decorum/core/transport';

import { isJson, type Json } from './message.js';

const METHOD_NOT_FOUND = -32_601;

/** The key of each list in its result. */
export const LISTS = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
} as const;

/** What clients without sessions ask first. */
export const DISCOVER = 'server/discover';
const SET_LEVEL = 'logging/setLevel';
const LISTED = ['tools', 'prompts', 'resources'] as const;

const isList = (method: unknown): method is keyof typeof LISTS => typeof method === 'string' && method in LISTS;

/** Whether the response to a method may have to be changed. */
export function isAdapted(method: unknown): boolean {
  return method === INITIALIZE || method === DISCOVER || method === SET_LEVEL || isList(method);
}

/**
 * Declares lists that may appear with the next edit. Clients ignore `list_changed` for a list that was not declared, and
 * log messages too.
 */
function declareLists(result: Json, logs: boolean): Json {
  const given = isJson(result['capabilities']) ? result['capabilities'] : {};
  const lists = LISTED.map((name) => [name, { ...(isJson(given[name]) ? given[name] : {}), listChanged: true }]);
  return { ...result, capabilities: { ...(logs && { logging: {} }), ...given, ...Object.fromEntries(lists) } };
}

/**
 * Adapts a program's response to what was declared for it: a list that the program lacks is empty.
 * @param request what the client has sent
 */
export function adapt(response: Json, request: Json): Json {
  const { method } = request;
  const { result, error } = response;
  if (isJson(result)) {
    if (method === INITIALIZE || method === DISCOVER) {
      return { ...response, result: declareLists(result, method === INITIALIZE) };
    }
    return response;
  }
  if (!isJson(error) || error['code'] !== METHOD_NOT_FOUND) return response;
  const { jsonrpc, id } = response;
  if (method === SET_LEVEL) return { jsonrpc, id, result: {} };
  if (!isList(method)) return response;
  return { jsonrpc, id, result: { [LISTS[method]]: [], ...(isStateless(request) && COMPLETE) } };
}

const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** Whether a request stands alone: it carries what others learn from `initialize`. */
export function isStateless({ params }: Json): boolean {
  const meta = isJson(params) ? params['_meta'] : undefined;
  return isJson(meta) && 'io.modelcontextprotocol/protocolVersion' in meta;
}
