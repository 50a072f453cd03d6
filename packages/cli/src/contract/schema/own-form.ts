import { isObject } from '@decorum/core/internal';

import { ANY, type Form, type Located, type Node, type ObjectPart, type Type, TYPES, valueText } from './form.js';

type Schema = Readonly<Record<string, unknown>>;

/** The form of a schema's own keywords, without those that combine schemas. */
export function ownForm({ schema: given, ...place }: Located): Form {
  const schema = given as Schema;
  const node = (inner: unknown): Node => (inner === true ? [] : [{ ...place, schema: inner }]);
  return {
    ...ANY,
    ...typesOf(schema),
    ...valuesOf(schema),
    ...numbersOf(schema),
    minLength: count(schema['minLength'], 0),
    maxLength: count(schema['maxLength'], Infinity),
    patterns: texts(schema['pattern']),
    formats: texts(schema['format']),
    ...arrayOf(schema, node),
    ...objectOf(schema, node),
    nots: 'not' in schema ? [[{ ...place, schema: schema['not'], isClosed: false }]] : [],
    unknown: unknownIn(schema),
  };
}

/** Keywords that apply other schemas to the same value. */
const APPLICATORS = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas', 'contains'];

const evaluatesElsewhere = (schema: Schema): boolean => APPLICATORS.some((keyword) => keyword in schema);

/** Keywords that can't be compared. */
function unknownIn(schema: Schema): readonly string[] {
  const isUnclear = 'unevaluatedItems' in schema && evaluatesElsewhere(schema);
  const keywords = ['$dynamicRef', '$recursiveRef', ...(isUnclear ? ['unevaluatedItems'] : [])];
  return keywords.filter((keyword) => keyword in schema);
}

const count = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
const texts = (value: unknown): readonly string[] => (typeof value === 'string' ? [value] : []);
const strings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

function typesOf({ type, nullable }: Schema): Partial<Form> {
  if (type === undefined) return {};
  const given = [type].flat() as readonly unknown[];
  const named = given.map((each) => (each === 'integer' ? 'number' : each));
  const types = new Set<Type>(TYPES.filter((each) => named.includes(each)));
  if (nullable === true) types.add('null');
  return { types, isInteger: given.includes('integer') && !given.includes('number') };
}

function valuesOf(schema: Schema): Partial<Form> {
  const { enum: listed } = schema;
  const hasConst = 'const' in schema;
  if (!Array.isArray(listed)) return hasConst ? { values: [schema['const']] } : {};
  if (!hasConst) return { values: listed };
  const wanted = valueText(schema['const']);
  return { values: listed.filter((each) => valueText(each) === wanted) };
}

function numbersOf(schema: Schema): Partial<Form> {
  const { multipleOf } = schema;
  return {
    minimum: boundOf(schema['minimum'], schema['exclusiveMinimum'], Math.max),
    maximum: boundOf(schema['maximum'], schema['exclusiveMaximum'], Math.min),
    multiples: typeof multipleOf === 'number' ? [multipleOf] : [],
  };
}

/** Draft 4 has a boolean beside the bound; later ones have a bound of its own. */
function boundOf(plain: unknown, exclusive: unknown, tighter: (a: number, b: number) => number): Form['minimum'] {
  if (typeof plain !== 'number')
    return typeof exclusive === 'number' ? { value: exclusive, isExclusive: true } : undefined;
  if (typeof exclusive !== 'number') return { value: plain, isExclusive: exclusive === true };
  const isExclusive = tighter(plain, exclusive) === exclusive;
  return { value: isExclusive ? exclusive : plain, isExclusive };
}

type MakeNode = (inner: unknown) => Node;

function arrayOf(schema: Schema, node: MakeNode): Partial<Form> {
  const { items, prefixItems, additionalItems = true } = schema;
  const isTuple = Array.isArray(items);
  const prefix = isTuple ? items : Array.isArray(prefixItems) ? prefixItems : [];
  // without other schemas, what is unevaluated is the rest
  const unevaluated = evaluatesElsewhere(schema) ? true : schema['unevaluatedItems'];
  const rest = isTuple ? additionalItems : (items ?? unevaluated ?? true);
  const part = { prefix: (prefix as readonly unknown[]).map(node), rest: node(rest) };
  const { contains, minContains, maxContains } = schema;
  const searched = { node: node(contains), min: count(minContains, 1), max: count(maxContains, Infinity) };
  return {
    arrays: part.prefix.length === 0 && part.rest.length === 0 ? [] : [part],
    minItems: count(schema['minItems'], 0),
    maxItems: count(schema['maxItems'], Infinity),
    isUnique: schema['uniqueItems'] === true,
    contains: contains === undefined ? [] : [searched],
  };
}

const nodesOf = (members: unknown, node: MakeNode): ReadonlyMap<string, Node> =>
  new Map(isObject(members) ? Object.entries(members).map(([name, inner]) => [name, node(inner)]) : []);

function objectOf(schema: Schema, node: MakeNode): Partial<Form> {
  const { properties, patternProperties, additionalProperties, propertyNames } = schema;
  const part: ObjectPart = {
    properties: nodesOf(properties, node),
    patterns: nodesOf(patternProperties, node),
    additional: additionalProperties === undefined ? undefined : node(additionalProperties),
  };
  const says = properties !== undefined || patternProperties !== undefined || additionalProperties !== undefined;
  const dependent = { ...object(schema['dependencies']), ...object(schema['dependentRequired']) };
  return {
    objects: says ? [part] : [],
    required: strings(schema['required']),
    minProperties: count(schema['minProperties'], 0),
    maxProperties: count(schema['maxProperties'], Infinity),
    names: propertyNames === undefined ? [] : [node(propertyNames)],
    dependent: Object.entries(dependent).flatMap(([name, needs]) =>
      Array.isArray(needs) ? [[name, strings(needs)] as const] : [],
    ),
  };
}

const object = (value: unknown): Schema => (isObject(value) ? value : {});
