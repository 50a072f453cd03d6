// Mutations of JSON values. Nothing here knows the protocol.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Returns a random number from 0 to below 1. The same seed gives the same sequence (mulberry32). */
export type Random = () => number;

/** Creates a source of random numbers. */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The input of mutations. */
export interface Material {
  readonly random: Random;
  /** Values to put anywhere. */
  readonly atoms: readonly Json[];
  /** Names for members. */
  readonly keys: readonly string[];
  /** Cap on the size of the result, in bytes of JSON. */
  readonly limit: number;
  /** Whether the result must be text, because anything else is rejected early and cheaply. */
  readonly isText: boolean;
}

const CHARACTERS = ['a', '0', '-', ' ', '.', '@', '/', '%', '{', '}', '"', ',', ';', '=', '\n', '\t', '\u0000', '\\'];
const UNUSUAL = ['é', '😀', '☺\uFE0F', '\u2028', '\uD800', '%41', '../', '__proto__', 'constructor', 'toString'];
const BEGUN = [
  'a.',
  'a-',
  'a!',
  'x@',
  'http://',
  '::',
  '1.',
  '+1',
  '[[',
  '{"a":',
  '?q=',
  '&a=b',
  'P1DT1H',
  '=?base64?',
];
const NUMBERS = ['1e400', '9'.repeat(40), '2026-01-01T00:00:00Z', 0, -1, 0.1, 1e308, 5e-324, 2 ** 53];
const VALUES = [null, true, false, [], {}, [[]], [{}], { a: {} }];

/** Values that are hard on parsers, patterns and lookups. */
export const HOSTILE: readonly Json[] = [...CHARACTERS, ...UNUSUAL, ...BEGUN, ...NUMBERS, ...VALUES];

const sizeOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

export const pick = <T>(items: readonly T[], random: Random): T => items[Math.floor(random() * items.length)] as T;

/** Applies one to three mutations. The result is never larger than the limit. */
export function mutate(value: Json, material: Material): Json {
  const { random, limit, isText } = material;
  for (let attempt = 0; attempt < 20; attempt += 1) {
    let mutant = structuredClone(value);
    for (let step = Math.ceil(random() * 3); step > 0; step -= 1) mutant = change(mutant, material);
    if (sizeOf(mutant) <= limit && (!isText || typeof mutant === 'string')) return mutant;
  }
  return value;
}

/** Changes a random place: the value itself with a probability of 35 %, otherwise a place inside it. */
function change(value: Json, material: Material): Json {
  const { random } = material;
  if (typeof value !== 'object' || value === null || random() < 0.35) return pick(CHANGES, random)(value, material);
  if (Array.isArray(value)) {
    if (value.length === 0) return pick(CHANGES, random)(value, material);
    const index = Math.floor(random() * value.length);
    value[index] = change(value[index] as Json, material);
    return value;
  }
  const keys = Object.keys(value);
  if (keys.length === 0) return pick(CHANGES, random)(value, material);
  const key = pick(keys, random);
  // assigning `__proto__` would set the prototype
  define(value, key, change(value[key] as Json, material));
  return value;
}

function define(target: { [key: string]: Json }, key: string, value: Json): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

type Change = (value: Json, material: Material) => Json;

const replace: Change = (_value, { random, atoms }) => structuredClone(pick(atoms, random));

const wrap: Change = (value, { random, keys }) => {
  const isList = random() < 0.5;
  const key = pick(keys, random);
  let wrapped = value;
  for (let depth = random() < 0.5 ? 1 : Math.floor(random() * 58); depth >= 0; depth -= 1) {
    wrapped = isList ? [wrapped] : { [key]: wrapped };
  }
  return wrapped;
};

const addMember: Change = (value, { random, atoms, keys }) => {
  if (Array.isArray(value)) return [...value, structuredClone(pick(atoms, random))];
  if (typeof value !== 'object' || value === null) return value;
  define(value, pick(keys, random), structuredClone(pick(atoms, random)));
  return value;
};

const removeMember: Change = (value, { random }) => {
  if (Array.isArray(value)) return value.filter(() => random() < 0.7);
  if (typeof value !== 'object' || value === null) return value;
  delete value[pick(Object.keys(value), random)];
  return value;
};

const splice: Change = (value, { random, atoms }) => {
  if (typeof value !== 'string') return value;
  const at = Math.floor(random() * (value.length + 1));
  const inserted = atoms.filter((atom) => typeof atom === 'string');
  return value.slice(0, at) + pick(inserted, random) + value.slice(random() < 0.8 ? at : at + 5);
};

/** Repeats parts of the value up to a random share of the size limit, because cost often grows faster than size. */
const grow: Change = (value, material) => {
  const { random, limit, atoms } = material;
  const room = limit * (random() < 0.5 ? 0.95 : random());
  if (typeof value === 'string') {
    const part = value === '' ? 'a' : value.slice(0, 1 + Math.floor(random() * value.length));
    const size = sizeOf(part) - 2;
    return value.slice(part.length) + part.repeat(Math.max(1, Math.floor(room / Math.max(1, size))));
  }
  if (Array.isArray(value)) {
    const part = value.length === 0 || random() < 0.3 ? pick(atoms, random) : pick(value, random);
    return Array.from({ length: Math.floor(room / (sizeOf(part) + 1)) }, () => structuredClone(part));
  }
  if (typeof value !== 'object' || value === null) return replace(value, material);
  const values = Object.values(value);
  const part = values.length === 0 || random() < 0.3 ? pick(atoms, random) : pick(values, random);
  const count = Math.floor(room / (sizeOf(part) + 8));
  for (let index = 0; index < count; index += 1) value[`${index.toString(36)}x`] = structuredClone(part);
  return value;
};

/** Makes the items of a list different, because equal items are often cheaper. */
const vary: Change = (value) => {
  const own = (item: Json, index: number): Json => {
    if (typeof item === 'string') return `${item}${index}`;
    if (typeof item === 'number') return item + index;
    if (Array.isArray(item)) return [...item, index];
    return typeof item === 'object' && item !== null ? { ...item, id: index } : index;
  };
  return Array.isArray(value) ? value.map(own) : value;
};

const CHANGES: readonly Change[] = [replace, wrap, addMember, removeMember, splice, splice, grow, grow, grow, vary];
