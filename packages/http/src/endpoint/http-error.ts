import type { ReachedLimit, RequestId } from '@decorum/core';
import { FAILURES } from '@decorum/core/internal';
import { errorFrame } from '@decorum/core/transport';

import type { AnswerHeaders } from './http-context.js';
import type { LimitName } from './limits.js';

/** Rejects an HTTP request with a status and a JSON-RPC error in the body. */
export class HttpError extends Error {
  /**
   * @param status HTTP status from 400 to 599
   * @param message text for the client
   * @param headers additional response headers
   */
  constructor(
    readonly status: number,
    message: string,
    readonly headers: AnswerHeaders = {},
  ) {
    super(message);
    this.name = 'HttpError';
  }

  /** The response body, with the id of the request if it could be read. */
  body(id?: RequestId): string {
    return errorFrame(id, { code: FAILURES['invalid-request'].code, message: this.message });
  }
}

/** Clients may try again after this many seconds. */
export const RETRY = { 'retry-after': '10' };

/** Headers of limit errors, by status. */
const LIMIT_HEADERS = { 400: {}, 408: { connection: 'close' }, 413: {}, 429: RETRY, 503: RETRY } as const;

/** Rejects a request at a limit. The hit is reported to the server's `onLimit`. 429 and 503 say when to try again. */
export class HttpLimitError extends HttpError {
  constructor(
    readonly limit: LimitName | 'maxValues',
    status: keyof typeof LIMIT_HEADERS,
    message: string,
  ) {
    super(status, message, LIMIT_HEADERS[status]);
    this.name = 'HttpLimitError';
  }

  /** The hit to report, with what is known about the client. */
  hitBy({ principal, remoteAddress }: Omit<ReachedLimit, 'limit'>): ReachedLimit {
    return { limit: this.limit, principal, remoteAddress };
  }
}

/** For unknown ids and for other callers' sessions, so that a client can't tell whether an id exists. */
export function noSession(): HttpError {
  return new HttpError(404, 'Session not found. Start a new session.');
}

/** For a message whose session lives in another process (RFC 9110, section 15.5.20). */
export function misdirected(): HttpError {
  return new HttpError(
    421,
    'This session lives in another server process. HTTP+SSE needs a route that always leads to the process with the stream. If the stream has ended, open a new one.',
  );
}

/** For a request that needs a session and names none. */
export function sessionIdMissing(): HttpError {
  return new HttpError(400, 'The Mcp-Session-Id header is missing. Send `initialize` to start a session.');
}

/** For a request that needs a store of the application, which has failed. The cause must not reach the client. */
export function storeFailed(): HttpError {
  return new HttpError(503, 'The server cannot reach its data. Try again later.', RETRY);
}

/** For a GET that doesn't accept an event stream. */
export function streamNotAccepted(): HttpError {
  return new HttpError(406, 'The Accept header of a GET must allow text/event-stream.');
}

/** For a request in flight when its session ends. */
export function sessionEnded(): HttpError {
  return new HttpError(404, 'The session has ended.');
}

/** For requests to a closing endpoint. The client has to retry on a new connection, which may reach another process. */
export function closing(): HttpError {
  return new HttpError(503, 'The server is closing.', { connection: 'close' });
}

/** For requests to a path without an endpoint. */
export function noEndpoint(): HttpError {
  return new HttpError(404, 'There is no endpoint at this path.');
}

/** Wraps an application error that must not reach the client, even if it names an HTTP status. */
export class MaskedError extends Error {
  constructor(override readonly cause: unknown) {
    super('Internal error');
    this.name = 'MaskedError';
  }
}
