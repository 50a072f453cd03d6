import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

/** A schema, or one of the schemas in it. */
export interface SchemaNode {
  readonly schema: JsonObject;
  /** `input.address.city`, `input.tags[]` */
  readonly path: string;
  readonly isRoot: boolean;
  /** Whether it describes a field by its name. */
  readonly isField: boolean;
}

const MAPS = ['patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'];
const SINGLE = [
  ['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems', 'propertyNames'],
  ['not', 'if', 'then', 'else', 'contains'],
].flat();

type Found = readonly [path: string, schema: unknown, isField?: boolean];

function childrenOf({ schema, path }: SchemaNode): Found[] {
  const entries = (key: string) => (isObject(schema[key]) ? Object.entries(schema[key]) : []);
  const list = (key: string) => (Array.isArray(schema[key]) ? schema[key] : []);
  return [
    ...entries('properties').map(([name, each]): Found => [`${path}.${name}`, each, true]),
    [`${path}[]`, schema['items']],
    ...MAPS.flatMap((key) => entries(key).map(([name, each]): Found => [`${path}.${key}.${name}`, each])),
    ...LISTS.flatMap((key) => list(key).map((each, at): Found => [`${path}.${key}[${at}]`, each])),
    ...SINGLE.map((key): Found => [`${path}.${key}`, schema[key]]),
  ];
}

/**
 * The schema itself and all schemas in it. References aren't followed, so circles end.
 * @param name what paths begin with
 */
export function* nodesOf(root: unknown, name: string): Generator<SchemaNode> {
  if (!isObject(root)) return;
  const waiting: SchemaNode[] = [{ schema: root, path: name, isRoot: true, isField: false }];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    for (const [path, schema, isField = false] of childrenOf(node).reverse()) {
      if (isObject(schema)) waiting.push({ schema, path, isRoot: false, isField });
    }
  }
}

/** The schema that a reference inside the root names: `#/$defs/Node`. */
export function resolved(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith('#')) return undefined;
  let found: unknown = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = Array.isArray(found) ? found[Number(key)] : isObject(found) ? found[key] : undefined;
  }
  return isObject(found) ? found : undefined;
}

/** The first reference that leads back to a schema it is in; undefined if there is none. */
export function circleIn(root: JsonObject): string | undefined {
  const known = new Set<string>();
  const visit = (schema: JsonObject, above: readonly string[]): string | undefined => {
    for (const { schema: node } of nodesOf(schema, '')) {
      const reference = node['$ref'];
      if (typeof reference !== 'string') continue;
      if (above.includes(reference)) return reference;
      const target = known.has(reference) ? undefined : resolved(root, reference);
      known.add(reference);
      const found = target && visit(target, [...above, reference]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return visit(root, ['#']);
}
