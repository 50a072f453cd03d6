import type { Ajv, Code, CodeKeywordDefinition, KeywordCxt, ValidateFunction } from 'ajv';

import { loadAjv } from '../metadata/libraries.cjs';
import type { Problem } from '../shape.js';

/** Reported for a value whose check would take too long. */
export const TOO_COMPLEX: readonly Problem[] = [{ path: '', expected: 'is too complex to be checked' }];

/** For arguments with more values or errors than this, only the first problem is reported. */
const MAX_VALUES = 2500;

/** The references that the current check may still follow. Validation of the schemas themselves isn't limited. */
const steps = { left: Number.POSITIVE_INFINITY };
const MIN_STEPS = 10_000;
const STEPS_PER_VALUE = 20;

/** Keywords that refer to another part of the schema. `$dynamicRef` exists only in 2020-12. */
const REFERENCES = ['$ref', '$dynamicRef'] as const;

class TooComplex extends Error {}

function tooComplex(): never {
  throw new TooComplex();
}

/** Makes checks give up if the condition holds when they reach one of these keywords. */
function stopAt(ajv: Ajv, keywords: readonly string[], condition: (cxt: KeywordCxt) => Code): void {
  const { _ } = loadAjv();
  for (const keyword of keywords) {
    const rule = ajv.RULES.all[keyword] as { definition: CodeKeywordDefinition } | undefined;
    if (rule === undefined) continue;
    const { code } = rule.definition;
    rule.definition = {
      ...rule.definition,
      code(cxt) {
        cxt.gen.code(_`if (${condition(cxt)}) ${cxt.gen.scopeValue('func', { ref: tooComplex })}();`);
        code(cxt);
      },
    };
  }
}

/**
 * Counts the references that a check follows. A recursive schema may reach a value by several paths, such as
 * `properties` and `allOf`, so the work doubles with each level of the value.
 */
function countReferences(ajv: Ajv): void {
  const { _ } = loadAjv();
  stopAt(ajv, REFERENCES, ({ gen }) => _`--${gen.scopeValue('obj', { ref: steps })}.left < 0`);
}

/** Counts errors where they multiply: a union has the errors of all its branches for each value, and can be nested. */
function countErrors(ajv: Ajv): void {
  const { _, Name } = loadAjv();
  const errors = new Name('errors');
  stopAt(ajv, ['anyOf', 'oneOf', 'allOf', 'required', '$ref'], () => _`${errors} > ${MAX_VALUES}`);
}

/** Makes the checks of an instance give up after a bounded amount of work. Run the checks with `runBounded`. */
export function boundWork(ajv: Ajv, allErrors: boolean): void {
  countReferences(ajv);
  if (allErrors) countErrors(ajv);
}

/** Whether a check counts references. */
export function followsReferences({ schema }: ValidateFunction): boolean {
  const text = JSON.stringify(schema);
  return REFERENCES.some((keyword) => text.includes(`"${keyword}"`));
}

/**
 * Whether to search for all problems. The search takes time in proportion to the value, so only the first problem is
 * reported for large values.
 * @param maxText cap on the length of each text and each name of a field
 */
export function isSmall(value: unknown, maxText: number, budget = { left: MAX_VALUES }): boolean {
  if (typeof value === 'string' && value.length > maxText) return false;
  budget.left -= 1;
  if (budget.left < 0) return false;
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((item) => isSmall(item, maxText, budget));
  return Object.entries(value).every(([name, item]) => name.length <= maxText && isSmall(item, maxText, budget));
}

/** The number of values in a value, including itself. */
export function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((size: number, item) => size + sizeOf(item), 1);
}

/** Runs a check. Returns undefined if it takes too many steps for the size of the value. */
export function runBounded(check: ValidateFunction, value: unknown): boolean | undefined {
  // the check of a field runs within another check, and shares its steps
  if (steps.left !== Number.POSITIVE_INFINITY) return check(value) as boolean;
  const attempt = (limit: number): boolean | undefined => {
    steps.left = limit;
    try {
      return check(value);
    } catch (error) {
      if (error instanceof TooComplex) return undefined;
      throw error;
    } finally {
      steps.left = Number.POSITIVE_INFINITY;
    }
  };
  const result = attempt(MIN_STEPS);
  if (result !== undefined) return result;
  const limit = STEPS_PER_VALUE * sizeOf(value);
  return limit > MIN_STEPS ? attempt(limit) : undefined;
}

const FREE_OBJECTS = 2000;
const CHARACTERS_PER_OBJECT = 20;

const objectsIn = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((count: number, item) => count + objectsIn(item), Array.isArray(value) ? 0 : 1)
    : 0;

/**
 * Whether a value consists mostly of tiny objects. class-transformer and class-validator take microseconds for each
 * object, however small.
 */
export function hasTinyObjects(value: unknown): boolean {
  const paid = objectsIn(value) - FREE_OBJECTS;
  return paid > 0 && paid > JSON.stringify(value).length / CHARACTERS_PER_OBJECT;
}
