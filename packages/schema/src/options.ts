import { startupError } from './errors.js';
import { isObject } from './values/json.js';
import { isPromise } from './values/maybe-promise.js';

/** Number of letters to add, remove or replace to turn one name into another (Levenshtein distance). */
function distance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...from].entries()) {
    const current = [row + 1];
    for (let column = 0; column < to.length; column++) {
      const replaced = (previous[column] as number) + (letter === to[column] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] as number) + 1, (current[column] as number) + 1));
    }
    previous = current;
  }
  return previous[to.length] as number;
}

const lettersOf = (name: string): string => [...name].sort().join('');

/**
 * The known name that was most likely meant; undefined if none is close.
 * @param share one letter may differ for each `share` letters of a known name
 */
export function nearest(name: string, known: readonly string[], share = 3): string | undefined {
  const given = name.toLowerCase();
  const [found] = known
    .map((candidate) => {
      const letters = candidate.toLowerCase();
      return { candidate, far: lettersOf(given) === lettersOf(letters) ? 1 : distance(given, letters) };
    })
    .filter(({ candidate, far }) => far <= Math.max(1, Math.floor(candidate.length / share)))
    .sort((a, b) => a.far - b.far);
  return found?.candidate;
}

const isA = (type: string) => (value: unknown) => typeof value === type;

const TYPES = {
  string: [isA('string'), 'a string'],
  number: [isA('number'), 'a number'],
  boolean: [isA('boolean'), 'true or false'],
  function: [isA('function'), 'a function'],
  object: [isObject, 'an object'],
  array: [Array.isArray, 'an array'],
} as const;

/**
 * The values of an option: a type, a range of integers, the types of its own options, or `true` if they are checked
 * elsewhere.
 */
export type OptionType = keyof typeof TYPES | readonly [min: number, max: number] | NestedTypes | true;

/** The options of an option, such as `limits`. */
type NestedTypes = { readonly [option: string]: OptionType };

/** Types of options by name. */
export type OptionTypes<Options = object> = Readonly<Record<keyof Options, OptionType>>;

function shown(value: unknown): string {
  if (typeof value === 'string') return `"${value.slice(0, 100)}"`;
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'function') return 'a function';
  return isObject(value) ? 'an object' : String(value);
}

/** The error for an invalid option. */
export const invalidOption = (where: string, option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', where, option, problem);

const isRange = (type: OptionType): type is readonly [number, number] => Array.isArray(type);

function requireType(where: string, [option, value]: readonly [string, unknown], type?: OptionType): void {
  if (value === undefined || type === undefined || type === true) return;
  if (isPromise(value)) throw invalidOption(where, option, 'is a promise. Await it');
  if (typeof type === 'string') {
    const [fits, name] = TYPES[type];
    if (!fits(value)) throw invalidOption(where, option, `is ${shown(value)}, but must be ${name}`);
    return;
  }
  if (!isRange(type)) {
    if (isObject(value)) return requireOptions(`${where}.${option}`, value, type);
    throw invalidOption(where, option, `is ${shown(value)}, but must be an object`);
  }
  const [min, max] = type;
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  throw invalidOption(where, option, `is ${shown(value)}, but must be a whole number from ${min} to ${max}`);
}

/**
 * Rejects unknown options and wrong types: a misspelled option would have no effect, and a value of the wrong type
 * would fail later, or at the client.
 * @param where where the options are set, such as `Shop.search`
 * @param known the options by name
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, with the nearest known name
 * @example requireOptions('status', options, { path: 'string', maxItems: [1, 1000] });
 */
export function requireOptions(where: string, options: unknown, known: Readonly<Record<string, OptionType>>): void {
  requireExtensible(where, options, { known, hint: '' });
}

/**
 * The same for options that others may add to.
 * @param hint what to do if an option belongs to somebody else, as a sentence without its period
 */
export function requireExtensible(
  where: string,
  options: unknown,
  { known, hint }: { readonly known: Readonly<Record<string, OptionType>>; readonly hint: string },
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalidOption(where, 'options', 'must be an object. Pass { … }');
  }
  if (isPromise(options)) throw invalidOption(where, 'options', 'are a promise. Await it');
  const names = Object.keys(known);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const meant = nearest(unknown, names);
    const group = Object.entries(known).find(([, type]) => isObject(type) && Object.hasOwn(type, unknown))?.[0];
    const list = `Remove it, or use one of ${names.join(', ')}${hint && `. ${hint}`}`;
    const remedy = group ? `Write \`${group}: { ${unknown} }\`` : meant === undefined ? list : `Write \`${meant}\``;
    throw invalidOption(where, unknown, `is not an option. ${remedy}`);
  }
  for (const each of Object.entries(options)) requireType(where, each, known[each[0]]);
}

/** Fills in defaults for options that are missing or undefined. */
export function withDefaults<T extends object>(defaults: T, options: { readonly [K in keyof T]?: T[K] } = {}): T {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}
