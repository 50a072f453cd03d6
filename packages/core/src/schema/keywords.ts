import type { JsonObject } from '../protocol/model.js';
import type { Direction } from './class-facts.js';
import { type Complaints, unlessNull } from './value-rule.js';

/** Messages that the author gave to rules, by keyword. A symbol, so that they are never published. */
export const MESSAGES = Symbol('messages');

type Noted = JsonObject & { [MESSAGES]?: Record<string, (value: unknown) => string> };

/** The author's own words for a failed keyword, if there are any. */
export function ownMessage(schema: unknown, keyword: string): ((value: unknown) => string) | undefined {
  return (schema as Noted | undefined)?.[MESSAGES]?.[keyword];
}

/** Notes the author's own words for the keywords of a rule. */
export function noteMessage(node: JsonObject, keywords: readonly string[], say: (value: unknown) => string): void {
  const noted = node as Noted;
  noted[MESSAGES] = { ...noted[MESSAGES], ...Object.fromEntries(keywords.map((keyword) => [keyword, say])) };
}

const STRICTER: Readonly<Record<string, (a: number, b: number) => number>> = {
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  minLength: Math.max,
  minItems: Math.max,
  minProperties: Math.max,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
  maxLength: Math.min,
  maxItems: Math.min,
};

function typesIn(schema: JsonObject): unknown[] {
  return [schema['type']].flat();
}

/** Whether every type of `a` is allowed by `b`, `integer` being a kind of `number`. */
function isWithin(a: JsonObject, b: JsonObject): boolean {
  return typesIn(a).every((type) => typesIn(b).includes(type) || (type === 'integer' && typesIn(b).includes('number')));
}

/** Adds the keywords of one more rule, so that both must hold. */
export function addKeywords(node: JsonObject, keywords: JsonObject): void {
  for (const [keyword, value] of Object.entries(keywords)) {
    const present = node[keyword];
    const stricter = STRICTER[keyword];
    if (present === undefined) node[keyword] = value;
    else if (stricter !== undefined) node[keyword] = stricter(present as number, value as number);
    else if (keyword === 'allOf') node['allOf'] = [...(present as unknown[]), ...(value as unknown[])];
    else if (keyword === 'type' && isWithin(keywords, node)) node['type'] = value;
    else if (keyword === 'type' && isWithin(node, keywords)) continue;
    else if (JSON.stringify(present) !== JSON.stringify(value)) {
      node['allOf'] = [...((node['allOf'] as unknown[] | undefined) ?? []), { [keyword]: value }];
    }
  }
}

/** Keywords that say something about `null` too. */
const ABOUT_ANYTHING = ['not', 'allOf', 'anyOf', '$ref'];

const NULLABLE = Symbol('nullable');

/** Lets `null` pass as well. In arguments it stands for "absent", and clients don't hear of it. */
export function nullable(schema: JsonObject, direction: Direction): JsonObject {
  if (Object.keys(schema).length === 0) return schema;
  return direction === 'output' ? orNull(schema) : ({ ...orNull(schema), [NULLABLE]: true } as JsonObject);
}

/** Whether `null` passes a schema that doesn't offer it. */
export function hidesNull(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && NULLABLE in schema;
}

/**
 * The schema as it is published. Where `null` stands for "absent" it passes, but is not offered: forms have no null, and
 * some clients cannot read a list of types.
 */
export function published(schema: JsonObject): JsonObject {
  const offer = (_key: string, value: unknown): unknown =>
    hidesNull(value) ? withoutNull(value as JsonObject) : value;
  // functions in the schema are meant for ajv only, and fall away here
  return JSON.parse(JSON.stringify(schema, offer)) as JsonObject;
}

function orNull(schema: JsonObject): JsonObject {
  const { type, const: only, rule, ...rest } = schema;
  const values = only === undefined ? (rest['enum'] as unknown[] | undefined) : [only];
  if ((type === undefined && values === undefined) || ABOUT_ANYTHING.some((keyword) => keyword in schema)) {
    return { anyOf: [schema, { type: 'null' }] };
  }
  return {
    ...(type !== undefined && { type: [...new Set([type, 'null'].flat())] }),
    ...rest,
    ...(rule !== undefined && { rule: unlessNull(rule as Complaints) }),
    ...(values !== undefined && { enum: [...new Set([...values, null])] }),
  };
}

function withoutNull(schema: JsonObject): JsonObject {
  const { type, enum: values, anyOf, default: initial, ...rest } = schema;
  const types = [type].flat().filter((each) => each !== 'null');
  const branches = Array.isArray(anyOf) ? (anyOf as JsonObject[]).filter((branch) => branch['type'] !== 'null') : [];
  return {
    ...rest,
    ...(type !== undefined && { type: types.length === 1 ? types[0] : types }),
    ...(Array.isArray(values) && { enum: values.filter((value) => value !== null) }),
    ...(branches.length === 1 ? branches[0] : branches.length > 1 && { anyOf: branches }),
    ...(initial !== undefined && initial !== null && { default: initial }),
  };
}
