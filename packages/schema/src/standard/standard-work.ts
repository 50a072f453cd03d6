import { isObject, type JsonObject } from '../values/json.js';
import { sizeOf, TOO_COMPLEX } from '../validation/bounded-work.js';
import { expectationOf, readablePath } from '../validation/problems.js';
import { kindOf } from '../json-schema/schema-kinds.js';
import type { Problem } from '../shape.js';
import { type Guard, LONGEST, LONGEST_NAME, MATCHES } from './standard-guard.js';
import { resolve } from '../json-schema/strings.js';

/**
 * Cap on the problems that a library may have to report. Libraries take up to 15 microseconds for each, and have no
 * way to stop early.
 */
const MAX_FAILURES = 500;

/** Cap on the values that a library may look at because of references, which may reach a value by several paths. */
const MIN_VISITS = 10_000;
const VISITS_PER_VALUE = 10;

/** Longer texts aren't matched here: their pattern costs the library as much, and its problem only once. */
const MAX_MATCHED = 1000;

class Refused extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super();
  }
}

/** Ends the visit of an alternative that has too many problems. Another one may fit. */
class Stopped extends Error {}

/** The place of a value. Linked, because most places are never written. */
interface Place {
  readonly key: string;
  readonly parent: Place | undefined;
}

/** Something that a library would report. Described only if it is reported. */
interface Failure {
  readonly place: Place | undefined;
  readonly keyword: string;
  readonly limit: unknown;
}

function describe({ place, keyword, limit }: Failure): Problem {
  const keys: string[] = [];
  for (let at = place; at !== undefined; at = at.parent) keys.push(at.key);
  return { path: readablePath(keys.toReversed()), expected: expectationOf(keyword, limit) };
}

const patterns = new Map<string, RegExp>();

function matches(text: string, source: string, flags = ''): boolean {
  if (text.length > MAX_MATCHED) return true;
  const key = `/${source}/${flags}`;
  let pattern = patterns.get(key);
  if (pattern === undefined) patterns.set(key, (pattern = new RegExp(source, flags)));
  pattern.lastIndex = 0;
  return pattern.test(text);
}

type Rule = (value: never, limit: never) => boolean;

/** Libraries count either characters or UTF-16 units. */
const isLonger = (text: string, limit: number): boolean =>
  text.length > limit && (text.length > 2 * limit || Array.from(text).length > limit);

/** The keywords that are judged, by the kind of value. */
const TEXT: Readonly<Record<string, Rule>> = {
  minLength: (text: string, limit: number) => text.length >= limit,
  maxLength: (text: string, limit: number) => !isLonger(text, limit),
  pattern: (text: string, source: string) => matches(text, source),
  [MATCHES]: (text: string, all: readonly (readonly [string, string])[]) =>
    all.every(([source, flags]) => matches(text, source, flags)),
};
const NUMBER: Readonly<Record<string, Rule>> = {
  minimum: (value: number, limit: number) => value >= limit,
  maximum: (value: number, limit: number) => value <= limit,
  exclusiveMinimum: (value: number, limit: number) => value > limit,
  exclusiveMaximum: (value: number, limit: number) => value < limit,
};
const LIST: Readonly<Record<string, Rule>> = {
  minItems: (list: readonly unknown[], limit: number) => list.length >= limit,
  maxItems: (list: readonly unknown[], limit: number) => list.length <= limit,
};

function isOfType(value: unknown, type: unknown): boolean {
  const kind = kindOf(value);
  return [type].flat().some((each) => each === kind || (each === 'number' && kind === 'integer'));
}

/** Follows the work of a library for one value. */
class Work {
  #failures = 0;
  /** The failures at which the visit ends: of the whole value, or of the alternative that is being tried. */
  #limit = MAX_FAILURES;
  #isTrying = false;
  #visits = 0;
  #first: Failure | undefined;
  /** What is known about objects and lists, by the target of a reference. */
  readonly #known = new Map<JsonObject, Map<unknown, boolean>>();
  readonly #guard: Guard;
  readonly #maxVisits: number;

  constructor(guard: Guard, value: unknown) {
    this.#guard = guard;
    this.#maxVisits = Math.max(MIN_VISITS, VISITS_PER_VALUE * sizeOf(value));
  }

  /** Whether a value fits. Looks at all of it, as libraries do. */
  visit(value: unknown, schema: unknown, place?: Place): boolean {
    if (schema === false) return this.#fail(place, 'false schema', undefined);
    if (!isObject(schema)) return true;
    const isFit = typeof schema['$ref'] !== 'string' || this.#follow(value, schema, place);
    return this.#judge(value, schema, place) && isFit;
  }

  #follow(value: unknown, schema: JsonObject, place: Place | undefined): boolean {
    const target = resolve(schema, this.#guard.json);
    if (target === schema) return true;
    const known = this.#guard.remembers && typeof value === 'object' ? this.#knownBy(target) : undefined;
    const isKnown = known?.get(value);
    if (isKnown !== undefined) return isKnown;
    this.#visits += 1;
    if (this.#visits > this.#maxVisits) throw new Refused(TOO_COMPLEX);
    const isFit = this.visit(value, target, place);
    known?.set(value, isFit);
    return isFit;
  }

  #knownBy(target: JsonObject): Map<unknown, boolean> {
    let known = this.#known.get(target);
    if (known === undefined) this.#known.set(target, (known = new Map<unknown, boolean>()));
    return known;
  }

  #judge(value: unknown, schema: JsonObject, place: Place | undefined): boolean {
    const { type, const: only, enum: values } = schema;
    if (Array.isArray(value) && type === 'object' && this.#guard.readsLists)
      return this.#fields({ ...value }, schema, place);
    if (type !== undefined && !isOfType(value, type)) return this.#fail(place, 'type', type);
    if (only !== undefined && !Object.is(only, value) && typeof only !== 'object') {
      return this.#fail(place, 'const', only);
    }
    if (Array.isArray(values) && !values.includes(value)) return this.#fail(place, 'enum', values);
    let isFit = this.#inside(value, schema, place);
    for (const part of listOf(schema['allOf'])) isFit = this.visit(value, part, place) && isFit;
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      const branches = schema[keyword];
      if (Array.isArray(branches)) isFit = this.#oneOf(value, { branches, keyword, place }) && isFit;
    }
    return isFit;
  }

  #inside(value: unknown, schema: JsonObject, place: Place | undefined): boolean {
    if (typeof value === 'string') return this.#text(value, schema, place);
    if (typeof value === 'number') return this.#rules(value, { rules: NUMBER, schema, place });
    if (Array.isArray(value)) return this.#list(value, schema, place);
    return !isObject(value) || this.#fields(value, schema, place);
  }

  #text(text: string, schema: JsonObject, place: Place | undefined): boolean {
    const longest = schema[LONGEST] as number | undefined;
    if (longest !== undefined && text.length > longest) {
      throw new Refused([describe({ place, keyword: 'maxLength', limit: longest })]);
    }
    return this.#rules(text, { rules: TEXT, schema, place });
  }

  #rules(
    value: unknown,
    { rules, schema, place }: { rules: Readonly<Record<string, Rule>>; schema: JsonObject; place: Place | undefined },
  ): boolean {
    let isFit = true;
    for (const keyword in rules) {
      const limit = schema[keyword];
      if (limit === undefined || rules[keyword]?.(value as never, limit as never)) continue;
      isFit = keyword === MATCHES ? this.#mismatch(place, limit) : this.#fail(place, keyword, limit);
    }
    return isFit;
  }

  #mismatch(place: Place | undefined, all: unknown): false {
    const [[source] = []] = all as readonly (readonly string[])[];
    return this.#fail(place, 'pattern', source);
  }

  #list(list: readonly unknown[], schema: JsonObject, place: Place | undefined): boolean {
    const first = listOf(schema['prefixItems']);
    let isFit = this.#rules(list, { rules: LIST, schema, place });
    for (const [index, item] of list.entries()) {
      const part = index < first.length ? first[index] : schema['items'];
      if (part === undefined) break;
      isFit = this.visit(item, part, { key: String(index), parent: place }) && isFit;
    }
    return isFit;
  }

  #fields(value: JsonObject, schema: JsonObject, place: Place | undefined): boolean {
    const properties = schema['properties'] as JsonObject | undefined;
    const rest = schema['patternProperties'] === undefined ? schema['additionalProperties'] : undefined;
    let isFit = true;
    for (const key of listOf(schema['required'])) {
      if (!Object.hasOwn(value, String(key))) {
        isFit = this.#fail({ key: String(key), parent: place }, 'required', undefined);
      }
    }
    for (const key of Object.keys(value)) {
      const isKnown = properties !== undefined && Object.hasOwn(properties, key);
      const at = { key, parent: place };
      isFit = this.#name(at, schema) && isFit;
      if (isKnown) isFit = this.visit(value[key], properties[key], at) && isFit;
      else if (rest === false) isFit = this.#fail(at, 'additionalProperties', undefined);
      else if (rest !== undefined) isFit = this.visit(value[key], rest, at) && isFit;
    }
    return isFit;
  }

  /** Judges the name of a field. A library may read it as a number, so only rules about texts count. */
  #name(at: Place, { propertyNames: names, [LONGEST_NAME]: longest }: JsonObject): boolean {
    if (longest !== undefined) this.#text(at.key, longest as JsonObject, at);
    return !isObject(names) || names['type'] !== 'string' || this.#text(at.key, names, at);
  }

  /** The failures of alternatives count only if none fits, because the library then describes all of them. */
  #oneOf(
    value: unknown,
    { branches, keyword, place }: { branches: readonly unknown[]; keyword: string; place: Place | undefined },
  ): boolean {
    const { triesAll } = this.#guard;
    const failures = this.#failures;
    const first = this.#first;
    const possible = keyword === 'anyOf' && triesAll ? branches : branches.filter((each) => this.#mayBe(value, each));
    if (possible.some((branch) => this.#try(value, branch, place))) {
      this.#failures = failures;
      this.#first = first;
      return true;
    }
    this.#first = first;
    return this.#fail(place, keyword, undefined);
  }

  /** Whether an alternative fits. */
  #try(value: unknown, branch: unknown, place: Place | undefined): boolean {
    const limit = this.#limit;
    const isTrying = this.#isTrying;
    this.#limit = this.#failures + MAX_FAILURES;
    this.#isTrying = true;
    try {
      return this.visit(value, branch, place);
    } catch (error) {
      if (error instanceof Stopped) return false;
      throw error;
    } finally {
      this.#limit = limit;
      this.#isTrying = isTrying;
    }
  }

  /** Whether the constants of an alternative, such as its discriminator, admit a value. */
  #mayBe(value: unknown, branch: unknown): boolean {
    if (!isObject(value) || !isObject(branch)) return true;
    const { properties } = resolve(branch, this.#guard.json);
    if (!isObject(properties)) return true;
    return Object.entries(properties).every(([key, field]) => {
      const { const: only, enum: values } = Object(field) as JsonObject;
      if (!Object.hasOwn(value, key)) return true;
      if (Array.isArray(values)) return values.includes(value[key]);
      return only === undefined || typeof only === 'object' || only === value[key];
    });
  }

  #fail(place: Place | undefined, keyword: string, limit: unknown): false {
    this.#failures += 1;
    this.#first ??= { place, keyword, limit };
    if (this.#failures > this.#limit && this.#guard.isReliable) {
      throw this.#isTrying ? new Stopped() : new Refused([describe(this.#first)]);
    }
    return false;
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * Judges whether a library would take too long for a value: because it would have too many problems to report, because
 * a recursive schema reaches values by too many paths, or because a text is too long for its pattern.
 * @returns the reason; undefined for a value that the library may check, which isn't necessarily valid
 */
export function refusal(guard: Guard, value: unknown): readonly Problem[] | undefined {
  try {
    new Work(guard, value).visit(value, guard.json);
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return error.problems;
    throw error;
  }
}
