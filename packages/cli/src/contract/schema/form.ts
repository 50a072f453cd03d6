import { sorted } from '../layout.js';
import type { SchemaDocument } from './document.js';

/** A schema in its document. */
export interface Located {
  readonly schema: unknown;
  readonly document: SchemaDocument;
  /** Whether its objects have only the properties that it names, unless it says otherwise. */
  readonly isClosed: boolean;
}

/** Schemas that all hold. None is a schema that allows everything. */
export type Node = readonly Located[];

/** The types of values. Integers are numbers. */
export const TYPES = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const;
/** The type of a value. */
export type Type = (typeof TYPES)[number];

/** What one schema says of properties. */
export interface ObjectPart {
  readonly properties: ReadonlyMap<string, Node>;
  readonly patterns: ReadonlyMap<string, Node>;
  /** For properties that are neither named nor match a pattern. Undefined if the schema says nothing of them. */
  readonly additional: Node | undefined;
}

/** What one schema says of items. */
export interface ArrayPart {
  readonly prefix: readonly Node[];
  readonly rest: Node;
}

/** Items of which there have to be some, and not too many. */
export interface Contains {
  readonly node: Node;
  readonly min: number;
  readonly max: number;
}

/** The end of a range. */
export interface Bound {
  readonly value: number;
  readonly isExclusive: boolean;
}

interface Choice {
  readonly among: readonly unknown[];
  readonly at: number;
}

/** A schema without alternatives: everything in it holds. */
export interface Form {
  readonly types: ReadonlySet<Type>;
  /** The only values; undefined if there are others. */
  readonly values: readonly unknown[] | undefined;
  readonly isInteger: boolean;
  readonly minimum: Bound | undefined;
  readonly maximum: Bound | undefined;
  readonly multiples: readonly number[];
  readonly minLength: number;
  readonly maxLength: number;
  readonly patterns: readonly string[];
  readonly formats: readonly string[];
  readonly arrays: readonly ArrayPart[];
  readonly minItems: number;
  readonly maxItems: number;
  readonly isUnique: boolean;
  readonly contains: readonly Contains[];
  readonly objects: readonly ObjectPart[];
  readonly required: readonly string[];
  readonly minProperties: number;
  readonly maxProperties: number;
  readonly names: readonly Node[];
  readonly dependent: readonly (readonly [name: string, needs: readonly string[]])[];
  readonly nots: readonly Node[];
  /** Keywords that can't be compared. */
  readonly unknown: readonly string[];
  /** The alternatives of `oneOf` that it is made of. */
  readonly choices: readonly Choice[];
}

/** Allows everything. */
export const ANY: Form = {
  types: new Set(TYPES),
  values: undefined,
  isInteger: false,
  minimum: undefined,
  maximum: undefined,
  multiples: [],
  minLength: 0,
  maxLength: Infinity,
  patterns: [],
  formats: [],
  arrays: [],
  minItems: 0,
  maxItems: Infinity,
  isUnique: false,
  contains: [],
  objects: [],
  required: [],
  minProperties: 0,
  maxProperties: Infinity,
  names: [],
  dependent: [],
  nots: [],
  unknown: [],
  choices: [],
};

/** What both forms allow; undefined if that is nothing. */
export function merged(a: Form, b: Form): Form | undefined {
  if (a === ANY) return b;
  if (b === ANY) return a;
  const types = new Set([...a.types].filter((type) => b.types.has(type)));
  const values = common(a.values, b.values);
  if (types.size === 0 || values?.length === 0) return undefined;
  return {
    types,
    values,
    isInteger: a.isInteger || b.isInteger,
    minimum: tighter(a.minimum, b.minimum, 1),
    maximum: tighter(a.maximum, b.maximum, -1),
    multiples: union(a.multiples, b.multiples),
    minLength: Math.max(a.minLength, b.minLength),
    maxLength: Math.min(a.maxLength, b.maxLength),
    patterns: union(a.patterns, b.patterns),
    formats: union(a.formats, b.formats),
    arrays: union(a.arrays, b.arrays),
    minItems: Math.max(a.minItems, b.minItems),
    maxItems: Math.min(a.maxItems, b.maxItems),
    isUnique: a.isUnique || b.isUnique,
    contains: union(a.contains, b.contains),
    objects: union(a.objects, b.objects),
    required: union(a.required, b.required),
    minProperties: Math.max(a.minProperties, b.minProperties),
    maxProperties: Math.min(a.maxProperties, b.maxProperties),
    names: union(a.names, b.names),
    dependent: union(a.dependent, b.dependent),
    nots: union(a.nots, b.nots),
    unknown: union(a.unknown, b.unknown),
    choices: union(a.choices, b.choices),
  };
}

const union = <T>(a: readonly T[], b: readonly T[]): readonly T[] => (b.length === 0 ? a : [...new Set([...a, ...b])]);

/** The bound that allows less. */
function tighter(a: Bound | undefined, b: Bound | undefined, sign: 1 | -1): Bound | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.value === b.value) return a.isExclusive ? a : b;
  return (a.value - b.value) * sign > 0 ? a : b;
}

/** The text of a value: the same for values that are equal. */
export const valueText = (value: unknown): string => JSON.stringify(sorted(value));

function common(a: readonly unknown[] | undefined, b: readonly unknown[] | undefined): readonly unknown[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const texts = new Set(b.map(valueText));
  return a.filter((value) => texts.has(valueText(value)));
}

/** Tells the type of a value. */
export function typeOf(value: unknown): Type {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as Type;
}
