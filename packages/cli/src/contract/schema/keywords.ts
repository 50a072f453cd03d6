import { isObject } from '@decorum/core/internal';

import { sorted } from '../layout.js';

/** Keywords that say nothing about which values are valid. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
]);

/** Keywords whose members are schemas, by names of the user. */
const NAMED: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/** Keywords whose values are data. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'required', 'dependentRequired', 'type']);

/** What a schema allows, as text: the same for schemas that differ only in annotations and the order of members. */
export function meaningOf(schema: unknown): string {
  if (!isObject(schema)) return JSON.stringify(schema) ?? '';
  const meaning = meanings.get(schema) ?? JSON.stringify(bare(schema));
  meanings.set(schema, meaning);
  return meaning;
}

const meanings = new WeakMap<object, string>();

function bare(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bare);
  if (!isObject(schema)) return schema;
  const kept = Object.keys(schema).filter((key) => !ANNOTATIONS.has(key) && !key.startsWith('x-'));
  return Object.fromEntries(kept.sort().map((key) => [key, bareMember(key, schema[key])]));
}

function bareMember(key: string, value: unknown): unknown {
  if (DATA.has(key)) return sorted(value);
  if (!NAMED.has(key) || !isObject(value)) return bare(value);
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, bare(value[name])]));
}

/** Caps on schemas: those of strangers may be made to keep us busy. */
const MAX_DEPTH = 200;
const MAX_VALUES = 2_000_000;

/** What is wrong with the size of a schema; undefined if nothing. */
export function oversize(schema: unknown): string | undefined {
  let layer: unknown[] = [schema];
  let count = 0;
  for (let depth = 0; layer.length > 0; depth += 1) {
    count += layer.length;
    if (depth > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} levels deep`;
    if (count > MAX_VALUES) return `it has more than ${MAX_VALUES} values`;
    layer = layer.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return undefined;
}
