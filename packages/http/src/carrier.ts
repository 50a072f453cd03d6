import type { Socket } from 'node:net';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

import type { Principal } from '@decorum/core';

/** Headers of a request, names in lower case. Node joins repeated ones; only `set-cookie` would be an array. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** One HTTP request as a web framework hands it over, and the two ways to answer it. */
export interface Carrier {
  readonly headers: Headers;
  readonly socket: Socket;
  /** Who is calling, where the application has established it. */
  readonly principal: Principal | undefined;
  /** Answers at once. Without a body there is no content type either. */
  answer(status: number, body?: string, headers?: OutgoingHttpHeaders): void;
  /** Begins an answer of status 200 that is written piece by piece. Headers that others have set are kept. */
  stream(headers: OutgoingHttpHeaders): ServerResponse;
}
