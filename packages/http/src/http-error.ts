import type { RequestId } from '@decorum/core';
import { errorFrame, FAILURES } from '@decorum/core/transport';

import type { AnswerHeaders } from './http-context.js';

/** Why an HTTP request is not served: its status, and what the JSON-RPC error in the body says. */
export class HttpError extends Error {
  /**
   * @param status of HTTP, 400 to 599
   * @param message one sentence for the client
   * @param headers beside those of every answer
   */
  constructor(
    readonly status: number,
    message: string,
    readonly headers: AnswerHeaders = {},
  ) {
    super(message);
    this.name = 'HttpError';
  }

  /** The text of the body. `id` where that of the request could be read. */
  body(id?: RequestId): string {
    return errorFrame(id, { code: FAILURES['invalid-request'], message: this.message });
  }
}

/** The answer to an id that is unknown; the client can't tell that it belongs to somebody else. */
export function noSession(): HttpError {
  return new HttpError(404, 'There is no such session.');
}

/** The answer to a request whose session ends first. */
export function sessionEnded(): HttpError {
  return new HttpError(404, 'The session has ended.');
}

/** The answer to requests once the endpoint is closing. The client comes back on a new connection, perhaps elsewhere. */
export function closing(): HttpError {
  return new HttpError(503, 'The server is closing.', { connection: 'close' });
}

/** The answer to a path where there is nothing. */
export function noEndpoint(): HttpError {
  return new HttpError(404, 'There is no endpoint at this path.');
}

/** A bug of the application, of which the client learns nothing, whatever the error says. */
export class MaskedError extends Error {
  constructor(override readonly cause: unknown) {
    super('Internal error');
    this.name = 'MaskedError';
  }
}
