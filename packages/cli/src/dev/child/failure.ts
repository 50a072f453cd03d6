import type { Failure } from '../messages.js';

/** Describes an error that a program threw. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error), stack: '', code: undefined };
  const { message, stack = '', code } = error as NodeJS.ErrnoException;
  const name = error.name === 'DecorumError' || error.name === 'Error' ? '' : `${error.name}: `;
  return { message: message.startsWith(name) ? message : `${name}${message}`, stack, code };
}
