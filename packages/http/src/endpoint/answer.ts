import { type FailureKind, McpError } from '@decorum/core';
import { excerpt, FAILURES } from '@decorum/core/internal';
import { errorFrame, type Reply } from '@decorum/core/transport';

import type { AnswerHeaders } from './http-context.js';
import { HttpError, MaskedError } from './http-error.js';

/** Failures caused by the request itself, even if they occur after the handler started. */
const BAD_REQUEST: ReadonlySet<FailureKind> = new Set(['missing-capability', 'header-mismatch', 'invalid-state']);

/** The properties of a message that determine the status of its reply. */
export interface MessageTraits {
  /** The message belongs to no session. */
  readonly sessionless: boolean;
  /** The message has a readable id. */
  readonly hasId: boolean;
}

/**
 * The HTTP status of a reply. Most errors from handlers get 200, as results do, because the HTTP request itself
 * succeeded.
 */
export function statusOf({ failure, ran, parts }: Reply, { sessionless, hasId }: MessageTraits): number {
  if (parts?.some((part) => part.failure?.kind === 'closing')) return 503;
  const kind = failure?.kind;
  if (failure === undefined) return 200;
  if (kind === 'unavailable') return 503;
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
      if (!sessionless) return hasId ? 200 : 400;
      return kind === 'method-not-found' ? 404 : 400;
  }
}

/** The cancellations that end requests one by one. */
const SINGLE: ReadonlySet<unknown> = new Set([undefined, 'client', 'gone', 'overdue']);

/** Whether the cancellation of one request of a batch cancels the whole batch. */
export const cancelsBatch = ({ cancelled }: Reply): boolean => !SINGLE.has(cancelled);

/** A complete response, ready to send. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: AnswerHeaders;
}

const NO_HEADERS: AnswerHeaders = {};

/**
 * Encodes an error as JSON-RPC. An `HttpError` or `McpError` keeps its message. So does an error from the host or an
 * application hook whose `statusCode` is 4xx. Everything else is a bug: it is reported, and masked as a 500.
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

/** The body of an error that reveals nothing about its cause. */
export function internalError(id?: string | number): string {
  return errorFrame(id, { code: FAILURES['internal-error'].code, message: 'Internal error' });
}
