import type { IncomingMessage } from 'node:http';

import type { RequestHead } from '../auth.js';
import type { Headers } from '../http-context.js';

/**
 * What `auth` gets of a Node request.
 * @param ip the client's address, if the framework resolves trusted proxies
 */
export function headOf(request: IncomingMessage, ip: string | undefined): RequestHead {
  const { method = '', headers, socket } = request;
  return {
    method,
    url: sentUrl(request),
    headers: headers as Headers,
    authorizations: authorizationsOf(request),
    remoteAddress: ip ?? socket.remoteAddress,
  };
}

/** Path and query as sent. Express removes the mount path of a handler from `url`. */
export function sentUrl({ url = '', originalUrl = url }: IncomingMessage & { readonly originalUrl?: string }): string {
  return originalUrl;
}

/** The values of all `Authorization` headers. Node drops all but the first from `headers`. */
function authorizationsOf({ headers, rawHeaders }: IncomingMessage): readonly string[] {
  const { authorization } = headers;
  if (authorization === undefined) return [];
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === NAME.length && name.toLowerCase() === NAME) values.push(rawHeaders[at + 1] as string);
  }
  return values;
}

const NAME = 'authorization';
