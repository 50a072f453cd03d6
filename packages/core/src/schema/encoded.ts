import type { JsonObject } from '../protocol/model.js';
import type { Direction } from './class-facts.js';
import type { Encoded } from './class-model.js';
import { noteMessage } from './keywords.js';

/** How values travel that JSON has no type for. Dates do so too; they have rules of their own. */
interface Encoding {
  readonly to: Exclude<Encoded, 'date'>;
  readonly keywords: Readonly<Record<Direction, JsonObject>>;
  readonly expected: string;
}

const NOT_BASE64 = 'must be base64, such as "aGVsbG8="';

/** A pattern that says so exhausts the stack on a few megabytes. */
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
      // reading digits takes quadratic time
      maxLength: 1000,
      // a number beyond these has lost digits on its way
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
    },
    output: { type: 'string', pattern: WHOLE.source },
  },
  expected: 'must be an integer, or its digits as a string where it has more than 15',
};

/** The encodings by the type of the field. */
export const ENCODINGS: ReadonlyMap<unknown, Encoding> = new Map<unknown, Encoding>([
  [Uint8Array, base64('bytes')],
  [Buffer, base64('buffer')],
  [BigInt, BIGINT],
]);

/** What an encoding says of the value on the wire. */
export function encodedSchema({ keywords, expected }: Encoding, direction: Direction): JsonObject {
  const schema = { ...keywords[direction] };
  noteMessage(schema, Object.keys(schema), () => expected);
  return schema;
}

/** Reads a value from the wire, which has been checked. What a handler returned is left as it is. */
export const DECODERS: Readonly<Record<Encoded, (value: unknown) => unknown>> = {
  date: (value) => (typeof value === 'string' ? new Date(value) : value),
  buffer: (value) => (typeof value === 'string' ? Buffer.from(value, 'base64') : value),
  // a copy: small buffers share their memory
  bytes: (value) => (typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value),
  bigint: (value) =>
    Number.isSafeInteger(value) || (typeof value === 'string' && WHOLE.test(value)) ? BigInt(value as string) : value,
};
