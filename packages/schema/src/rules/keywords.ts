import type { JsonObject } from '../values/json.js';
import type { Direction } from './class-facts.js';
import type { FieldCheck } from '../shape.js';
import { type Complaints, unlessNull } from './value-rule.js';

// Generated schemas validate. Symbols on their nodes, which ajv ignores, say how the other views differ.

/** On a node: the keywords that the published view has instead; `undefined` omits one. */
export const PUBLISHED = Symbol('published');

/** On a node: the keywords of the accepted view, where callers should not know all that is accepted. */
const ACCEPTED = Symbol('accepted');

/** A schema that is published differently from how it is validated. */
export type Presented = JsonObject & { [PUBLISHED]?: JsonObject; [ACCEPTED]?: JsonObject };

/** Publishes a schema, but accepts everything. */
export const presented = (schema: JsonObject): Presented => ({ [PUBLISHED]: schema, [ACCEPTED]: {} });

/** Publishes a schema as a hint, without validating against it. The empty alternative accepts everything. */
export const hinted = (schema: JsonObject): Presented =>
  Object.keys(schema).length === 0 ? {} : { [PUBLISHED]: { anyOf: [schema, {}] } };

/** On a node: custom messages of rules, by keyword. */
export const MESSAGES = Symbol('messages');

type Noted = JsonObject & { [MESSAGES]?: Record<string, (value: unknown) => string> };

/** The custom message for a failed keyword, if any. */
export function ownMessage(schema: unknown, keyword: string): ((value: unknown) => string) | undefined {
  return (schema as Noted | undefined)?.[MESSAGES]?.[keyword];
}

/** Stores the custom message for the keywords of a rule. */
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

/** Whether `b` allows every type of `a`; `integer` is a kind of `number`. */
export function isWithin(a: JsonObject, b: JsonObject): boolean {
  return typesIn(a).every((type) => typesIn(b).includes(type) || (type === 'integer' && typesIn(b).includes('number')));
}

/** Adds the keywords of another rule. Values must satisfy both rules. */
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

/** Keywords that also apply to `null`. */
const ABOUT_ANYTHING = ['not', 'allOf', 'anyOf', 'oneOf', '$ref'];

/** On a node: `null` is accepted, but not published. */
const NULLABLE = Symbol('nullable');

/** Also allows `null`. In input, a `null` that the schema itself rejects means "absent", and is not published. */
export function nullable(schema: JsonObject, direction: Direction): JsonObject {
  if (admitsNull(schema)) return schema;
  return direction === 'output' ? orNull(schema) : ({ ...orNull(schema), [NULLABLE]: true } as JsonObject);
}

/** Whether a schema accepts `null` without publishing it. */
export function hidesNull(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && NULLABLE in schema;
}

type Slot = typeof PUBLISHED | typeof ACCEPTED;

function presentation(schema: JsonObject, slots: readonly Slot[]): JsonObject {
  const offer = (value: JsonObject): JsonObject => {
    const offered: Presented = hidesNull(value) ? withoutNull(value) : value;
    const instead = offered[slots.find((slot) => slot in offered) ?? PUBLISHED];
    return instead === undefined ? offered : { ...offered, ...offer(instead) };
  };
  const replace = (_key: string, value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value) ? value : offer(value as JsonObject);
  // functions in the schema are for ajv only; JSON drops them
  return JSON.parse(JSON.stringify(schema, replace)) as JsonObject;
}

/**
 * The schema to publish. A `null` that means "absent" is accepted but not published: forms have no null, and some
 * callers cannot handle a list of types.
 */
export const publishedView = (schema: JsonObject): JsonObject => presentation(schema, [PUBLISHED]);

/** The published view, but open where a transformation accepts more than callers should send. */
export const acceptedView = (schema: JsonObject): JsonObject => presentation(schema, [ACCEPTED, PUBLISHED]);

/** Whether a generated schema accepts `null`. Objects of a class, which it may refer to, are never `null`. */
export function admitsNull(schema: JsonObject): boolean {
  const { type, enum: values, const: only, not, allOf, anyOf, oneOf, $ref, rule, field } = schema as Checked;
  if (type !== undefined && ![type].flat().includes('null')) return false;
  if ((values !== undefined && !values.includes(null)) || (only !== undefined && only !== null)) return false;
  if ($ref !== undefined || rule?.(null).length || field?.(null) === false) return false;
  if ((not !== undefined && admitsNull(not)) || allOf?.every(admitsNull) === false) return false;
  return anyOf?.some(admitsNull) !== false && oneOf?.some(admitsNull) !== false;
}

/** The keywords of generated schemas that may reject `null`. */
interface Checked {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly not?: JsonObject;
  readonly allOf?: readonly JsonObject[];
  readonly anyOf?: readonly JsonObject[];
  readonly oneOf?: readonly JsonObject[];
  readonly $ref?: string;
  readonly rule?: Complaints;
  readonly field?: FieldCheck;
}

/** Also allows `null`, and publishes it. */
export function orNull(schema: JsonObject): JsonObject {
  if (admitsNull(schema)) return schema;
  const { type, const: only, rule, ...rest } = schema;
  const values = only === undefined ? (rest['enum'] as unknown[] | undefined) : [only];
  if (
    (type === undefined && values === undefined) ||
    PUBLISHED in schema ||
    ABOUT_ANYTHING.some((keyword) => keyword in schema)
  ) {
    return { anyOf: [schema, { type: 'null' }] };
  }
  return {
    ...(type !== undefined && { type: [...new Set([type, 'null'].flat())] }),
    ...rest,
    ...(rule !== undefined && { rule: unlessNull(rule as Complaints) }),
    ...(values !== undefined && { enum: [...new Set([...values, null])] }),
  };
}

/** A schema that admits no `null`, but otherwise the same values. */
export function withoutNull(schema: JsonObject): JsonObject {
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
