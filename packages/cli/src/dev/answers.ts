import { INITIALIZE } from '@decorum/core/transport';

import { isJson, type Json } from './message.js';

const METHOD_NOT_FOUND = -32_601;

/** The key of the list in the result of each method. */
export const LISTS = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
} as const;

/** The first request of clients without sessions. */
export const DISCOVER = 'server/discover';
const SET_LEVEL = 'logging/setLevel';
const LISTED = ['tools', 'prompts', 'resources'] as const;

const isList = (method: unknown): method is keyof typeof LISTS => typeof method === 'string' && method in LISTS;

/** Whether the response to a method may have to be changed. */
export function isAdapted(method: unknown): boolean {
  return method === INITIALIZE || method === DISCOVER || method === SET_LEVEL || isList(method);
}

/**
 * Declares all lists, because the next edit may add them, and logging if `logs` is set. Clients ignore `list_changed`
 * and log messages if the capability wasn't declared.
 */
function declareLists(result: Json, logs: boolean): Json {
  const given = isJson(result['capabilities']) ? result['capabilities'] : {};
  const lists = LISTED.map((name) => [name, { ...(isJson(given[name]) ? given[name] : {}), listChanged: true }]);
  return { ...result, capabilities: { ...(logs && { logging: {} }), ...given, ...Object.fromEntries(lists) } };
}

/**
 * Adapts a program's response to the declared capabilities: a list that the program lacks is empty.
 * @param request the client's request
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

/** Whether a request needs no session, because it carries its own protocol version. */
export function isStateless({ params }: Json): boolean {
  const meta = isJson(params) ? params['_meta'] : undefined;
  return isJson(meta) && 'io.modelcontextprotocol/protocolVersion' in meta;
}
