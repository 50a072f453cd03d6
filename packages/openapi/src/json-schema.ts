import type { JsonObject } from '@decorum/core';

import { entriesOf, isObject, own } from './json.js';
import type { OpenDocument } from './open-document.js';
import { isUsablePattern, keywordsOf, orNull } from './schema-keywords.js';

/** Whether a schema is for what is sent to the API, or for what it answers. */
export type Direction = 'input' | 'output';

/**
 * Caps on the characters of a schema, roughly. What goes beyond is left open: models read each schema, and the whole of
 * some documents hangs together.
 */
const MAX_CHARACTERS = { input: 40_000, output: 12_000 };
/** The characters of a part without its texts. */
const PER_PART = 40;
/** What is nested deeper within one definition is left open. */
const MAX_DEPTH = 20;
const MAX_VALUES = 1000;

// Not `not`, `if` and its branches: a schema that is converted may accept more, and these would then accept less.
const ONE = ['items', 'contains', 'propertyNames', 'unevaluatedItems'] as const;
const LISTS = ['allOf', 'anyOf', 'prefixItems'] as const;

const TEXTS = ['description', 'title', 'enum', 'examples', 'default', 'const'];

/** The characters of the texts and values of a schema. */
const lengthOf = (keywords: JsonObject): number =>
  TEXTS.reduce((sum, name) => sum + (keywords[name] === undefined ? 0 : JSON.stringify(keywords[name]).length), 0);

const NONE: ReadonlySet<string> = new Set();

/** Where the fields of an object are converted, and which of them are hidden. */
interface Place {
  readonly depth: number;
  readonly hidden: ReadonlySet<string>;
}

/** Converts schemas of a document to one JSON Schema 2020-12, with its definitions. */
export class SchemaConverter {
  readonly #names = new Map<unknown, string>();
  readonly #taken = new Set<string>();
  readonly #pending: (readonly [name: string, target: unknown])[] = [];
  readonly #hidden = new WeakMap<JsonObject, ReadonlySet<string>>();
  #left: number;
  /** Whether something was left out for lack of room. */
  #isCut = false;

  constructor(
    private readonly document: OpenDocument,
    private readonly direction: Direction,
  ) {
    this.#left = MAX_CHARACTERS[direction];
  }

  /**
   * Converts a schema. References lead to `definitions()`.
   * @param hidden fields that a schema around it hides, and that it can't require
   */
  convert(schema: unknown, depth = 0, hidden: ReadonlySet<string> = NONE): JsonObject {
    if (!isObject(schema)) return schema === false ? { not: {} } : {};
    this.#left -= PER_PART;
    if (this.#left < 0) this.#isCut = true;
    if (this.#left < 0 || depth > MAX_DEPTH) return {};
    const ref = own(schema, '$ref') ?? own(schema, '$dynamicRef');
    const converted = typeof ref === 'string' ? this.#reference(ref, schema) : this.#inline(schema, depth, hidden);
    return schema['nullable'] === true ? orNull(converted) : converted;
  }

  /** The same, without a reference at the root. */
  convertRoot(schema: unknown): JsonObject {
    return this.convert(this.resolved(schema));
  }

  /** The schema that a schema is, or refers to. */
  resolved(schema: unknown): JsonObject {
    let target = schema;
    for (let hops = 0; hops < 32 && typeof own(target, '$ref') === 'string'; hops += 1) {
      target = this.document.references.find(own(target, '$ref') as string);
    }
    return isObject(target) ? target : {};
  }

  /**
   * The definitions that the schemas converted so far refer to, directly or not. Those that don't fit are open as a whole:
   * with a part of each, a small change of the document would open and close parts of many schemas.
   */
  definitions(): JsonObject {
    const definitions: Record<string, JsonObject> = {};
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
      const [name, target] = next;
      definitions[name] = this.#whole(target);
    }
    return definitions;
  }

  /** Converts a definition as a whole, or not at all. One that is most of the schema is cut. */
  #whole(target: unknown): JsonObject {
    const left = this.#left;
    const isLarge = left > MAX_CHARACTERS[this.direction] / 2;
    const pending = this.#pending.length;
    this.#isCut = false;
    const converted = this.convert(target);
    if (!this.#isCut || isLarge) return converted;
    this.#left = left;
    for (const [name, forgotten] of this.#pending.splice(pending)) {
      this.#names.delete(forgotten);
      this.#taken.delete(name);
    }
    return {};
  }

  #reference(ref: string, { description, summary }: JsonObject): JsonObject {
    const target = this.document.references.find(ref);
    // references in a circle describe nothing
    if (!isObject(target) || typeof this.resolved(target)['$ref'] === 'string') return {};
    const known = this.#names.get(target);
    const name = known ?? this.#nameOf(ref);
    if (known === undefined) {
      this.#names.set(target, name);
      this.#pending.push([name, target]);
    }
    return { $ref: `#/$defs/${name}`, ...this.text(description ?? summary) };
  }

  /** A description, if there is room for it. */
  text(description: unknown): JsonObject {
    const into = keywordsOf({ description }, this.direction);
    this.#charge(lengthOf(into), () => delete into['description']);
    return into;
  }

  /** Takes characters from what is left. If they are too many, nothing is taken. */
  #charge(characters: number, leaveOut: () => void): void {
    if (characters <= this.#left) return void (this.#left -= characters);
    this.#isCut = true;
    leaveOut();
  }

  #nameOf(ref: string): string {
    const last =
      ref
        .slice(ref.lastIndexOf('/') + 1)
        .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
        .slice(0, 64) || 'schema';
    // a member of this name would be no definition
    const base = last === '__proto__' ? 'proto' : last;
    let name = base;
    for (let count = 2; this.#taken.has(name); count += 1) name = `${base}_${count}`;
    this.#taken.add(name);
    return name;
  }

  #inline(schema: JsonObject, depth: number, around: ReadonlySet<string>): JsonObject {
    const ownHidden = this.#hiddenIn(schema);
    const hidden = around.size === 0 ? ownHidden : new Set([...around, ...ownHidden]);
    const into = keywordsOf(schema, this.direction);
    this.#charge(lengthOf(into), () => TEXTS.forEach((name) => delete into[name]));
    const part = (value: unknown) => this.convert(value, depth + 1);
    // about the same object
    const facet = (value: unknown) => this.convert(value, depth + 1, hidden);
    for (const name of ONE) if (isObject(schema[name])) into[name] = part(schema[name]);
    // a list of schemas, as older drafts have it
    const { items } = schema;
    for (const name of LISTS) {
      const list = name === 'prefixItems' && Array.isArray(items) ? items : schema[name];
      if (Array.isArray(list) && list.length > 0)
        into[name] = list.slice(0, MAX_VALUES).map(name === 'prefixItems' ? part : facet);
    }
    const { oneOf } = schema;
    if (Array.isArray(oneOf) && oneOf.length > 0) addAlternatives(oneOf.slice(0, MAX_VALUES).map(facet), into);
    this.#properties(schema, into, { depth, hidden });
    const { enum: values } = into;
    // models read each value
    if (Array.isArray(values) && values.length > MAX_VALUES) delete into['enum'];
    return into;
  }

  /** Some clients take what each object inherits for fields of a result. */
  #isUsable(name: string): boolean {
    return name !== '__proto__' && (this.direction === 'input' || !(name in Object.prototype));
  }

  /** `readOnly` fields are not sent, and `writeOnly` fields don't come back. */
  #isHidden(field: unknown): boolean {
    return this.resolved(field)[this.direction === 'input' ? 'readOnly' : 'writeOnly'] === true;
  }

  /** The fields that a schema hides, or one of those that it extends. */
  #hiddenIn(schema: JsonObject, depth = 0): ReadonlySet<string> {
    const known = this.#hidden.get(schema);
    if (known !== undefined) return known;
    const names = entriesOf(schema['properties'])
      .filter(([, value]) => this.#isHidden(value))
      .map(([name]) => name);
    this.#hidden.set(schema, new Set(names));
    const parts = Array.isArray(schema['allOf']) && depth < MAX_DEPTH ? (schema['allOf'] as unknown[]) : [];
    const all = parts.slice(0, MAX_VALUES).flatMap((part) => [...this.#hiddenIn(this.resolved(part), depth + 1)]);
    const hidden = new Set([...names, ...all].slice(0, MAX_VALUES));
    this.#hidden.set(schema, hidden);
    return hidden;
  }

  #properties(schema: JsonObject, into: Record<string, unknown>, { depth, hidden }: Place): void {
    const entries = entriesOf(schema['properties']).filter(([name]) => this.#isUsable(name));
    const length = entries.reduce((sum, [name]) => sum + name.length, 0);
    if (length > this.#left) this.#isCut = true;
    if (entries.length > MAX_VALUES || length > this.#left) return void delete into['required'];
    this.#left -= length;
    const left = entries.filter(([, value]) => !this.#isHidden(value));
    if (entries.length > 0) {
      into['properties'] = Object.fromEntries(left.map(([name, value]) => [name, this.convert(value, depth + 1)]));
    }
    const { required } = into;
    if (Array.isArray(required))
      into['required'] = required.filter((name) => !hidden.has(String(name)) && this.#isUsable(String(name)));
    const { additionalProperties: more } = schema;
    if (isObject(more)) into['additionalProperties'] = this.convert(more, depth + 1);
    // a field that an API adds later is no mistake of its answer
    if (typeof more === 'boolean' && this.direction === 'input') into['additionalProperties'] = more;
    const patterns = entriesOf(schema['patternProperties'])
      .slice(0, MAX_VALUES)
      .filter(([pattern]) => isUsablePattern(pattern, this.direction));
    if (patterns.length > 0) {
      into['patternProperties'] = Object.fromEntries(
        patterns.map(([name, value]) => [name, this.convert(value, depth + 1)]),
      );
    }
  }
}

/** What fits exactly one schema before it is converted, or is told by a discriminator, may fit several afterwards. */
function addAlternatives(oneOf: readonly JsonObject[], into: Record<string, unknown>): void {
  const { anyOf, allOf = [] } = into;
  if (anyOf === undefined) into['anyOf'] = oneOf;
  else into['allOf'] = [...(allOf as JsonObject[]), { anyOf: oneOf }];
}

/** A schema with the definitions that it refers to. */
export function withDefinitions(schema: JsonObject, converter: SchemaConverter): JsonObject {
  const definitions = converter.definitions();
  return Object.keys(definitions).length === 0 ? schema : { ...schema, $defs: definitions };
}
