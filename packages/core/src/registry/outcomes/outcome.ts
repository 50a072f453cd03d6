import { type JsonObject, requireFinite } from '@decorum/schema/internal';

import { ticketIn } from '../../metadata/preview-options.js';
import { type FailureKind, McpError, ToolError } from '../../protocol/errors.js';
import { FAILURE_CAUSE, type FailureCause, recordedCause, withFailureCause } from '../../protocol/failure-cause.js';
import { isNotRun } from '../policies/failures.js';
import type { PolicyDefaults } from '../policies/policy.js';

/** How a call has ended, as it is recorded. */
export type Outcome =
  /** The JSON of a result, so that nobody who changes what they got changes it for others. */
  | { readonly result: string; readonly cause?: FailureCause }
  | { readonly error: RecordedError; readonly cause: FailureCause }
  /** It has completed, but the result was too large to keep. */
  | { readonly isOmitted: true };

interface RecordedError {
  readonly message: string;
  /** The code of an error of the protocol. */
  readonly code?: FailureKind | number;
  readonly data?: unknown;
}

/** How a call has ended. */
export type Ended<R> = { readonly result: R } | { readonly error: unknown };

/** Causes of errors that are the outcome of a call. After all others, the call may be repeated. */
const KEPT: ReadonlySet<FailureCause> = new Set(['expected', 'not-found'] as const);

/** The outcome of a call that has ended; undefined if there is none that may be kept. */
export function outcomeOf(
  ended: Ended<object>,
  reporter: PolicyDefaults['reporter'],
  signal: AbortSignal,
): Outcome | undefined {
  if ('result' in ended) return outcomeOfResult(ended.result as JsonObject);
  const { error } = ended;
  const visible = signal.aborted || isNotRun(error) ? undefined : reporter?.visible?.(error);
  if (visible === undefined || !KEPT.has(visible.cause)) return undefined;
  const { cause } = visible;
  try {
    const recorded = recordedError(visible.shown);
    const json = JSON.stringify(recorded);
    requireFinite(recorded, json);
    return { error: recorded, cause };
  } catch {
    // it can't be sent either
    return undefined;
  }
}

function recordedError(shown: McpError | ToolError): RecordedError {
  const { message } = shown;
  return shown instanceof McpError ? { message, code: shown.kind ?? shown.code, data: shown.data } : { message };
}

function outcomeOfResult(result: JsonObject): Outcome | undefined {
  const cause = recordedCause(result);
  const { _meta: meta } = result as { readonly _meta?: JsonObject };
  // a plan is no outcome yet
  if ((cause !== undefined && !KEPT.has(cause)) || ticketIn(meta) !== undefined) return undefined;
  try {
    const json = JSON.stringify(result);
    requireFinite(result, json);
    return { result: json, ...(cause && { cause }) };
  } catch {
    // it can't be sent either: the client gets a masked error
    return undefined;
  }
}

/** The bytes of an outcome. */
export const sizeOf = (outcome: Outcome): number => Buffer.byteLength(JSON.stringify(outcome));

/**
 * Ends another call in the same way.
 * @throws {McpError | ToolError} the recorded error
 */
export function repeat(outcome: Outcome): object {
  if ('isOmitted' in outcome) throw withFailureCause(new ToolError(OMITTED), 'limit');
  const { cause } = outcome;
  if ('result' in outcome) {
    const result = JSON.parse(outcome.result) as object;
    return cause === undefined ? result : Object.assign(result, { [FAILURE_CAUSE]: cause });
  }
  const { message, code, data } = outcome.error;
  throw withFailureCause(code === undefined ? new ToolError(message) : new McpError(code, message, data), cause);
}

const OMITTED =
  'A call with this idempotency key has completed, but its result was too large to keep. It does not run again.';
