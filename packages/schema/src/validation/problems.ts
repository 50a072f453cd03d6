import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ErrorObject } from 'ajv';
import type { ValidationError } from 'class-validator';

import { excerpt } from '../errors.js';
import type { JsonObject } from '../values/json.js';
import { hidesNull, ownMessage } from '../rules/keywords.js';
import type { FieldCheck, Problem } from '../shape.js';
import { type Complaints, withoutName } from '../rules/value-rule.js';

/** Cap on the problems that are reported to a caller. */
export const MAX_PROBLEMS = 50;
/**
 * Cap on the errors that are described. Describing an error may take time in proportion to its schema, and several
 * errors may have the same description.
 */
const MAX_EXPLAINED = 100;

const count = (n: unknown, noun: string): string => `${String(n)} ${noun}${n === 1 ? '' : 's'}`;
const withArticle = (type: string): string => (type === 'null' ? type : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`);
const kinds = (types: unknown): string => [types].flat().map(String).map(withArticle).join(' or ');
const json = (value: unknown): string => excerpt(JSON.stringify(value));
const listed = (values: unknown): string =>
  excerpt((values as unknown[]).map((value) => JSON.stringify(value)).join(', '));

/** Describes what a keyword expects, given its value in the schema. */
const EXPECTATIONS: Readonly<Record<string, (value: unknown) => string>> = {
  required: () => 'is required',
  dependentRequired: () => 'is required',
  dependencies: () => 'is required',
  additionalProperties: () => 'is not a known field',
  unevaluatedProperties: () => 'is not a known field',
  unevaluatedItems: () => 'has too many items',
  additionalItems: () => 'has too many items',
  items: () => 'has too many items',
  'false schema': () => 'is not allowed',
  type: (types) => `must be ${kinds(types)}`,
  enum: (values) => `must be one of ${listed(values)}`,
  const: (value) => `must be ${json(value)}`,
  minimum: (limit) => `must be at least ${String(limit)}`,
  maximum: (limit) => `must be at most ${String(limit)}`,
  exclusiveMinimum: (limit) => `must be greater than ${String(limit)}`,
  exclusiveMaximum: (limit) => `must be less than ${String(limit)}`,
  multipleOf: (step) => `must be a multiple of ${String(step)}`,
  minLength: (limit) => `must have at least ${count(limit, 'character')}`,
  maxLength: (limit) => `must have at most ${count(limit, 'character')}`,
  pattern: (pattern) => `must match the pattern ${excerpt(pattern)}`,
  format: (format) => `must be a valid ${excerpt(format)}`,
  minItems: (limit) => `must have at least ${count(limit, 'item')}`,
  maxItems: (limit) => `must have at most ${count(limit, 'item')}`,
  uniqueItems: () => 'must not have the same item twice',
  contains: () => 'must have an item of the expected kind',
  minProperties: (limit) => `must have at least ${count(limit, 'field')}`,
  maxProperties: (limit) => `must have at most ${count(limit, 'field')}`,
  propertyNames: () => 'has a field with a name that is not allowed',
  anyOf: () => 'must have one of the allowed forms',
  oneOf: () => 'must have exactly one of the allowed forms',
  discriminator: (schema) => `must be one of ${listed((schema as { names: unknown }).names)}`,
  not: (schema) => {
    const { enum: values, const: value, type } = schema as JsonObject;
    if (values !== undefined) return `must not be one of ${listed(values)}`;
    if (type !== undefined) return `must not be ${kinds(type)}`;
    return value === undefined ? 'has a form that is not allowed' : `must not be ${json(value)}`;
  },
};

/** Describes what a keyword with this value in the schema expects. */
export function expectationOf(keyword: string, value: unknown): string {
  return EXPECTATIONS[keyword]?.(value) ?? 'is not valid';
}

/** A path in JavaScript notation. */
export function readablePath(keys: readonly string[]): string {
  let path = '';
  for (const key of keys) {
    if (/^\d{1,10}$/.test(key)) path += `[${key}]`;
    else if (/^[\w$-]{1,100}$/.test(key)) path += path === '' ? key : `.${key}`;
    else path += `[${excerpt(JSON.stringify(key))}]`;
  }
  return excerpt(path);
}

/** The keys of a JSON pointer (RFC 6901). */
function keysOf(pointer: string): string[] {
  const tokens = pointer.split('/').slice(1);
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** ajv reports a missing or unknown field at its object, but the path of a problem leads to the field. */
function pathOf({ instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty, unevaluatedProperty, tag } = params as Record<
    string,
    string | undefined
  >;
  const field = missingProperty ?? additionalProperty ?? unevaluatedProperty ?? tag ?? [];
  return readablePath(keysOf(instancePath).concat(field));
}

function problemsIn(error: ErrorObject): readonly Problem[] {
  const { keyword, schema, parentSchema, data } = error;
  const path = pathOf(error);
  if (keyword === 'rule') return (schema as Complaints)(data).map((expected) => ({ path, expected }));
  if (keyword === 'field') {
    const inner = (schema as FieldCheck).problemsOf(data);
    return inner.map((problem) => ({ path: joined(path, problem.path), expected: problem.expected }));
  }
  const own = keyword === 'required' ? undefined : ownMessage(parentSchema, keyword);
  const hidden = keyword === 'type' ? 'null' : null;
  const offered = hidesNull(parentSchema) && Array.isArray(schema) ? schema.filter((it) => it !== hidden) : schema;
  return [{ path, expected: own?.(data) ?? EXPECTATIONS[keyword]?.(offered) ?? error.message ?? 'is not valid' }];
}

/** Joins two paths. */
function joined(path: string, inner: string): string {
  return excerpt(inner === '' || inner.startsWith('[') || path === '' ? path + inner : `${path}.${inner}`);
}

/** The paths of a place's parents, then its own: for `/a/0`, these are `''`, `/a` and `/a/0`. */
function* pathsTo(pointer: string): Generator<string> {
  for (let at = pointer.indexOf('/'); at !== -1; at = pointer.indexOf('/', at + 1)) yield pointer.slice(0, at);
  yield pointer;
}

/** Removes the error of a hidden `null` branch, and the error of its union: clients only know the other branch. */
function withoutHiddenNull(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const hiding = errors.filter(({ keyword, parentSchema }) => keyword === 'anyOf' && hidesNull(parentSchema));
  if (hiding.length === 0) return errors;
  const unions = new Set<unknown>(hiding);
  const paths = new Set(hiding.map(({ schemaPath }) => schemaPath));
  const isOfNull = ({ schemaPath, schema }: ErrorObject): boolean =>
    schema === 'null' && [...pathsTo(schemaPath)].some((path) => paths.has(path));
  return errors.filter((error) => !unions.has(error) && !isOfNull(error));
}

/** Removes the errors of `if`, and the errors of unions for which there are more specific errors. */
function withoutWrappers(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const isUnion = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf';
  const unions = new Set(errors.filter(isUnion).map(({ instancePath }) => instancePath));
  const rest = errors.filter(
    ({ keyword, instancePath }) => keyword !== 'if' && !(keyword === 'type' && unions.has(instancePath)),
  );
  const explained = new Set<string>();
  for (const error of rest) if (!isUnion(error)) for (const path of pathsTo(error.instancePath)) explained.add(path);
  const kept = rest.filter((error) => !isUnion(error) || !explained.has(error.instancePath));
  return kept.length > 0 ? kept : errors;
}

/** Converts ajv's errors to problems in plain English. */
export function describeErrors(errors: readonly ErrorObject[]): Problem[] {
  const problems = new Map<string, Problem>();
  for (const error of withoutWrappers(withoutHiddenNull(errors)).slice(0, MAX_EXPLAINED)) {
    for (const { path, expected } of problemsIn(error)) {
      if (problems.size < MAX_PROBLEMS) problems.set(`${path} ${expected}`, { path, expected: excerpt(expected) });
    }
  }
  return [...problems.values()];
}

function ruleProblems(error: ValidationError, parents: readonly string[]): Problem[] {
  const { property = '', constraints = {}, children = [] } = error;
  const keys = [...parents, property];
  const own = Object.values(constraints).map((message) => ({
    path: readablePath(keys),
    // custom rules may have no message
    expected: excerpt(withoutName(message, property) || 'is not valid'),
  }));
  return [...own, ...children.flatMap((child) => ruleProblems(child, keys))];
}

/** Converts class-validator's errors to problems. */
export function describeRuleErrors(errors: readonly ValidationError[], parents: readonly string[] = []): Problem[] {
  return errors.flatMap((error) => ruleProblems(error, parents)).slice(0, MAX_PROBLEMS);
}

/** Converts the issues of a Standard Schema to problems. */
export function describeIssues(issues: readonly StandardSchemaV1.Issue[]): Problem[] {
  return issues.slice(0, MAX_PROBLEMS).map(({ message, path = [] }) => ({
    path: readablePath(path.map((segment) => String(typeof segment === 'object' ? segment.key : segment))),
    expected: excerpt(message),
  }));
}
