import { NotFinite, requireFinite } from './finite.js';

/** Values that are nested deeper are considered circular. */
const MAX_DEPTH = 400;

type Fields = Record<string, unknown>;

/** Inside `for…in`, V8 answers this method from the object's shape, but not `Object.hasOwn`. */
const { hasOwnProperty } = Object.prototype;

/** Thrown for a value that cannot be written as JSON. */
export class NotJson extends Error {}

/**
 * The type of a value after a JSON round trip: dates, URLs and bigints become strings, maps with string keys become
 * objects, sets become arrays, bytes become base64, and methods disappear. `never` for types without a JSON form.
 */
export type Jsonified<T> = 0 extends 1 & T
  ? T
  : T extends string | number | boolean | null | undefined | void
    ? T
    : T extends symbol | Promise<unknown> | Error | AnyFunction
      ? never
      : T extends bigint | ArrayBuffer | Uint8Array | Uint8ClampedArray | DataView
        ? string
        : T extends { toJSON(...args: never[]): infer J }
          ? Jsonified<J>
          : T extends object
            ? JsonifiedObject<T>
            : T;

type AnyFunction = (...args: never[]) => unknown;

type JsonifiedObject<T extends object> =
  T extends ReadonlyMap<infer K, infer V>
    ? K extends string
      ? Record<string, Jsonified<V>>
      : [Jsonified<K>, Jsonified<V>][]
    : T extends ReadonlySet<infer V>
      ? Jsonified<V>[]
      : T extends readonly unknown[]
        ? { [K in keyof T]: Jsonified<T[K]> }
        : { [K in keyof T as T[K] extends AnyFunction ? never : K]: Jsonified<T[K]> };

/**
 * The JSON form of a value: dates and bigints as strings, instances as plain objects, maps with string keys as objects,
 * sets as arrays, bytes as base64, without `undefined` and functions. Numbers that JSON lacks are kept, so the schema
 * can reject them.
 * @param name the member that holds the value, for the error message
 * @throws {NotJson} for cycles, and for values that would be lost: errors, promises, streams, private state
 */
export function toJsonForm(value: unknown, name = '', depth = 0): unknown {
  // a string, because most JSON parsers lose digits of numbers this large
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) throw new NotJson('must not be circular or nested deeper than 400 levels.');
  if (Array.isArray(value)) return value.map((item) => listed(toJsonForm(item, name, depth + 1)));
  const plain = isPlain(value) ? value : substituteFor(value, name);
  if (plain !== value) return toJsonForm(plain, name, depth + 1);
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return toJsonForm((value as { toJSON(): unknown }).toJSON(), name, depth + 1);
  const form: Fields = {};
  let hasFunctions = false;
  for (const key of Object.keys(value)) {
    const item = toJsonForm((value as Fields)[key], key, depth + 1);
    if (isWritten(item) && key !== '__proto__') form[key] = item;
    else hasFunctions ||= typeof item === 'function';
  }
  if (hasFunctions && Object.keys(form).length === 0) {
    throw notJson('an object of functions', name, 'Return what they return.');
  }
  return form;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * The value to write in place of an instance whose own members don't represent it; otherwise the instance itself.
 * @throws {NotJson} if there is no such value
 */
function substituteFor(value: object, name: string): unknown {
  const bytes = bytesOf(value);
  if (bytes !== undefined) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return value;
  if (value instanceof Map) {
    const entries = [...(value as Map<unknown, unknown>)];
    return entries.every(([key]) => typeof key === 'string') ? Object.fromEntries(entries) : entries;
  }
  if (value instanceof Error) throw notJson(`an error (${value.name})`, name, 'Throw it, or return its message.');
  if (ArrayBuffer.isView(value)) return [...(value as Float32Array)];
  if (value instanceof Promise) throw notJson('a promise', name, 'Await it.');
  if (Object.keys(value).length > 0) return value;
  if (Symbol.iterator in value) return [...(value as Iterable<unknown>)];
  const cls = classWithMembers(value);
  if (cls !== undefined)
    throw notJson(`an instance of ${cls.name || 'a class'}`, name, 'Return plain data, or give the class a toJSON().');
  return value;
}

/** The class of an instance, if the class has methods or accessors. Other instances cannot hide anything. */
function classWithMembers(value: object): { readonly name: string } | undefined {
  let prototype = Object.getPrototypeOf(value) as object | null;
  while (prototype !== null && !isTop(prototype)) {
    if (Reflect.ownKeys(prototype).length > 1) return prototype.constructor;
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return undefined;
}

const isTop = (prototype: object): boolean => Object.getPrototypeOf(prototype) === null;

/** The bytes of a buffer, or of a view of bytes; undefined for any other value, even a view of floats. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) {
    const isBytes = value instanceof Uint8Array || value instanceof Uint8ClampedArray || value instanceof DataView;
    return isBytes ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : undefined;
  }
  const isBuffer = value instanceof ArrayBuffer || value instanceof SharedArrayBuffer;
  return isBuffer ? new Uint8Array(value) : undefined;
}

const notJson = (what: string, name: string, remedy: string): NotJson =>
  new NotJson(`must not contain ${what}${name === '' ? '' : ` (in "${name}")`}. ${remedy}`);

/**
 * Whether `JSON.stringify` would fail on a value or lose parts of it, such as the message of an error, the entries of a
 * map, or the state of an instance without members. The result of a `toJSON` may contain such values too.
 */
function needsForm(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  if (depth > MAX_DEPTH) return true;
  if (Array.isArray(value)) {
    // not `for…of`: this runs for each value of most results
    for (let at = 0; at < value.length; at += 1) {
      const item: unknown = value[at];
      if (typeof item === 'object' ? item !== null && needsForm(item, depth + 1) : typeof item === 'bigint')
        return true;
    }
    return false;
  }
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return !(value instanceof Date);
  if (value instanceof Error || value instanceof Promise || ArrayBuffer.isView(value)) return true;
  let isEmpty = true;
  for (const key in value) {
    const member = (value as Fields)[key];
    // Blobs and streams inherit enumerable members
    if (isEmpty && isWritten(member)) isEmpty = !hasOwnProperty.call(value, key);
    // most members are strings or numbers, so test for these first
    if (typeof member === 'string' || typeof member === 'number') continue;
    if (typeof member === 'object' ? member !== null && needsForm(member, depth + 1) : typeof member === 'bigint')
      return true;
  }
  return isEmpty && (!isPlain(value) || Object.keys(value).length > 0);
}

/**
 * The JSON of a value, as with `toJsonForm`. Most values are serialized without a copy.
 * @throws {NotJson}
 */
export function toJsonText(value: unknown): string {
  const form = needsForm(value) ? toJsonForm(value) : value;
  if (!isWritten(form))
    throw new NotJson(`must not be ${typeof form === 'undefined' ? 'undefined' : `a ${typeof form}`}.`);
  const json = JSON.stringify(form);
  try {
    requireFinite(form, json);
  } catch (error) {
    throw error instanceof NotFinite
      ? new NotJson(`must not contain a number that JSON lacks. ${error.message}`)
      : error;
  }
  return json;
}

function isWritten(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

function listed(item: unknown): unknown {
  return isWritten(item) ? item : null;
}

/** Whether merging the object could reach a prototype through this key (compare `secure-json-parse`). */
function isHarmful(key: string, value: unknown): boolean {
  if (key === '__proto__') return true;
  return key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

/** The path to the first key that could reach a prototype, if any. */
export function harmfulPath(value: unknown): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) {
      const rest = harmfulPath(value[at]);
      if (rest !== undefined) return [String(at), ...rest];
    }
    return undefined;
  }
  for (const key in value) {
    const item = (value as Fields)[key];
    const rest = isHarmful(key, item) ? [] : harmfulPath(item);
    if (rest !== undefined) return [key, ...rest];
  }
  return undefined;
}

/**
 * The value after a JSON round trip.
 * @param what names the value in the error
 * @throws {Error} if the value cannot be written as JSON
 */
export function jsonRoundTrip(value: unknown, what: string): unknown {
  if (value === undefined) return undefined;
  try {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new NotJson(`must not be ${value}.`);
    return JSON.parse(toJsonText(value)) as unknown;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new Error(`${what} cannot be written as JSON: it ${error.message}`, { cause: error });
  }
}
