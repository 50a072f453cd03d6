import { startupError } from '../protocol/errors.js';
import { isObject } from '../protocol/jsonrpc.js';
import type { JsonObject } from '../protocol/model.js';
import type { MirroredArgument } from '../protocol/wire.js';

const KEYWORD = 'x-mcp-header';
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];

// a token (RFC 9110, section 5.6.2)
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * The arguments that the schema of a tool mirrors by `x-mcp-header`.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 * @throws {DecorumError} `DECORUM_INVALID_HEADER` for an unusable name or type, and for a place that no argument has for sure
 */
export function mirroredArguments(schema: JsonObject, where: string): readonly MirroredArgument[] {
  const wrong = (header: unknown, problem: string) =>
    startupError('DECORUM_INVALID_HEADER', where, String(header), problem);
  const mirrored: MirroredArgument[] = [];
  const visit = (node: JsonObject, path: readonly string[]) => {
    const properties = isObject(node['properties']) ? node['properties'] : {};
    for (const [name, property] of Object.entries(properties)) {
      if (!isObject(property)) continue;
      if (KEYWORD in property) mirrored.push(argumentOf(property, [...path, name], wrong));
      visit(property, [...path, name]);
    }
  };
  visit(schema, []);
  const headers = new Set(mirrored.map(({ header }) => header));
  if (headers.size < mirrored.length) throw wrong([...headers].join(), 'is used twice');
  if (occurrences(schema) > mirrored.length) {
    throw wrong(
      '',
      'stands where it depends on the value whether there is such an argument; only properties can be mirrored',
    );
  }
  return mirrored;
}

function argumentOf(
  { [KEYWORD]: name, type }: JsonObject,
  path: readonly string[],
  wrong: (header: unknown, problem: string) => Error,
): MirroredArgument {
  if (typeof name !== 'string' || !TOKEN.test(name)) throw wrong(name, 'is not a token (RFC 9110)');
  if (!TYPES.includes(type))
    throw wrong(name, 'belongs to an argument that is neither a string, an integer nor a boolean');
  return { header: `mcp-param-${name.toLowerCase()}`, path, type: type as MirroredArgument['type'] };
}

/** Keywords with schemas by names, which may be called like keywords. */
const NAMED = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);

/** Keywords with values, in which everything is data. */
const VALUES = new Set(['default', 'const', 'enum', 'examples']);

/** How often the keyword stands anywhere in the schema. */
function occurrences(node: unknown, isNamed = false): number {
  if (Array.isArray(node)) return node.reduce<number>((sum, item) => sum + occurrences(item), 0);
  if (!isObject(node)) return 0;
  return Object.entries(node).reduce((sum, [key, value]) => {
    if (isNamed) return sum + occurrences(value);
    if (VALUES.has(key)) return sum;
    return sum + (key === KEYWORD ? 1 : occurrences(value, NAMED.has(key)));
  }, 0);
}
