import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';

import { startupError } from '../protocol/errors.js';
import type { JsonObject } from '../protocol/model.js';
import type { Direction } from './class-facts.js';
import { describeIssues } from './problems.js';
import type { Checked } from './shape.js';

/** What to write for schemas without a JSON Schema, by vendor. */
const REMEDIES: Readonly<Record<string, string>> = {
  valibot: 'Wrap it in `toStandardJsonSchema` from @valibot/to-json-schema',
  // the schemas of version 3 and of zod/mini
  zod: "Upgrade to zod 4.2, and write `import { z } from 'zod'`",
};

/** Whether a value follows the Standard Schema specification (zod, arktype, valibot …). */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isHolder && '~standard' in value && typeof value['~standard'] === 'object';
}

/**
 * The JSON Schema of a Standard Schema, by its own converter (Standard JSON Schema).
 * @throws {DecorumError} `DECORUM_INVALID_SCHEMA`
 */
export function standardJson(source: StandardSchemaV1, where: string, direction: Direction): JsonObject {
  const { jsonSchema, vendor } = source['~standard'] as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;
  if (jsonSchema === undefined) {
    const remedy =
      REMEDIES[vendor] ?? 'Use a library or an adapter that implements Standard JSON Schema, or pass a JSON Schema';
    throw startupError('DECORUM_INVALID_SCHEMA', where, `this ${vendor} schema offers no JSON Schema. ${remedy}`);
  }
  const target = 'draft-2020-12';
  try {
    return jsonSchema[direction]({ target });
  } catch (error) {
    throw startupError(
      'DECORUM_INVALID_SCHEMA',
      where,
      `${vendor} says "${(error as Error).message}". Use types that JSON has, or pass a JSON Schema`,
    );
  }
}

function verdict(result: StandardSchemaV1.Result<unknown>): Checked {
  return result.issues === undefined
    ? { ok: true, value: result.value }
    : { ok: false, problems: describeIssues(result.issues) };
}

/** Lets the library itself check a value. */
export function checkStandard(source: StandardSchemaV1, value: unknown): Checked | Promise<Checked> {
  const result = source['~standard'].validate(value);
  return result instanceof Promise ? result.then(verdict) : verdict(result);
}
