import type { Socket } from 'node:net';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

import type { Principal, TransportInfo } from '@decorum/core';

/** Headers of a request, names in lower case. Node joins repeated ones; only `set-cookie` would be an array. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** One HTTP request as a web framework hands it over, and the two ways to answer it. */
export interface Carrier {
  readonly headers: Headers;
  readonly socket: Socket;
  /** Where the request came from. Found out when it is asked for. */
  readonly remoteAddress: string | undefined;
  /** Who is calling, where the application has established it. */
  readonly principal: Principal | undefined;
  /** Answers at once. Without a body there is no content type either. */
  answer(status: number, body?: string, headers?: OutgoingHttpHeaders): void;
  /** Begins an answer of status 200 that is written piece by piece. Headers that others have set are kept. */
  stream(headers: OutgoingHttpHeaders): ServerResponse;
}

/** Headers that are credentials: whoever has them can act as the caller. */
const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'cookie']);

/** What handlers may know of a request. They learn who is calling from `principal`, and cannot pass on what proved it. */
export function transportInfo(carrier: Carrier): TransportInfo {
  return {
    kind: 'http',
    get headers() {
      return Object.fromEntries(Object.entries(carrier.headers).filter(([name]) => !CREDENTIALS.has(name)));
    },
    get remoteAddress() {
      return carrier.remoteAddress;
    },
  };
}
