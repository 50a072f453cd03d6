import type { Class } from '../metadata/store.js';
import { startupError } from '../errors.js';
import type { JsonObject } from '../values/json.js';
import { compileGenerated } from '../validation/ajv.js';
import type { Direction, Rule } from '../rules/class-facts.js';
import type { Conversion } from './class-model.js';
import { ENCODINGS } from './encoded.js';
import { decoratorOf } from '../rules/value-rule.js';

/** The declaration of a field. */
export interface Declaration {
  readonly where: string;
  /** Type emitted by TypeScript. */
  readonly emitted: unknown;
  /** Facts from `@Type` about the value, or about each item. */
  readonly named: { readonly type: unknown } | undefined;
  readonly rules: readonly Rule[];
  readonly direction: Direction;
  readonly isNullable: boolean;
  readonly exposure: { readonly isTransformed: boolean };
}

/** The constraints that rules put on a field: on its value, or on its list and the items. */
export interface Ruled {
  readonly item: JsonObject;
  readonly list: JsonObject | undefined;
  readonly to: Conversion['to'] | undefined;
  /** The value in a new instance. */
  readonly initial: unknown;
}

/** The kinds of values that handlers may receive for a type: JSON Schema types, and names of conversions. */
const KINDS: ReadonlyMap<unknown, readonly unknown[]> = new Map<unknown, readonly unknown[]>([
  [String, ['string']],
  [Number, ['number', 'integer']],
  [Boolean, ['boolean']],
  [Array, ['array']],
  [Date, ['date']],
  [BigInt, ['bigint']],
  [Uint8Array, ['bytes', 'buffer']],
  [Buffer, ['buffer']],
]);

const BYTES = 'Declare a Uint8Array, which is sent as base64.';
const DATA = 'Declare an array, or an object with known fields.';

/** Types that JSON cannot represent, with what to declare instead. */
const LACKING: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [Map, DATA],
  [Set, DATA],
  [WeakMap, DATA],
  [WeakSet, DATA],
  [Promise, 'Declare the field as the value itself.'],
  [Symbol, 'Declare a string.'],
  [
    Function,
    'Declare what it returns, or make it a method. If it is a class that is imported with `import type`, or with `type` in the braces, import it without `type`.',
  ],
  [ArrayBuffer, BYTES],
  [DataView, BYTES],
  [Blob, BYTES],
]);

const invalid = (where: string, problem: string, remedy: string) =>
  startupError('DECORUM_INVALID_FIELD', where, problem, remedy);

const listed = (words: readonly unknown[]): string => words.join(' or ');
/** Spelled as in TypeScript. */
const SCALARS: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [String, 'string'],
  [Number, 'number'],
  [Boolean, 'boolean'],
  [BigInt, 'bigint'],
]);

const nameOf = (type: unknown): string => SCALARS.get(type) ?? (type === Array ? 'an array' : (type as Class).name);

/** Whether the rules leave the JSON type of a value open. */
export function isOpen(node: JsonObject): boolean {
  return !['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf'].some((keyword) => keyword in node);
}

/**
 * Rejects a field whose type contradicts its rules, promises more than the rules check, or is unknown.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD`, `DECORUM_UNKNOWN_FIELD_TYPE`
 */
export function checkType(field: Declaration, ruled: Ruled): void {
  const { where, emitted, named, exposure, isNullable } = field;
  const { item, list, to, initial } = ruled;
  rejectUncallable(field, ruled);
  const own = list === undefined ? kindsOf(item, to) : (kindsOf(list, undefined) ?? ['array']);
  if (list !== undefined && own !== undefined && !own.includes('array')) throw contradiction(where, Array, own);
  agree(field, emitted, own);
  if (named !== undefined) agree(field, named.type, kindsOf(item, to));
  // TypeScript emits Object for `string | null`, and Object or nothing for an initializer without a type annotation
  const isUnknown = emitted === Object && (isNullable || (initial !== undefined && initial !== null));
  const declared = isUnknown ? undefined : emitted;
  const ofValue = list === undefined ? declared : undefined;
  const type = typeof named?.type === 'function' ? named.type : ofValue;
  if (type === undefined && isOpen(item) && !exposure.isTransformed) {
    throw startupError('DECORUM_UNKNOWN_FIELD_TYPE', where, list === undefined ? 'field' : 'items');
  }
}

/** The kinds of values that the handler receives; undefined if the rules leave them open. */
function kindsOf(node: JsonObject, to: Ruled['to']): readonly unknown[] | undefined {
  if (to !== undefined) return [typeof to === 'string' ? to : 'object'];
  return node['type'] === undefined ? undefined : [node['type']].flat().filter((type) => type !== 'null');
}

/**
 * Rejects a type that JSON cannot represent.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD`
 */
export function rejectLacking(type: unknown, where: string): void {
  const remedy = LACKING.get(type);
  if (remedy !== undefined) throw invalid(where, `JSON has no ${(type as Class).name}`, remedy);
}

/** Rejects a type that contradicts the rules. */
function agree(field: Declaration, type: unknown, kinds: readonly unknown[] | undefined): void {
  const { where, direction, exposure, rules } = field;
  if (typeof type !== 'function' || type === Object) return;
  if (!exposure.isTransformed) rejectLacking(type, where);
  // results are validated in their JSON form
  if (direction === 'output' && typeof (type as Class<{ toJSON?: unknown }>).prototype.toJSON === 'function') return;
  const isNested = rules.some((rule) => rule.type === 'nestedValidation');
  if (!KINDS.has(type) && !isNested && !exposure.isTransformed) {
    const remedy = `Add @ValidateNested(), and rules to the fields of ${type.name}. Or declare the field as a JSON type, such as \`object\` or \`string\`.`;
    throw invalid(where, `nothing checks that it is a ${type.name}`, remedy);
  }
  const expected = KINDS.get(type) ?? ['object'];
  if (kinds?.some((kind) => !expected.includes(kind))) throw contradiction(where, type, kinds);
}

function contradiction(where: string, type: unknown, kinds: readonly unknown[]): Error {
  return invalid(
    where,
    `it is declared as ${nameOf(type)}, but its rules say ${listed(kinds)}`,
    remedyFor(type, kinds),
  );
}

function remedyFor(type: unknown, kinds: readonly unknown[]): string {
  if (type === Array) return 'Pass `{ each: true }` to rules for the items, as in @IsString({ each: true }).';
  if (kinds.includes('array')) return 'Declare an array, or remove `each: true` and the array rules.';
  if (kinds.includes('date')) return 'Declare a Date, or use a string rule such as @IsISO8601().';
  if (type === Date) return `Use @IsDate(), or declare the field as ${listed(kinds)}.`;
  if (ENCODINGS.has(type)) {
    return `Keep only @IsDefined() or @IsOptional(), or declare the field as ${listed(kinds)}.`;
  }
  return `Declare the field as ${listed(kinds)}, or use rules for a ${nameOf(type)}.`;
}

/** Pairs of keywords: the second must not be less than the first. */
const BOUNDS = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
] as const;

/**
 * Rejects rules that no value can satisfy.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD`
 */
export function rejectUncallable(
  { where, rules }: Pick<Declaration, 'where' | 'rules'>,
  { item, list }: Pick<Ruled, 'item' | 'list'>,
): void {
  if (![item, list ?? {}].some(isUnsatisfiable)) return;
  const names = [...new Set(rules.map(decoratorOf))].map((name) => `@${name}`);
  throw invalid(where, `no value passes its rules (${names.join(', ')})`, 'Correct or remove one of them.');
}

/** Whether the rest of a schema rejects every value of its `const` or `enum`. */
function hasNoChoice(node: JsonObject): boolean {
  const [keyword, named] = 'const' in node ? ['const', [node['const']]] : ['enum', node['enum']];
  const others = Object.keys(node).filter((key) => key !== keyword && key !== 'type');
  if (!Array.isArray(named) || others.length === 0) return false;
  // a copy, because ajv caches schemas, and this one is not finished
  const { fits } = compileGenerated({ ...node }, false);
  return !named.some((value) => fits(value));
}

function isUnsatisfiable(node: JsonObject): boolean {
  if (hasNoChoice(node)) return true;
  const { type, not, allOf = [], exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = node;
  const others = (allOf as JsonObject[]).map((part) => part['type']).filter((it) => it !== undefined);
  const types = [type ?? []].flat().filter((it) => others.every((other) => [other].flat().includes(it)));
  if (others.length > 0 && types.length === 0) return true;
  if (not !== undefined && Object.keys(not as object).length === 0) return true;
  const { minimum = -Infinity, maximum = Infinity } = node as Record<string, number>;
  if (Number(exclusiveMinimum) >= Math.min(maximum, Number(exclusiveMaximum))) return true;
  if (minimum >= Number(exclusiveMaximum)) return true;
  return BOUNDS.some(([least, most]) => Number(node[least] ?? -Infinity) > Number(node[most] ?? Infinity));
}
