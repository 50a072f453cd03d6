import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';

import { startupError } from '../protocol/errors.js';
import type { JsonObject } from '../protocol/model.js';
import type { Direction } from './class-facts.js';
import { describeIssues } from './problems.js';
import type { Checked } from './shape.js';

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
      vendor === 'valibot'
        ? 'wrap it in `toStandardJsonSchema` from @valibot/to-json-schema'
        : 'use a library or an adapter that implements Standard JSON Schema, or give a JSON Schema';
    throw startupError('DECORUM_INVALID_SCHEMA', where, `this ${vendor} schema offers no JSON Schema; ${remedy}`);
  }
  const target = 'draft-2020-12';
  try {
    return jsonSchema[direction]({ target });
  } catch (error) {
    throw startupError('DECORUM_INVALID_SCHEMA', where, `${vendor} says "${(error as Error).message}"`);
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
