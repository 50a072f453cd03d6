import { describe, expect, it } from '@jest/globals';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';

import { CannotTell } from '../../src/contract/schema/cannot-tell.js';
import { Comparison } from '../../src/contract/schema/comparison.js';
import { SchemaDocument } from '../../src/contract/schema/document.js';
import { SchemaComparer } from '../../src/contract/schema/compare-schemas.js';
import { ARGUMENTS, closed, INPUTS, PAIRS, VALUES } from './schema-arbitraries.js';

const nodeOf = (schema: unknown) => [{ schema, document: new SchemaDocument(schema), isClosed: false }];

function isCompatible(before: unknown, after: unknown): boolean {
  try {
    return new Comparison().compare(nodeOf(before), nodeOf(after)).length === 0;
  } catch (error) {
    if (error instanceof CannotTell) return false;
    throw error;
  }
}

const META = new Ajv2020({ strict: false, logger: false });

/** A validator; undefined if the schema is invalid, or leads back to itself. */
function validatorOf(schema: unknown): ValidateFunction | undefined {
  try {
    if (META.validateSchema(schema as object) !== true) return undefined;
    return new Ajv2020({ strict: false, logger: false, meta: false, validateSchema: false }).compile(schema as object);
  } catch {
    return undefined;
  }
}

/** Whether a value is valid; undefined if the schema leads back to itself for this value. */
function isValid(validate: ValidateFunction, value: unknown): boolean | undefined {
  try {
    return validate(value);
  } catch {
    return undefined;
  }
}

const POOL = [VALUES, ARGUMENTS].flatMap((values) => fc.sample(values, { numRuns: 400, seed: 7 }));

/** Values that only the old of two schemas accepts, and whether the two accept and refuse some. */
function compared(before: unknown, after: unknown, more: readonly unknown[]) {
  const [old, current] = [validatorOf(before), validatorOf(after)];
  if (old === undefined || current === undefined) return { wrong: [], isTelling: false };
  const results = [...POOL, ...more].map((value) => ({ value, was: isValid(old, value), is: isValid(current, value) }));
  return {
    wrong: results.filter(({ was, is }) => was === true && is === false),
    isTelling: results.some(({ was }) => was) && results.some(({ is }) => is === false),
  };
}

/** A property that the new schema no longer evaluates, though it doesn't forbid it by name. */
const LESS_EVALUATED = [{ properties: { c: true } }, true].map((dependent) => ({
  type: 'object',
  properties: { a: true },
  dependentSchemas: { a: dependent },
  unevaluatedProperties: false,
})) as [unknown, unknown];

describe('compatible schemas', () => {
  it('accept all values that the old ones accept', () => {
    let telling = 0;
    fc.assert(
      fc.property(PAIRS, fc.array(VALUES, { maxLength: 10 }), ([before, after], more) => {
        if (!isCompatible(before, after)) return;
        const { wrong, isTelling } = compared(before, after, more);
        expect(wrong).toEqual([]);
        if (isTelling) telling += 1;
      }),
      { numRuns: 500, examples: [[LESS_EVALUATED, [{ a: 1, c: 2 }]]] },
    );
    // pairs that accept everything or nothing show little
    expect(telling).toBeGreaterThan(15);
  });

  it('accept all arguments that the old ones name', () => {
    let telling = 0;
    fc.assert(
      fc.property(INPUTS, fc.array(ARGUMENTS, { maxLength: 10 }), ([before, after], more) => {
        if (new SchemaComparer().changes(before, after, 'input').some((each) => each.class === 'breaking')) return;
        const { wrong, isTelling } = compared(closed(before), closed(after), more);
        expect(wrong).toEqual([]);
        if (isTelling) telling += 1;
      }),
      { numRuns: 500 },
    );
    expect(telling).toBeGreaterThan(15);
  });
});
