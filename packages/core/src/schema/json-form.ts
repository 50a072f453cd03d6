import { types } from 'node:util';

/** Deeper values are taken for endless ones. */
const MAX_DEPTH = 400;

type Fields = Record<string, unknown>;

/** A value cannot be written as JSON. */
export class NotJson extends Error {}

/**
 * What becomes of a value on its way through JSON: dates and URLs become text, maps with text keys objects, sets lists,
 * bytes base64, and methods are gone. `never` for what has no JSON.
 */
export type Jsonified<T> = 0 extends 1 & T
  ? T
  : T extends string | number | boolean | null | undefined | void
    ? T
    : T extends bigint | symbol | Promise<unknown> | Error | AnyFunction
      ? never
      : T extends ArrayBuffer | Uint8Array | Uint8ClampedArray | DataView
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
 * What JSON makes of a value: dates as text, instances as plain objects, maps with text keys as objects, sets as lists,
 * bytes as base64, `undefined` and functions left out. Numbers that JSON does not have are kept, so that the schema
 * refuses them.
 * @param name of the member that holds the value, for the error
 * @throws {NotJson} for what would be lost: cycles, bigints, errors, promises, streams, private state
 */
export function toJsonForm(value: unknown, name = '', depth = 0): unknown {
  if (typeof value === 'bigint') throw notJson('a bigint', name, 'Return its text, or a number.');
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) throw new NotJson('must not be circular or nested deeper than 400 levels.');
  const bytes = bytesOf(value);
  if (bytes !== undefined) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return toJsonForm((value as { toJSON(): unknown }).toJSON(), name, depth + 1);
  if (Array.isArray(value)) return value.map((item, index) => listed(toJsonForm(item, `${name}[${index}]`, depth + 1)));
  const isMap = types.isMap(value);
  const entries: (readonly [unknown, unknown])[] = isMap ? [...value] : Object.entries(value);
  const isEmpty = entries.length === 0;
  if (!isMap && (isEmpty || types.isNativeError(value))) refuseHidden(value, name);
  if (types.isTypedArray(value) || (isEmpty && !isMap && isIterable(value)))
    return toJsonForm([...value], name, depth + 1);
  if (!entries.every(([key]) => typeof key === 'string')) return toJsonForm(entries, name, depth + 1);
  const form: Fields = {};
  for (const [key, entry] of entries as [string, unknown][]) {
    const item = toJsonForm(entry, key, depth + 1);
    if (isWritten(item) && key !== '__proto__') form[key] = item;
  }
  if (Object.keys(form).length === 0 && entries.some(([, entry]) => typeof entry === 'function')) {
    throw notJson('an object of functions', name, 'Return what they return.');
  }
  return form;
}

/** The bytes of a view or buffer of bytes. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (types.isAnyArrayBuffer(value)) return new Uint8Array(value);
  if (types.isDataView(value) || types.isUint8ClampedArray(value))
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return types.isUint8Array(value) ? value : undefined;
}

const notJson = (what: string, name: string, remedy: string): NotJson =>
  new NotJson(`must not hold ${what}${name === '' ? '' : ` (in "${name}")`}. ${remedy}`);

const isIterable = (value: object): value is Iterable<unknown> => Symbol.iterator in value;

/** Refuses an object without members whose class has some: what it holds would be lost. */
function refuseHidden(value: object, name: string): void {
  if (types.isNativeError(value)) throw notJson(`an ${value.name}`, name, 'Throw it, or return its message.');
  if (types.isPromise(value)) throw notJson('a promise', name, 'Await it.');
  if (isIterable(value)) return;
  let prototype: unknown = Object.getPrototypeOf(value);
  while (typeof prototype === 'object' && prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    if (Reflect.ownKeys(prototype).length > 1) {
      throw notJson(
        `a ${(prototype as object).constructor.name}`,
        name,
        'Return plain data, or give the class a toJSON().',
      );
    }
    prototype = Object.getPrototypeOf(prototype);
  }
}

/** What `JSON.stringify` leaves of what it cannot see: objects without members, and bytes as lists of numbers. */
const LEFTOVERS = ['{}', '{"0":', '"type":"Buffer"'];

/**
 * The JSON of a value, as by `toJsonForm`. Most values are written without looking at each member of them.
 * @throws {NotJson}
 */
export function toJsonText(value: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    // the walk below says why
  }
  if (json !== undefined && !LEFTOVERS.some((leftover) => json?.includes(leftover))) return json;
  const form = toJsonForm(value);
  if (!isWritten(form))
    throw new NotJson(`must not be ${typeof form === 'undefined' ? 'undefined' : `a ${typeof form}`}.`);
  return JSON.stringify(form);
}

function isWritten(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

function listed(item: unknown): unknown {
  return isWritten(item) ? item : null;
}

/** Nothing a merge of this object could reach a prototype by (compare `secure-json-parse`). */
function isHarmful(key: string, value: unknown): boolean {
  if (key === '__proto__') return true;
  return key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

/** The way to the first key that could reach a prototype, if there is one. */
export function harmfulPath(value: unknown): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const key of Object.keys(value)) {
    const item = (value as Fields)[key];
    const rest = isHarmful(key, item) ? [] : harmfulPath(item);
    if (rest !== undefined) return [key, ...rest];
  }
  return undefined;
}
