/** Error codes of RFC 6749, section 5.2, and RFC 7591, section 3.2.2. */
export type ClientErrorCode =
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_redirect_uri'
  | 'slow_down'
  | 'temporarily_unavailable';

const STATUS: Readonly<Record<ClientErrorCode, number>> = {
  invalid_client: 401,
  invalid_client_metadata: 400,
  invalid_redirect_uri: 400,
  slow_down: 429,
  temporarily_unavailable: 503,
};

/**
 * What is wrong with a client. The message goes to the client as `error_description`, so it never repeats what the client
 * sent, and has only characters that are allowed there.
 */
export class ClientError extends Error {
  readonly code: ClientErrorCode;
  readonly status: number;
  /** Milliseconds until the client may try again; undefined if that wouldn't help. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ClientErrorCode, message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'ClientError';
    this.code = code;
    this.status = STATUS[code];
    this.retryAfterMs = retryAfterMs;
  }
}
