import type { IncomingMessage } from 'node:http';

import type { RequestHead } from '../../auth/auth.js';
import type { AnswerHeaders, Headers } from '../../endpoint/http-context.js';

const AUTHORIZATION = 'authorization';

/** A Node request with the properties that frameworks add. */
export interface NodeRequest extends IncomingMessage {
  /** The parsed body, if the application's body parser has read it. */
  readonly body?: unknown;
  /** The client's address, if the framework resolves trusted proxies. */
  readonly ip?: string | undefined;
}

/** The part of a Node request that `auth` gets. Looks up values on demand, because each request creates one. */
export class NodeHead implements RequestHead {
  readonly method: string;
  readonly headers: Headers;

  /** @param framework has the client's address, if the framework resolves trusted proxies */
  constructor(
    private readonly request: IncomingMessage,
    private readonly framework: { readonly ip?: string | undefined },
  ) {
    this.method = request.method ?? '';
    this.headers = headersOf(request);
  }

  get url(): string {
    return sentUrl(this.request);
  }

  /** The values of all `Authorization` headers. Node drops all but the first from `headers`. */
  get authorizations(): readonly string[] {
    if (this.headers.authorization === undefined) return [];
    const { rawHeaders } = this.request;
    const values: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] as string;
      const isIt = name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION;
      if (isIt) values.push(rawHeaders[at + 1] as string);
    }
    return values;
  }

  get connection(): object {
    return this.request.socket;
  }

  get remoteAddress(): string | undefined {
    return this.framework.ip ?? this.request.socket.remoteAddress;
  }
}

/** The headers of HTTP/2 requests. All steps share one object, because what is known about a body is kept by it. */
const known = new WeakMap<IncomingMessage, Headers>();

/** The headers of an HTTP/2 request, with the host from its pseudo-header. Other pseudo-headers are left out. */
export function streamHeaders(request: IncomingMessage): Headers {
  let headers = known.get(request);
  if (headers === undefined) {
    const { ':authority': authority, ...all } = request.headers as Headers;
    const plain = Object.entries(all).filter(([name]) => !name.startsWith(':'));
    headers = { ...Object.fromEntries(plain), ...(authority !== undefined && { host: authority }) };
    known.set(request, headers);
  }
  return headers;
}

/** The headers of a request over any version of HTTP. */
export const headersOf = (request: IncomingMessage): Headers =>
  request.httpVersionMajor === 1 ? (request.headers as Headers) : streamHeaders(request);

/** The headers of a response over HTTP/2, where connection headers are invalid (RFC 9113, section 8.2.2). */
export function withoutClose({ connection: _connection, ...headers }: AnswerHeaders): AnswerHeaders {
  return headers;
}

const ORIGIN = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?(?=[/?]|$)/i;

/** Path and query as sent. Express removes the mount path of a handler from `url`. */
export function sentUrl({ url = '', originalUrl = url }: IncomingMessage & { readonly originalUrl?: string }): string {
  return originForm(originalUrl);
}

/**
 * Path and query of a request's URL. Proxies may send the absolute form (RFC 9112, section 3.2.2). A URL
 * without a valid host is left as is, because frameworks would read a different path from it.
 */
export function originForm(url = ''): string {
  return url.startsWith('/') ? url : url.replace(ORIGIN, '');
}
