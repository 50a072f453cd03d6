import { type DecorumError, startupError } from '../errors.js';
import type { JsonObject } from '../values/json.js';
import type { Direction } from '../rules/class-facts.js';
import type { Encoded } from './class-model.js';
import { noteMessage } from '../rules/keywords.js';

/** How to send a type that JSON lacks. Dates are handled separately, because they have rules. */
interface Encoding {
  readonly to: Exclude<Encoded, 'date' | 'day'>;
  readonly keywords: Readonly<Record<Direction, JsonObject>>;
  readonly expected: string;
}

const NOT_BASE64 = 'must be base64, such as "aGVsbG8="';

/** Compares the text after a round trip, because a regular expression would overflow the stack on a few megabytes. */
const isBase64 = (text: string): boolean => Buffer.from(text, 'base64').toString('base64') === text;

const BASE64 = {
  type: 'string',
  contentEncoding: 'base64',
  rule: (value: unknown) => (typeof value !== 'string' || isBase64(value) ? [] : [NOT_BASE64]),
};
const base64 = (to: 'bytes' | 'buffer'): Encoding => ({
  to,
  keywords: { input: BASE64, output: BASE64 },
  expected: NOT_BASE64,
});

const WHOLE = /^-?[0-9]+$/;

const BIGINT: Encoding = {
  to: 'bigint',
  keywords: {
    input: {
      type: ['integer', 'string'],
      pattern: WHOLE.source,
      // parsing the digits takes quadratic time
      maxLength: 1000,
      // JSON parsers have already lost digits of larger numbers
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
    },
    output: { type: 'string', pattern: WHOLE.source },
  },
  expected: 'must be an integer, or a string of its digits if it has more than 15',
};

/** Encodings by the type of the field. */
export const ENCODINGS: ReadonlyMap<unknown, Encoding> = new Map<unknown, Encoding>([
  [Uint8Array, base64('bytes')],
  [Buffer, base64('buffer')],
  [BigInt, BIGINT],
]);

/** The error for a field of bytes or a bigint in a class that needs class-transformer. */
export function encodingProblem(where: string): DecorumError {
  const problem =
    'class-transformer cannot convert bytes and bigints, and it is used for classes with @Expose, @Exclude or @Transform';
  const remedy = 'Give the field a @Transform() that parses its text, or remove those decorators.';
  return startupError('DECORUM_INVALID_FIELD', where, problem, remedy);
}

/** The schema of the value on the wire. */
export function encodedSchema({ keywords, expected }: Encoding, direction: Direction): JsonObject {
  const schema = { ...keywords[direction] };
  noteMessage(schema, Object.keys(schema), () => expected);
  return schema;
}

const readDate = (value: unknown): unknown => (typeof value === 'string' ? new Date(value) : value);

/** Decoders for validated values from the wire. Handlers may return decoded values, which are left alone. */
export const DECODERS: Readonly<Record<Encoded, (value: unknown) => unknown>> = {
  date: readDate,
  day: readDate,
  buffer: (value) => (typeof value === 'string' ? Buffer.from(value, 'base64') : value),
  // copied, because small buffers share memory
  bytes: (value) => (typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value),
  bigint: (value) =>
    Number.isSafeInteger(value) || (typeof value === 'string' && WHOLE.test(value)) ? BigInt(value as string) : value,
};
