import fc from 'fast-check';

/**
 * Malformed messages for any transport: a line on stdio or an HTTP body. Most are valid messages with one mutation,
 * because these get furthest into the server.
 */

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Path = readonly (string | number)[];

/** Keys that pollute a prototype if they are assigned carelessly. */
export const HOSTILE_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '$ref',
  '',
] as const;

/** Marks a string that `write` inserts as raw text, for values that JSON.stringify can't produce. */
const RAW = '\u{f8ff}raw:';
const raw = (text: string) => `${RAW}${text}`;

const nested = (depth: number, [open, close]: readonly [string, string]) =>
  raw(open.repeat(depth) + close.repeat(depth));

const STRINGS = [
  ...HOSTILE_KEYS,
  '../../../etc/passwd',
  'file:///..%2f..%2fetc/passwd',
  'weather://%252e%252e',
  'weather://__proto__',
  '\u0000',
  '\r\nContent-Length: 0\r\n\r\n',
  '\ud800',
  '\u2028\u2029',
  '💥'.repeat(64),
  'x'.repeat(90_000),
  '{}',
] as const;

const NUMBERS = [0, -1, 1.5, 2 ** 53, -(2 ** 53), 1e308, raw('1e999'), raw('-1e999'), raw('9'.repeat(400)), raw('-0')];

const DEEP = [
  nested(65, ['[', ']']),
  nested(65, ['{"a":', '1}'.slice(1)]),
  nested(20_000, ['[', ']']),
  raw(`${'{"a":'.repeat(12_000)}1${'}'.repeat(12_000)}`),
];

const hostileValue = (): fc.Arbitrary<Json> =>
  fc.oneof(
    fc.constantFrom<Json>(null, true, false, [], {}, [[]], [null]),
    fc.constantFrom<Json>(...NUMBERS),
    fc.constantFrom<Json>(...STRINGS),
    fc.constantFrom<Json>(...DEEP),
    fc.constantFrom(...HOSTILE_KEYS).map((key) => withKey({}, key, { polluted: true })),
    fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
  );

/** Copies an object and adds a member. Unlike an assignment, this can create a member named `__proto__`. */
function withKey(object: object, key: string, value: Json): Json {
  const copy = { ...object };
  Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
  return copy as Json;
}

const isTree = (value: unknown): value is Record<string, Json> => typeof value === 'object' && value !== null;

/** The paths of all members, at any depth. */
function pathsOf(value: Json, path: Path = []): Path[] {
  if (!isTree(value)) return [path];
  return [path, ...Object.keys(value).flatMap((key) => pathsOf(value[key] as Json, [...path, key]))];
}

/** Copies a value and changes it in one place. Deletes the member if `change` returns undefined. */
function changeAt(value: Json, path: Path, change: (old: Json) => Json | undefined): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return change(value);
  const tree = value as Record<string, Json>;
  const changed = changeAt(tree[key] as Json, rest, change);
  if (Array.isArray(value))
    return value.flatMap((item: Json, index) => (index === Number(key) ? (changed ?? []) : [item]));
  const others = Object.fromEntries(Object.entries(tree).filter(([name]) => name !== key));
  return changed === undefined ? others : withKey(others, String(key), changed);
}

/** The text of a message, including raw values. */
function write(message: Json | undefined): string {
  return (JSON.stringify(message) ?? '').replaceAll(
    new RegExp(`"${RAW}((?:[^"\\\\]|\\\\.)*)"`, 'g'),
    (_, text: string) => text.replaceAll('\\"', '"'),
  );
}

/** A valid message with one change in its tree. */
function changedTree(valid: fc.Arbitrary<Json>): fc.Arbitrary<string> {
  return valid.chain((message) => {
    const paths = pathsOf(message);
    const inner = paths.filter(({ length }) => length > 1);
    const place = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...(inner.length > 0 ? inner : paths)) },
      { weight: 1, arbitrary: fc.constantFrom(...paths) },
    );
    const change = (to: fc.Arbitrary<(old: Json) => Json | undefined>) =>
      fc.tuple(place, to).map(([path, by]) => write(changeAt(message, path, by)));
    return fc.oneof(
      { weight: 4, arbitrary: change(hostileValue().map((value) => () => value)) },
      { weight: 2, arbitrary: change(fc.constant(() => undefined)) },
      {
        weight: 2,
        arbitrary: change(
          fc.tuple(fc.oneof(fc.constantFrom<string>(...HOSTILE_KEYS), fc.string()), hostileValue()).map(
            ([key, value]) =>
              (old) =>
                isTree(old) && !Array.isArray(old) ? withKey(old, key, value) : value,
          ),
        ),
      },
      { weight: 1, arbitrary: change(fc.constant((old) => [old])) },
    );
  });
}

/** A valid message with damaged text. */
function changedText(valid: fc.Arbitrary<Json>): fc.Arbitrary<string> {
  const texts = valid.map(write);
  const at = fc.double({ min: 0, max: 1, noNaN: true });
  return fc.oneof(
    fc.tuple(texts, at).map(([text, part]) => text.slice(0, Math.floor(part * text.length))),
    fc.tuple(texts, at).map(([text, part]) => text.slice(Math.floor(part * text.length))),
    texts.map((text) => text.replaceAll(/[{}]/g, '$&$&')),
    texts.map((text) => `${text}${text}`),
    texts.map((text) => `[${text},${text}]`),
    fc.tuple(texts, at, fc.string()).map(([text, part, noise]) => {
      const middle = Math.floor(part * text.length);
      return text.slice(0, middle) + noise.replaceAll('\n', '') + text.slice(middle);
    }),
  );
}

/** A valid message with invalid UTF-8 (RFC 3629, section 3). */
function changedBytes(valid: fc.Arbitrary<Json>): fc.Arbitrary<Uint8Array> {
  const sequences = [[0xff], [0xc0, 0xaf], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0x80]];
  return fc
    .tuple(valid.map(write), fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(...sequences))
    .map(([text, part, sequence]) => {
      const bytes = Buffer.from(text);
      const middle = Math.floor(part * bytes.length);
      return Buffer.concat([bytes.subarray(0, middle), Buffer.from(sequence), bytes.subarray(middle)]);
    });
}

/** Random data that was never a message. */
function garbage(): fc.Arbitrary<Uint8Array> {
  const texts = fc.oneof(fc.json(), fc.string(), hostileValue().map(write), fc.constant('Content-Length: 20\r\n\r'));
  return fc.oneof(
    texts.map((text) => Buffer.from(text.replaceAll('\n', ' '))),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => bytes.map((byte) => (byte === 0x0a ? 0 : byte))),
  );
}

/**
 * Malformed messages without newlines. Some are still valid, because a change may be harmless.
 * @param messages valid messages to mutate
 */
export function malformedMessages(messages: readonly object[]): fc.Arbitrary<Uint8Array> {
  // fresh ids, because a request with the id of one in flight is rejected before anything else is checked
  const valid = fc
    .tuple(fc.constantFrom(...messages), fc.nat())
    .map(([message, id]) => ('id' in message && 'method' in message ? { ...message, id: `m${id}` } : message) as Json);
  const encode = (text: string): Uint8Array => Buffer.from(text);
  return fc.oneof(
    { weight: 6, arbitrary: changedTree(valid).map(encode) },
    { weight: 2, arbitrary: changedText(valid).map(encode) },
    { weight: 1, arbitrary: changedBytes(valid) },
    { weight: 1, arbitrary: garbage() },
  );
}
