import { McpError } from './errors.js';

/**
 * Why a request was cancelled: by its client, by a lost connection, by the end of its session, because its caller's
 * credentials were revoked, because the host of the server gives it no more time, or because the server or its transport
 * is closing.
 */
export type Cancellation = 'client' | 'gone' | 'session' | 'revoked' | 'overdue' | 'closing';

/** Errors for requests that the server cancelled. */
export const CANCELLATION_ERRORS: Readonly<Partial<Record<Cancellation, McpError>>> = {
  closing: new McpError('closing', 'The server is closing.'),
  session: new McpError('invalid-request', 'The session has ended.'),
  revoked: new McpError('unauthorized', 'The credentials have been revoked.'),
  overdue: new McpError(
    'unavailable',
    'The server ran out of time. A part of the work may be done: check that before you try again.',
  ),
};

/** What handlers are told of a cancellation. */
export const CANCELLATION_REASONS: Readonly<Record<Cancellation, string>> = {
  client: 'The request was cancelled.',
  gone: 'The client disconnected.',
  session: 'The session has ended.',
  revoked: 'The credentials of the caller have been revoked.',
  overdue: 'The host of the server gives the request no more time.',
  closing: 'The server is closing.',
};

/** The reply to one message. */
export interface Reply {
  /** The JSON-RPC response; undefined for notifications, responses, and requests that the client cancelled. */
  readonly text: string | undefined;
  /** The error, if the response is one. For a batch, the denial of the whole batch: none of its messages has run. */
  readonly failure?: McpError;
  /** The denial, if the response is a tool's result from which the client can start the sign-in. */
  readonly denied?: McpError;
  /** The error code that was sent, if it can differ from the code of `failure`. */
  readonly code?: number;
  /** The original error, before masking. Clients must not see it. */
  readonly thrown?: unknown;
  /** The reference of a masked error, for a request that no handler has got. */
  readonly reference?: string;
  /** Whether a handler had started before the request failed. */
  readonly ran?: boolean;
  /** Set if the request was cancelled. */
  readonly cancelled?: Cancellation;
  /** For a batch: the reply to each message. */
  readonly parts?: readonly Reply[];
}

/** The reply to a message that is not answered. */
export const NOTHING: Reply = Object.freeze({ text: undefined });

/** The reply to a response that no process waits for. */
export const UNTAKEN: Reply = Object.freeze({
  text: undefined,
  failure: new McpError('invalid-request', 'The server no longer waits for this response.'),
});
