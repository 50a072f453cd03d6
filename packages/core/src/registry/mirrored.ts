import { isObject, type JsonObject, NAMED, VALUES } from '@decorum/schema/internal';

import { startupError } from '../protocol/errors.js';
import type { MirroredArgument } from '../protocol/wire.js';

const KEYWORD = 'x-mcp-header';
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];

// a token (RFC 9110, section 5.6.2)
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Finds the arguments that a tool's schema mirrors in headers with `x-mcp-header`.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 * @throws {DecorumError} `DECORUM_INVALID_HEADER` for an invalid name or type, a header used twice, or an argument that
 *   isn't a plain property, such as one under `anyOf`
 */
export function mirroredArguments(schema: JsonObject, where: string): readonly MirroredArgument[] {
  const wrong = (header: unknown, problem: string) =>
    startupError('DECORUM_INVALID_HEADER', where, String(header), problem);
  const mirrored: MirroredArgument[] = [];
  // path is undefined where the value decides whether the argument exists, as under anyOf
  const visit = (node: unknown, path?: readonly string[]): void => {
    if (Array.isArray(node)) for (const item of node) visit(item);
    if (!isObject(node)) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === KEYWORD) mirrored.push(argumentOf(node, path, wrong));
      else if (NAMED.has(key) && isObject(value)) {
        const isSure = key === 'properties' && path !== undefined;
        for (const [name, child] of Object.entries(value)) visit(child, isSure ? [...path, name] : undefined);
      } else if (!VALUES.has(key)) visit(value);
    }
  };
  visit(schema, []);
  const headers = new Set(mirrored.map(({ header }) => header));
  if (headers.size < mirrored.length) throw wrong([...headers].join(), 'is used twice');
  return mirrored;
}

function argumentOf(
  { [KEYWORD]: name, type }: JsonObject,
  path: readonly string[] | undefined,
  wrong: (header: unknown, problem: string) => Error,
): MirroredArgument {
  if (path === undefined || path.length === 0) {
    const problem = 'is on a schema that does not apply to every value; only plain properties can be mirrored';
    throw wrong('', problem);
  }
  if (typeof name !== 'string' || !TOKEN.test(name)) throw wrong(name, 'is not a token (RFC 9110)');
  if (!TYPES.includes(type)) throw wrong(name, 'is on an argument that is not a string, integer or boolean');
  return { header: `mcp-param-${name.toLowerCase()}`, path, type: type as MirroredArgument['type'] };
}
