import { type Json, pick, type Random } from './mutate.js';

type Schema = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 5;

/** Draws values that roughly fit a JSON Schema, with as many of its fields as possible. */
export class Sampler {
  constructor(
    private readonly root: Schema,
    private readonly random: Random,
  ) {}

  /** The schemas of the fields. The root may be a reference. */
  get fields(): Readonly<Record<string, Schema>> {
    const { $ref } = this.root;
    const { properties } = typeof $ref === 'string' ? this.find($ref) : this.root;
    return properties as Readonly<Record<string, Schema>>;
  }

  draw(schema = this.root, depth = 0): Json {
    const { $ref, $dynamicRef, const: only, enum: values, type, anyOf, oneOf, allOf } = schema;
    if (only !== undefined) return only as Json;
    if (Array.isArray(values)) return pick(values as Json[], this.random);
    const reference = ($ref ?? $dynamicRef) as string | undefined;
    if (reference !== undefined) return depth > MAX_DEPTH ? null : this.draw(this.find(reference), depth + 1);
    const branches = [anyOf ?? oneOf ?? allOf ?? []].flat() as Schema[];
    if (branches.length > 0 && !('properties' in schema)) return this.draw(pick(branches, this.random), depth + 1);
    const kind = 'properties' in schema ? 'object' : pick([type ?? 'string'].flat() as string[], this.random);
    if (kind === 'object') return this.object(schema, depth);
    if (kind === 'array') return this.array(schema, depth);
    return { integer: 7, number: 0.5, boolean: true, null: null }[kind] ?? 'text';
  }

  private object({ properties = {}, additionalProperties: more }: Schema, depth: number): Json {
    if (depth > MAX_DEPTH) return {};
    const members: [string, Json][] = [];
    for (const [key, inner] of Object.entries(properties as Record<string, Schema>)) {
      members.push([key, this.draw(inner, depth + 1)]);
    }
    if (typeof more === 'object') members.push(['more', this.draw(more as Schema, depth + 1)]);
    return Object.fromEntries(members);
  }

  private array({ items, prefixItems, contains }: Schema, depth: number): Json {
    if (depth > MAX_DEPTH) return [];
    const rest = typeof items === 'object' && !Array.isArray(items) ? [items, items] : [items ?? []];
    const each = [prefixItems ?? [], contains ?? [], rest].flat(2) as Schema[];
    return each.map((inner) => this.draw(inner, depth + 1));
  }

  private find(reference: string): Schema {
    const path = reference.split('/').slice(1);
    if (path.length === 0) return (this.root['$defs'] as Record<string, Schema>)[reference.slice(1)] ?? {};
    return path.reduce<unknown>((at, key) => (at as Schema)[key], this.root) as Schema;
  }
}

const NAMED = new Set(['properties', 'dependentRequired', 'dependencies', 'dependentSchemas']);

/** The names of all properties, and some of the strings that a schema allows, at any level. */
export function wordsOf(schema: unknown): { readonly keys: string[]; readonly values: Json[] } {
  const keys = new Set<string>();
  const values = new Set<Json>();
  const visit = (node: unknown, name: string): void => {
    if (name === 'const' && typeof node === 'string') values.add(node);
    if (name === 'enum') for (const value of (node as Json[]).slice(0, 3)) values.add(value);
    if (typeof node !== 'object' || node === null) return;
    if (NAMED.has(name)) for (const key of Object.keys(node)) keys.add(key);
    for (const [key, inner] of Object.entries(node)) visit(inner, key);
  };
  visit(schema, '');
  return { keys: [...keys], values: [...values] };
}
