import { startupError } from '../errors.js';
import type { JsonObject } from '../values/json.js';
import { compileRaw, type Dialect, type Inspection } from './ajv.js';
import { BadPattern } from '../patterns/longest-text.js';
import { describePattern } from '../patterns/pattern-place.js';
import { keywordMistake } from '../json-schema/raw-keywords.js';

const MAX_DEPTH = 64;
const MAX_SCHEMAS = 10_000;

const DIALECTS: readonly (readonly [RegExp, Dialect])[] = [
  [/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, '2020-12'],
  [/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/, 'draft-07'],
];

function dialectOf({ $schema }: JsonObject, where: string): Dialect {
  if ($schema === undefined) return '2020-12';
  const dialect = DIALECTS.find(([uri]) => uri.test(String($schema)))?.[1];
  if (dialect !== undefined) return dialect;
  const reason = `its dialect "${String($schema)}" is not supported. Use JSON Schema 2020-12 or draft-07`;
  throw startupError('DECORUM_INVALID_SCHEMA', where, reason);
}

/** Counts the objects in a schema, up to the limits above. */
function sizeOf(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > MAX_DEPTH) return Number.POSITIVE_INFINITY;
  let size = 1;
  for (const part of Object.values(value)) {
    size += sizeOf(part, depth + 1);
    if (size > MAX_SCHEMAS) return size;
  }
  return size;
}

/**
 * Rejects a schema that is too deep or too large to compile.
 * @throws {DecorumError} `DECORUM_INVALID_SCHEMA`
 */
export function boundSchema(schema: JsonObject, where: string): void {
  const size = sizeOf(schema, 0);
  if (size === Number.POSITIVE_INFINITY) {
    throw startupError(
      'DECORUM_INVALID_SCHEMA',
      where,
      `it is nested deeper than ${MAX_DEPTH} levels. Make it flatter`,
    );
  }
  if (size > MAX_SCHEMAS)
    throw startupError('DECORUM_INVALID_SCHEMA', where, `it has more than ${MAX_SCHEMAS} parts. Make it smaller`);
}

/** A cache by text, because a handler that asks the client may create an equal schema on each call. */
const recent = new Map<string, Inspection>();
const MAX_RECENT = 500;

function remember(text: string, inspection: Inspection): Inspection {
  if (recent.size >= MAX_RECENT) recent.delete(recent.keys().next().value ?? '');
  recent.set(text, inspection);
  return inspection;
}

/**
 * Compiles a JSON Schema. References to other documents are never fetched.
 * @throws {DecorumError} `DECORUM_INVALID_SCHEMA`
 */
export function inspectRaw(schema: JsonObject, where: string): Inspection {
  const dialect = dialectOf(schema, where);
  boundSchema(schema, where);
  try {
    const text = textOf(schema);
    return recent.get(text) ?? remember(text, compileChecked(schema, dialect));
  } catch (error) {
    throw startupError('DECORUM_INVALID_SCHEMA', where, reasonOf(error as Error, schema));
  }
}

function reasonOf(error: Error & { readonly missingRef?: string }, schema: JsonObject): string {
  const { message, missingRef } = error;
  if (missingRef !== undefined)
    return `the reference "${missingRef}" points outside the schema, and is not fetched. Move its target to \`$defs\``;
  if (error instanceof RangeError)
    return 'a `$ref` leads back to itself for the same value, so a check would never end. Refer to another schema';
  return error instanceof BadPattern ? describePattern(error, schema) : message;
}

function textOf(schema: JsonObject): string {
  try {
    return JSON.stringify(schema);
  } catch (error) {
    throw new Error(`${(error as Error).message}. Pass \`z.object({ … })\`, or plain JSON`, { cause: error });
  }
}

function compileChecked(schema: JsonObject, dialect: Dialect): Inspection {
  const mistake = keywordMistake(schema);
  if (mistake !== undefined) throw new Error(mistake);
  const inspection = compileRaw(schema, dialect);
  // a check without end overflows the stack for all values of a type
  for (const value of [null, true, 0, '', [], {}]) inspection.fits(value);
  return inspection;
}
