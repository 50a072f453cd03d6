import { INITIALIZE } from '@decorum/core/internal';

import { textAt, withText } from './json-text.js';
import { isJson, type Json, type Written } from './message.js';

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

/**
 * Declares all lists, because the next edit may add them, and logging if `logs` is set. Clients ignore `list_changed`
 * and log messages if the capability wasn't declared.
 */
function declareLists({ message, text }: Written<Json>, logs: boolean): string {
  const { capabilities } = message['result'] as Json;
  let declared = text;
  for (const name of LISTED) declared = withText(declared, ['result', 'capabilities', name, 'listChanged'], 'true');
  const hasLogging = isJson(capabilities) && 'logging' in capabilities;
  return logs && !hasLogging ? withText(declared, ['result', 'capabilities', 'logging'], '{}') : declared;
}

/**
 * The text of a program's response, adapted to the declared capabilities: a list that the program lacks is empty.
 * @param request the client's request
 */
export function adapt(response: Written<Json>, request: Json): string {
  const { method } = request;
  const { message, text } = response;
  const { result, error } = message;
  if (isJson(result)) {
    return method === INITIALIZE || method === DISCOVER ? declareLists(response, method === INITIALIZE) : text;
  }
  if (!isJson(error) || error['code'] !== METHOD_NOT_FOUND) return text;
  if (method !== SET_LEVEL && !isList(method)) return text;
  const empty = isList(method) && { [LISTS[method]]: [], ...(isStateless(request) && COMPLETE) };
  return `{"jsonrpc":"2.0","id":${textAt(text, ['id'])},"result":${JSON.stringify(empty || {})}}`;
}

/** Whether a response shows that the program has handled the request as MCP. Other protocols use JSON-RPC, too. */
export function isMcpAnswer({ result }: Json, request: Json): boolean {
  const { method } = request;
  if (!isJson(result)) return false;
  if (method === INITIALIZE) return typeof result['protocolVersion'] === 'string';
  // the client alone decides what its request claims to be, so the answer must show it
  if (isStateless(request)) return typeof result['resultType'] === 'string';
  return isList(method) && Array.isArray(result[LISTS[method]]);
}

const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** Whether a request needs no session, because it carries its own protocol version. */
export function isStateless({ params }: Json): boolean {
  const meta = isJson(params) ? params['_meta'] : undefined;
  return isJson(meta) && 'io.modelcontextprotocol/protocolVersion' in meta;
}
