import { isObject, revisionOf } from '@decorum/core/internal';
import type { JsonRpcMessage } from '@decorum/core/transport';
import type { JsonObject } from '@decorum/core';

import type { ListedTool } from './carrier.js';
import type { RequestHeaders } from './http-request.js';

/** The `_meta` field in which a stateless request names its revision. */
const VERSION = 'io.modelcontextprotocol/protocolVersion';

/** The revision that a stateless request names; undefined for messages in a session. */
export function statelessVersion(message: JsonRpcMessage): string | undefined {
  const meta = 'params' in message ? message.params?.['_meta'] : undefined;
  const version = isObject(meta) ? meta[VERSION] : undefined;
  return typeof version === 'string' && revisionOf(version)?.era !== 'stateful' ? version : undefined;
}

/** Encodes a value for a header. Unsafe text becomes base64 (MCP, "Transports", mirrored headers). */
function encode(value: unknown): string {
  const text = String(value);
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** Cap on the tools whose mirrored arguments are known; the oldest are forgotten first. */
const MAX_MIRRORED = 10_000;

/** An argument of a tool that clients mirror in a header. */
interface Mirrored {
  readonly header: string;
  readonly path: readonly string[];
}

/** Finds the properties of a schema that have `x-mcp-header`. */
function mirroredIn(schema: unknown, path: readonly string[] = []): Mirrored[] {
  if (!isObject(schema) || !isObject(schema['properties'])) return [];
  return Object.entries(schema['properties']).flatMap(([name, property]) => {
    const here = [...path, name];
    const header = isObject(property) ? property['x-mcp-header'] : undefined;
    const own = typeof header === 'string' ? [{ header: `mcp-param-${header.toLowerCase()}`, path: here }] : [];
    return [...own, ...mirroredIn(property, here)];
  });
}

/** The headers that repeat parts of a stateless message, for proxies that route by headers. */
export class RoutingHeaders {
  private readonly mirrored = new Map<unknown, readonly Mirrored[]>();

  /** Learns which arguments to mirror. */
  learn(tools: readonly ListedTool[]): void {
    for (const { name, inputSchema } of tools) {
      this.mirrored.delete(name);
      const found = mirroredIn(inputSchema);
      if (found.length > 0) this.mirrored.set(name, found);
    }
    // a server may have other tools each time
    for (const name of this.mirrored.keys()) {
      if (this.mirrored.size <= MAX_MIRRORED) break;
      this.mirrored.delete(name);
    }
  }

  /** The headers of one message. */
  of(message: JsonRpcMessage): RequestHeaders {
    if (!('method' in message)) return {};
    const { method, params = {} } = message;
    const subject = subjectOf(method, params);
    const args = isObject(params['arguments']) ? params['arguments'] : {};
    const own = method === 'tools/call' ? (this.mirrored.get(params['name']) ?? []) : [];
    const copies = own.flatMap(({ header, path }) => {
      const value = path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), args);
      return (value ?? undefined) === undefined ? [] : [[header, encode(value)] as const];
    });
    return {
      'mcp-method': method,
      ...(typeof subject === 'string' && { 'mcp-name': encode(subject) }),
      ...Object.fromEntries(copies),
    };
  }
}

/** The name, URI or task that a request is about. */
function subjectOf(method: string, params: JsonObject): unknown {
  if (method.startsWith('tasks/')) return params['taskId'];
  if (method === 'resources/read') return params['uri'];
  return method === 'tools/call' || method === 'prompts/get' ? params['name'] : undefined;
}
