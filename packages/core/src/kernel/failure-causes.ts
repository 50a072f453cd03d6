import { McpError, QuestionError } from '../protocol/errors.js';
import { type FailureCause, recordedCause } from '../protocol/failure-cause.js';
import type { Observation } from '../protocol/observed.js';
import type { Cancellation, Reply } from '../protocol/reply.js';
import { causeOfError, isTimeout } from './error-cause.js';
import type { Outcome } from './members.js';

/** The facts about a failed request. */
interface Failed {
  readonly reply: Reply;
  /** The original error. */
  readonly error: unknown;
  /** Undefined for messages that were not opened. */
  readonly observation: Observation | undefined;
}

/** Why cancelled requests failed, if the client didn't want it. */
const CAUSES: Readonly<Partial<Record<Cancellation, FailureCause>>> = { closing: 'closing', overdue: 'timeout' };

/** Why a request failed. */
export function failureCauseOf({ reply, error, observation }: Failed): FailureCause {
  const { cancelled, failure } = reply;
  if (cancelled !== undefined) return CAUSES[cancelled] ?? 'cancelled';
  if (observation?.isDenied) return 'denied';
  const reference = observation?.shown?.reference ?? reply.reference;
  if (reference !== undefined) return isTimeout(error) ? 'timeout' : 'bug';
  const ended = observation?.ended as Outcome<unknown> | undefined;
  // the result of a tool, not an error
  if (ended?.kind === 'complete' && failure === undefined) return recordedCause(ended.result) ?? 'expected';
  return causeOfError(observation?.shown?.error ?? failure, ended !== undefined);
}

/** Why a question to the client failed. */
export function questionCauseOf(error: unknown, cancelled: Reply['cancelled']): FailureCause {
  if (cancelled !== undefined) return CAUSES[cancelled] ?? 'cancelled';
  return error instanceof McpError || error instanceof QuestionError ? causeOfError(error, false) : 'bug';
}
