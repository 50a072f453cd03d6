import { InputSignal, McpError, ToolError } from '@decorum/core';

import { ConnectionError } from '../../connection-error.js';

/** What callers are told when an upstream can't do what they ask. No text reveals an address or a system error. */
const SENTENCES = {
  down: (name: string) => `The server "${name}" is not available. Try again later.`,
  late: (name: string) => `The server "${name}" did not answer in time.`,
  invalid: (name: string) => `The server "${name}" sent an answer that is not valid.`,
  denied: (name: string) => `The server "${name}" denies access.`,
  large: (name: string) => `The server "${name}" sent an answer that is too large.`,
  busy: (name: string) => `The server "${name}" has too many calls at a time. Try again later.`,
  lost: (name: string) =>
    `The call of the server "${name}" was lost while it waited for an answer. It may have run. Find out before you start it again.`,
} as const;

/** The code of the error that asks the client to visit URLs and then to call again (MCP, "Elicitation"). */
export const URL_REQUIRED = -32042;

/** Why an upstream can't do what a caller asks. */
export type FailureReason = keyof typeof SENTENCES;

const BY_CODE: Readonly<Record<ConnectionError['code'], FailureReason>> = {
  closed: 'down',
  unreachable: 'down',
  'session-lost': 'down',
  timeout: 'late',
  protocol: 'invalid',
  'unsupported-revision': 'invalid',
  unauthorized: 'denied',
  'too-large': 'large',
};

/** An upstream can't do what a caller asks. Its message names only what the caller may know. */
export class UpstreamFailure extends Error {
  readonly reason: FailureReason;

  /** @param name how callers know the upstream */
  constructor(reason: FailureReason, name: string, cause?: unknown) {
    super(SENTENCES[reason](name), { cause });
    this.name = 'UpstreamFailure';
    this.reason = reason;
  }
}

/** Whether nothing answers at the upstream. */
export const isDown = (error: unknown): boolean => error instanceof ConnectionError && BY_CODE[error.code] === 'down';

/**
 * The error for the caller: one that its model can read for a tool, and `internal-error` for all other methods. Errors
 * that the upstream has answered stay as they are.
 */
export function shownTo(method: string, name: string, error: unknown): unknown {
  // it would send users to URLs that nobody has looked at
  const isVisit = error instanceof McpError && error.kind === undefined && error.code === URL_REQUIRED;
  if (isVisit) return shownTo(method, name, new UpstreamFailure('invalid', name, error));
  if (error instanceof InputSignal || error instanceof McpError || error instanceof ToolError) return error;
  const failure = error instanceof ConnectionError ? new UpstreamFailure(BY_CODE[error.code], name, error) : error;
  if (!(failure instanceof UpstreamFailure)) return error;
  const { message } = failure;
  return method === 'tools/call' ? new ToolError(message) : new McpError('internal-error', message);
}
