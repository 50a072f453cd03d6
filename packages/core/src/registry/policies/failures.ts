import { FAILURES, McpError, ToolError } from '../../protocol/errors.js';
import { type FailureCause, recordedCause } from '../../protocol/failure-cause.js';
import { InputSignal } from '../../protocol/input.js';
import type { Caller } from '../caller.js';
import type { PolicyDefaults } from './policy.js';

/** Causes that lie with the call or its caller: another try, or another caller, tells nothing else. */
const OF_CALLS: ReadonlySet<FailureCause | undefined> = new Set([
  'invalid-arguments',
  'invalid-request',
  'denied',
  'limit',
  'client',
  'closing',
  'cancelled',
] as const);

function causeOf(error: unknown): FailureCause | undefined {
  const { kind } = error instanceof McpError ? error : {};
  if (kind === 'invalid-params') return 'invalid-arguments';
  // the client is asked to visit a page first
  if (kind === 'url-elicitation-required') return 'client';
  return recordedCause(error) ?? (kind && FAILURES[kind].cause);
}

/** Whether an error tells of the call rather than of what the member does: it was cancelled, denied or wrong. */
export const isOfCall = (error: unknown, { signal }: Caller): boolean =>
  signal.aborted || error instanceof InputSignal || OF_CALLS.has(causeOf(error));

const NOT_RUN = new WeakSet<Error>();

/** Notes that an error was thrown in place of a run, which tells nothing about the member. */
export function notRun<E extends Error>(error: E): E {
  NOT_RUN.add(error);
  return error;
}

/** Whether an error was thrown in place of a run. */
export const isNotRun = (error: unknown): boolean => NOT_RUN.has(error as Error);

/** Whether a policy ended a call because it took too long. */
export const isTimeLimit = (error: unknown): boolean => recordedCause(error) === 'timeout';

/** Chooses errors with the user's function, or else those that aren't meant for clients. */
export function choiceOf(
  on: ((error: unknown) => boolean) | undefined,
  { where, reporter }: { readonly where: string; readonly reporter: PolicyDefaults['reporter'] },
): (error: unknown) => boolean {
  return (error) => {
    if (on === undefined)
      return !(error instanceof ToolError || error instanceof McpError) && reporter?.isExpected(error) !== true;
    const chosen: unknown = on(error);
    if (typeof chosen === 'boolean') return chosen;
    throw new TypeError(`${where}: \`on\` returned ${typeof chosen}. Return true or false.`, { cause: error });
  };
}
