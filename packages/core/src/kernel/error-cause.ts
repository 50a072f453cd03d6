import { FAILURES, McpError, QuestionError } from '../protocol/errors.js';
import { type FailureCause, recordedCause } from '../protocol/failure-cause.js';
import { McpLimitError } from '../protocol/limits.js';

/** Causes by HTTP status, for errors that frameworks throw to be seen by clients. */
const STATUS_CAUSES: ReadonlyMap<unknown, FailureCause> = new Map([
  [400, 'invalid-arguments'],
  [401, 'denied'],
  [403, 'denied'],
  [404, 'not-found'],
  [408, 'timeout'],
  [422, 'invalid-arguments'],
  [429, 'limit'],
  [504, 'timeout'],
]);

interface Thrown {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly expose?: unknown;
  readonly status?: unknown;
  readonly statusCode?: unknown;
  getStatus?(): unknown;
}

/** The HTTP status of an error that describes a response. A status of other errors may come from a server they called. */
function statusOf(error: unknown): unknown {
  const { expose, status, statusCode, getStatus } = (error ?? {}) as Thrown;
  return expose === true || typeof getStatus === 'function' ? (status ?? statusCode) : undefined;
}

/** Whether an error is a timeout: that of `AbortSignal.timeout`, of a library that uses the same name, or of a socket. */
export function isTimeout(error: unknown, isNested = false): boolean {
  const { name, code, cause } = (error ?? {}) as Thrown;
  const isOne = name === 'TimeoutError' || code === 'ETIMEDOUT' || /^UND_ERR_\w+_TIMEOUT$/.test(String(code));
  return isOne || (!isNested && cause !== undefined && isTimeout(cause, true));
}

/**
 * Why an error that clients may see was thrown.
 * @param isInMember whether it was thrown while a member ran: invalid params are then its arguments
 */
export function causeOfError(error: unknown, isInMember: boolean): FailureCause {
  const { cause } = (error ?? {}) as Thrown;
  const known = recordedCause(error) ?? STATUS_CAUSES.get(statusOf(error) ?? statusOf(cause));
  if (known !== undefined) return known;
  if (error instanceof McpLimitError) return 'limit';
  if (error instanceof QuestionError) return 'client';
  if (!(error instanceof McpError)) return 'expected';
  const { kind, code } = error;
  const isInvalid = kind === 'invalid-params' || (kind === undefined && code === FAILURES['invalid-params'].code);
  if (isInvalid && isInMember) return 'invalid-arguments';
  return kind === undefined ? 'expected' : FAILURES[kind].cause;
}
