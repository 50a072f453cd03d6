import { startupError } from '../protocol/errors.js';
import { isObject } from '../protocol/jsonrpc.js';
import type { JsonObject } from '../protocol/model.js';
import { REVISIONS } from '../protocol/revisions/index.js';
import type { Context } from './context.js';

/**
 * Something that the specification leaves to extensions: methods of its own, which only clients that declare the
 * extension can use. It is given to a server as an option.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/index
 */
export interface Extension {
  /** A reverse domain name and a name, such as `com.example/feature`. */
  readonly id: string;
  /** What the server declares under the id. */
  readonly settings?: JsonObject;
  /** Handlers by method name. They return the result, and throw `McpError`s. */
  readonly methods?: Readonly<
    Record<string, (params: JsonObject, context: Context) => JsonObject | Promise<JsonObject>>
  >;
}

// a prefix of labels and a name (MCP, "_meta")
const EXTENSION_ID = /^(?:[a-z](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?\/[a-z0-9](?:[\w.-]*[a-z0-9])?$/i;

/**
 * Refuses extensions of which one would take the place of another, or could never be reached.
 * @throws {DecorumError} `DECORUM_INVALID_EXTENSION`
 */
export function checkExtensions(extensions: readonly Extension[]): readonly Extension[] {
  const ids = new Set<string>();
  const owners = new Map<string, string>();
  for (const given of extensions) {
    const extension: Extension = isObject(given) ? given : { id: String(given) };
    const { id, methods = {}, settings = {} } = extension;
    const wrong = (problem: string) => startupError('DECORUM_INVALID_EXTENSION', id, problem);
    if (!isObject(methods) || !isObject(settings))
      throw wrong('has `methods` or `settings` that are no object. Give one');
    if (!EXTENSION_ID.test(id)) {
      throw wrong('has no valid id. Use a reverse domain name and a name, as in "com.example/feature"');
    }
    if (ids.has(id)) throw wrong('is listed twice. Leave one out, or make one of both');
    ids.add(id);
    for (const [method, handle] of Object.entries(methods)) {
      if (typeof handle !== 'function')
        throw wrong(`has "${method}" among its methods, which is no function. Give one`);
      const owner = REVISIONS.some((revision) => revision.methods.has(method)) ? 'the protocol' : owners.get(method);
      if (owner !== undefined) throw wrong(`has the method "${method}", which ${owner} has. Call it otherwise`);
      owners.set(method, `"${id}"`);
    }
  }
  return extensions;
}
