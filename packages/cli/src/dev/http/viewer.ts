import { INITIALIZE, newestOf } from '@decorum/core/transport';
import type { IncomingHttpHeaders } from 'node:http';

import { DISCOVER } from '../answers.js';
import { type Ask, type Lists, readLists } from '../lists.js';
import { isJson, type Json, notification, request } from '../message.js';
import type { Program } from '../program.js';
import { POSTED, SESSION } from './session.js';
import { type Answered, converse } from './upstream.js';

const STATELESS = newestOf('stateless').id;
const CLIENT = { name: 'decorum-dev', version: '1.0.0' };
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': STATELESS,
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A program as clients with certain credentials see it. */
export interface View {
  readonly path: string;
  /** `serverInfo` and more. */
  readonly about: Json;
  readonly lists: Lists;
}

interface Asking {
  readonly ask: Ask;
  readonly about: Json;
}

const infoOf = (result: Json): Json => {
  const meta = isJson(result['_meta']) ? result['_meta'] : {};
  const info = result['serverInfo'] ?? meta['io.modelcontextprotocol/serverInfo'];
  return isJson(info) ? info : {};
};

/** Connects without a session; undefined if the program doesn't support that. */
async function statelessly(post: (message: Json, headers: Json) => Promise<Answered>): Promise<Asking | undefined> {
  let count = 0;
  const ask: Ask = async (method, params) => {
    const message = request(`decorum-dev-${++count}`, method, { ...params, _meta: ENVELOPE });
    const answered = await post(message, { 'mcp-protocol-version': STATELESS, 'mcp-method': method });
    return answered.message ?? {};
  };
  const { result } = await ask(DISCOVER, {});
  return isJson(result) ? { ask, about: infoOf(result) } : undefined;
}

/** Connects with a session of the relay's own. */
async function inSession(post: (message: Json, headers: Json) => Promise<Answered>): Promise<Asking | undefined> {
  const { id: protocolVersion } = newestOf('stateful');
  const begun = await post(request(0, INITIALIZE, { protocolVersion, capabilities: {}, clientInfo: CLIENT }), {});
  const result = begun.message?.['result'];
  if (!isJson(result)) return undefined;
  const id = begun.headers[SESSION];
  const headers = {
    ...(typeof id === 'string' && { [SESSION]: id }),
    'mcp-protocol-version': String(result['protocolVersion']),
  };
  await post(notification('notifications/initialized'), headers);
  let count = 0;
  const ask: Ask = async (method, params) => (await post(request(++count, method, params), headers)).message ?? {};
  return { ask, about: infoOf(result) };
}

/**
 * Views a program as a client with these headers. Undefined if the client has no access, or no path serves MCP.
 * @param headers see `lasting`
 */
export async function look(
  program: Program,
  paths: readonly string[],
  headers: IncomingHttpHeaders,
): Promise<View | undefined> {
  for (const path of paths) {
    const post = (message: Json, more: Json) =>
      converse(program, {
        method: 'POST',
        path,
        headers: { ...headers, ...POSTED, ...(more as IncomingHttpHeaders) },
        body: JSON.stringify(message),
      });
    try {
      const asking = (await statelessly(post)) ?? (await inSession(post));
      if (asking) return { path, about: asking.about, lists: await readLists(asking.ask) };
    } catch {
      // the program has just ended, or does not speak HTTP
    }
  }
  return undefined;
}
