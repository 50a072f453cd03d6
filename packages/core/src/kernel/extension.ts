import { isObject, type JsonObject, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import { startupError } from '../protocol/errors.js';
import { REVISIONS } from '../protocol/revisions/index.js';
import type { Context } from './context.js';

/**
 * A protocol extension with methods of its own. Only clients that declare the extension can call them.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/index
 */
export interface Extension {
  /** A reverse domain name, a slash and a name, such as `com.example/feature`. */
  readonly id: string;
  /** Settings that the server declares for the extension. */
  readonly settings?: JsonObject;
  /** Handlers by method name. They return the result, or throw an `McpError`. */
  readonly methods?: Readonly<
    Record<string, (params: JsonObject, context: Context) => JsonObject | Promise<JsonObject>>
  >;
}

/** Their types are checked with errors of their own. */
const OPTIONS: OptionTypes<Extension> = { id: true, settings: true, methods: true };

// a prefix of labels and a name (MCP, "_meta")
const EXTENSION_ID = /^(?:[a-z](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?\/[a-z0-9](?:[\w.-]*[a-z0-9])?$/i;

/**
 * Rejects invalid extensions, and those that conflict with the protocol or with each other.
 * @throws {DecorumError} `DECORUM_INVALID_EXTENSION`, or `DECORUM_INVALID_OPTION` for an unknown option
 */
export function checkExtensions(extensions: readonly Extension[]): readonly Extension[] {
  const ids = new Set<string>();
  const owners = new Map<string, string>();
  for (const given of extensions) {
    const extension: Extension = isObject(given) ? given : { id: String(given) };
    const { id, methods = {}, settings = {} } = extension;
    const wrong = (problem: string) => startupError('DECORUM_INVALID_EXTENSION', id, problem);
    if (!isObject(methods) || !isObject(settings))
      throw wrong('has `methods` or `settings` that are not an object. Pass an object');
    if (!EXTENSION_ID.test(id)) {
      throw wrong('has an invalid id. Use a reverse domain name and a name, as in "com.example/feature"');
    }
    requireOptions(`The extension "${id}"`, extension, OPTIONS);
    if (ids.has(id)) throw wrong('is listed twice. Remove one, or merge them');
    ids.add(id);
    for (const [method, handle] of Object.entries(methods)) {
      if (typeof handle !== 'function') throw wrong(`has a method "${method}" that is not a function. Pass a function`);
      const owner = REVISIONS.some((revision) => revision.methods.has(method)) ? 'the protocol' : owners.get(method);
      if (owner !== undefined) throw wrong(`has the method "${method}", which belongs to ${owner}. Rename the method`);
      owners.set(method, `"${id}"`);
    }
  }
  return extensions;
}
