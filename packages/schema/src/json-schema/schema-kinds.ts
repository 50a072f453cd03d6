import { isObject, type JsonObject } from '../values/json.js';
import { resolve } from './strings.js';

/** The JSON Schema type of a value. Whole numbers have the type `integer`. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

/** The types of values that a schema allows. */
export class Kinds {
  readonly #names: ReadonlySet<unknown>;

  constructor(names: readonly unknown[]) {
    this.#names = new Set(names);
  }

  /** Whether a value has one of the types. Unsafe integers don't count as `integer`. */
  admits(value: unknown): boolean {
    const kind = kindOf(value);
    if (kind !== 'integer') return this.#names.has(kind);
    return this.#names.has('number') || (this.#names.has('integer') && Number.isSafeInteger(value));
  }

  has(kind: string): boolean {
    return this.#names.has(kind);
  }

  /** Whether this is the only type, except for `null`. */
  isOnly(kind: string): boolean {
    return this.has(kind) && [...this.#names].every((name) => name === kind || name === 'null');
  }

  /** The types in both sets. */
  and(other: Kinds): Kinds {
    const common = [...this.#names].filter((name) => other.has(String(name)));
    const whole = (this.has('integer') && other.has('number')) || (this.has('number') && other.has('integer'));
    return new Kinds(whole ? [...common, 'integer'] : common);
  }

  /** The types in either set. */
  or(other: Kinds): Kinds {
    return new Kinds([...this.#names, ...other.#names]);
  }
}

/** The types that the schemas within a schema allow. Undefined if a schema allows all types. */
export class SchemaKinds {
  readonly #root: JsonObject;
  readonly #known = new WeakMap<JsonObject, Kinds | undefined>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  of(schema: JsonObject): Kinds | undefined {
    if (this.#known.has(schema)) return this.#known.get(schema);
    // for recursive schemas
    this.#known.set(schema, undefined);
    const constraints = this.#constraintsOf(schema).filter((kinds) => kinds !== undefined);
    const [first, ...others] = constraints;
    const kinds = others.reduce((all, each) => all?.and(each), first);
    this.#known.set(schema, kinds);
    return kinds;
  }

  #constraintsOf(schema: JsonObject): (Kinds | undefined)[] {
    const { type, enum: values, const: only, allOf } = schema;
    const target = resolve(schema, this.#root);
    return [
      type === undefined ? undefined : new Kinds([type].flat()),
      Array.isArray(values) ? new Kinds(values.map(kindOf)) : undefined,
      only === undefined ? undefined : new Kinds([kindOf(only)]),
      target === schema ? undefined : this.of(target),
      ...(Array.isArray(allOf) ? allOf.filter(isObject).map((part) => this.of(part)) : []),
      ...[schema['anyOf'], schema['oneOf']].map((branches) => this.#ofAny(branches)),
    ];
  }

  #ofAny(branches: unknown): Kinds | undefined {
    if (!Array.isArray(branches)) return undefined;
    const each = branches.map((branch: unknown) => (isObject(branch) ? this.of(branch) : undefined));
    return each.reduce((all, kinds) => (all && kinds ? all.or(kinds) : undefined), new Kinds([]));
  }
}
