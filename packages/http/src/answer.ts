import { type FailureKind, McpError } from '@decorum/core';
import { errorFrame, excerpt, FAILURES, type Reply } from '@decorum/core/transport';

import type { AnswerHeaders } from './http-context.js';
import { HttpError, MaskedError } from './http-error.js';

/** Failures that say the request itself is no good, even where its handler had begun. */
const BAD_REQUEST: ReadonlySet<FailureKind> = new Set(['missing-capability', 'header-mismatch', 'invalid-state']);

/** What the status of a reply depends on, beside the reply. */
export interface Asked {
  /** The message belongs to no session. */
  readonly alone: boolean;
  /** The message has an id that could be read. */
  readonly named: boolean;
}

/**
 * The HTTP status of a reply, or of each part of the reply to a batch. Results are 200, and so are errors of handlers:
 * the HTTP request was a success.
 */
export function statusOf({ failure, ran, parts }: Reply, { alone, named }: Asked): number {
  if (parts?.some((part) => part.failure?.kind === 'closing')) return 503;
  const kind = failure?.kind;
  if (failure === undefined) return 200;
  if (ran && (kind === undefined || !BAD_REQUEST.has(kind))) return 200;
  switch (kind) {
    case 'closing':
      return 503;
    case 'parse-error':
    case 'invalid-request':
      return 400;
    case 'internal-error':
      return 500;
    default:
      if (!alone) return named ? 200 : 400;
      return kind === 'method-not-found' ? 404 : 400;
  }
}

/** An answer that is ready to be sent. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: AnswerHeaders;
}

const NO_HEADERS: AnswerHeaders = {};

/**
 * Words an error as JSON-RPC: a refusal of this package, an error of the host or of the application's hooks that names a
 * status below 500, or a bug, which is reported and masked.
 */
export function errorAnswer(error: unknown, report: (error: unknown) => void): Answer {
  if (error instanceof HttpError) return { status: error.status, body: error.body(), headers: error.headers };
  if (error instanceof McpError) return { status: 400, body: errorFrame(undefined, error), headers: NO_HEADERS };
  const { statusCode, message } = (error ?? {}) as { statusCode?: number; message?: string };
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    const body = new HttpError(statusCode, excerpt(message ?? '')).body();
    return { status: statusCode, body, headers: NO_HEADERS };
  }
  report(error instanceof MaskedError ? error.cause : error);
  return { status: 500, body: internalError(), headers: NO_HEADERS };
}

/** The text of an error that says nothing of its cause. */
export function internalError(id?: string | number): string {
  return errorFrame(id, { code: FAILURES['internal-error'], message: 'Internal error' });
}
