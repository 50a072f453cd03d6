import { andThen, type Checked, type Problem, type Shape } from '@decorum/schema/internal';

import { ToolError } from '../protocol/errors.js';
import { withFailureCause } from '../protocol/failure-cause.js';

/** The part of a schema that checks arguments. */
export type InputCheck = Pick<Shape, 'check'>;

/** Leaves the check to the member's host. */
export const deferring = (input: InputCheck): InputCheck => ({
  check: (args) => ({ ok: true, value: { kind: 'tool', args, check: () => andThen(input.check(args), requireValid) } }),
});

/** @throws {ToolError} that lists the problems */
export function requireValid(checked: Checked): unknown {
  if (checked.ok) return checked.value;
  throw withFailureCause(new ToolError(listProblems(checked.problems)), 'invalid-arguments');
}

/** Tells the model which arguments are invalid. */
export function listProblems(problems: readonly Problem[]): string {
  const lines = problems.map(({ path, expected }) => `- ${path === '' ? 'the arguments' : path}: ${expected}`);
  return `The arguments are not valid:\n${lines.join('\n')}`;
}
