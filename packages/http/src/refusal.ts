import type { OutgoingHttpHeaders } from 'node:http';

import type { RequestId } from '@decorum/core';
import { errorFrame, FAILURES } from '@decorum/core/transport';

/** Why an HTTP request is not served: its status, and what the JSON-RPC error in the body says. */
export class Refusal extends Error {
  /**
   * @param status of HTTP, 400 to 599
   * @param message one sentence for the client
   * @param headers beside those of every answer
   */
  constructor(
    readonly status: number,
    message: string,
    readonly headers: OutgoingHttpHeaders = {},
  ) {
    super(message);
    this.name = 'Refusal';
  }

  /** The text of the body. `id` where that of the request could be read. */
  body(id?: RequestId): string {
    return errorFrame(id, { code: FAILURES['invalid-request'], message: this.message });
  }
}
