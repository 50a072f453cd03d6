import { isScope } from '@decorum/core/internal';
import { startupError } from '@decorum/core/plugin';

/** The error for an invalid option. */
export const invalid = (option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', 'oauth', option, problem);

/**
 * Checks that an option is a string with at least one character.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireText(option: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  const problem = value === undefined ? 'is missing' : value === '' ? 'is empty' : 'must be a string';
  throw invalid(option, `${problem}. If it comes from an environment variable, check that it is set`);
}

/**
 * Checks that an option is a list of strings.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireTexts(option: string, values: unknown): readonly string[] {
  if (Array.isArray(values) && values.every((value) => typeof value === 'string')) return values;
  throw invalid(option, 'must be an array of strings');
}

/**
 * Checks that an option is a list of scopes.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireScopes(option: string, scopes: unknown): void {
  const wrong = requireTexts(option, scopes).find((scope: unknown) => !isScope(scope)) as string | undefined;
  if (wrong === undefined) return;
  const remedy = /^\S+(?: \S+)+$/.test(wrong) ? `Write ${JSON.stringify(wrong.split(' '))}` : 'Correct it';
  throw invalid(option, `contains "${wrong}", which is not a scope (RFC 6749, section 3.3). ${remedy}`);
}
