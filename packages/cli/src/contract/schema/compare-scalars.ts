import type { Bound, Form } from './form.js';
import { counted, limit, type Problem, unknown } from './problem.js';
import { excerptOf } from './work.js';

type Path = readonly string[];

/** Why some numbers of `a` don't fit `b`. */
export function compareNumbers(a: Form, b: Form, path: Path): readonly Problem[] {
  const problems: Problem[] = [];
  const isInteger = a.isInteger || a.multiples.some(Number.isInteger);
  if (b.isInteger && !isInteger) problems.push(limit(path, 'a whole number'));
  const [low, high] = [b.minimum, b.maximum];
  if (low !== undefined && !isWithin(a.minimum, low, { sign: 1, isInteger }))
    problems.push(limit(path, `${low.isExclusive ? 'above' : 'at least'} ${low.value}`));
  if (high !== undefined && !isWithin(a.maximum, high, { sign: -1, isInteger }))
    problems.push(limit(path, `${high.isExclusive ? 'below' : 'at most'} ${high.value}`));
  for (const step of b.multiples) {
    // remainders are exact only for integers
    const isStep = (each: number) => each === step || (isSafe(each) && isSafe(step) && each % step === 0);
    if (!a.multiples.some(isStep) && !(step === 1 && isInteger)) problems.push(limit(path, `a multiple of ${step}`));
  }
  return problems;
}

const isSafe = Number.isSafeInteger;

/** Whether a bound allows at most what another allows. */
function isWithin(
  bound: Bound | undefined,
  other: Bound,
  { sign, isInteger }: { readonly sign: 1 | -1; readonly isInteger: boolean },
): boolean {
  if (bound === undefined) return false;
  if (isInteger) return (firstInteger(bound, sign) - firstInteger(other, sign)) * sign >= 0;
  const distance = (bound.value - other.value) * sign;
  return distance > 0 || (distance === 0 && (bound.isExclusive || !other.isExclusive));
}

/** The first integer that a bound allows. */
function firstInteger({ value, isExclusive }: Bound, sign: 1 | -1): number {
  const first = sign === 1 ? Math.ceil(value) : Math.floor(value);
  return isExclusive && first === value ? first + sign : first;
}

/** Why some strings of `a` don't fit `b`. */
export function compareStrings(a: Form, b: Form, path: Path): readonly Problem[] {
  const problems: Problem[] = [];
  if (b.minLength > a.minLength)
    problems.push(limit(path, `at least ${counted(b.minLength, 'character', 'characters')} long`));
  if (b.maxLength < a.maxLength)
    problems.push(limit(path, `at most ${counted(b.maxLength, 'character', 'characters')} long`));
  for (const pattern of b.patterns) {
    if (!a.patterns.includes(pattern))
      problems.push(unknown(path, `whether all values match ${excerptOf(pattern)} is not known`));
  }
  for (const format of b.formats) {
    if (!a.formats.includes(format))
      problems.push(unknown(path, `whether all values have the format ${excerptOf(format)} is not known`));
  }
  return problems;
}
