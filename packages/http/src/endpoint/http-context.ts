import type { Principal, TransportInfo } from '@decorum/core';

import type { Reader, SlowReaders } from './slow-readers.js';

/** Headers of a request, with lower-case names. Repeated headers are joined with commas into one value. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** Headers of a response, with lower-case names. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** One HTTP request, independent of the host. Its body is read separately. */
export interface HttpRequest {
  /** HTTP method in upper case. */
  readonly method: string;
  readonly headers: Headers;
  /** Local port of the connection; undefined if the host doesn't know it. */
  readonly localPort: number | undefined;
  /** The client's IP address; undefined if the host doesn't know it. */
  readonly remoteAddress: string | undefined;
  /** The client's port; undefined if the host doesn't know it, or knows only a proxy's port. */
  readonly remotePort?: number | undefined;
  /** The HTTP version, such as `1.1` or `2`; undefined if the host doesn't know it. */
  readonly httpVersion?: string | undefined;
  /** Whether a gateway sends only requests for its own hosts, so that `Host` needs no check. */
  readonly isFromGateway?: boolean;
  /** Whether the client has disconnected. */
  readonly gone: boolean;
  /**
   * Calls back when the client disconnects.
   * @returns a function that removes the callback
   */
  onClose(callback: () => void): () => void;
}

/** The two ways to answer a request: with a complete response or with a stream. */
export interface Responder {
  /** Adds headers to the response, whichever kind follows. */
  preset(headers: AnswerHeaders): void;
  /** Sends a complete response. The body is sent as JSON unless the headers set another content type. */
  answer(status: number, body?: string, headers?: AnswerHeaders): void;
  /** Starts a streamed response with status 200. */
  open(headers: AnswerHeaders): Sink;
  /** Drops the connection, because sending the response failed. */
  drop(): void;
}

/** A request and the means to answer it. */
export interface HttpContext extends HttpRequest, Responder {
  /** The web framework's request. */
  readonly request: unknown;
  /** The authenticated caller, once known. */
  principal: Principal | undefined;
  /** Counts an answer that the client doesn't take at once. Undefined for small answers, such as errors. */
  readers: SlowReaders | undefined;
  /** Releases the parsed body, if the host would keep it until the request is answered. */
  forgetBody(): void;
}

/** Gets the events of a sink. */
export interface SinkOwner {
  /** The reader has caught up. */
  drained(sink: Sink): void;
  /** The reader has disconnected or received everything. */
  closed(sink: Sink): void;
}

/** The writable end of a streamed response. */
export interface Sink extends Reader {
  readonly closed: boolean;
  /** Whether the reader is behind. The owner's `drained` is called when it has caught up. */
  readonly slow: boolean;
  /** Sets the owner that gets the events. Called once. */
  own(owner: SinkOwner): void;
  /** Sends the headers, even if nothing has been written. */
  start(): void;
  /** @returns false if the reader is now behind */
  write(text: string): boolean;
  /** Sends `text` after everything written before, and ends the response. */
  end(text: string): void;
}

/** The default content type of bodies that are not streams. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Headers of every event stream. They keep proxies from caching, transforming or buffering it. */
export const STREAM_HEADERS: AnswerHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** A request, and the web framework's own request if it is known. */
type Hosted = Pick<HttpRequest, 'headers' | 'remoteAddress' | 'remotePort' | 'httpVersion'> &
  Partial<Pick<HttpContext, 'request'>>;

/** The part of a request that handlers see. `headers` and `remoteAddress` are own properties, so copies have them. */
class HttpTransport implements TransportInfo {
  readonly kind = 'http';
  declare readonly headers: NonNullable<TransportInfo['headers']>;
  declare readonly remoteAddress: string | undefined;
  readonly #request: Hosted;
  readonly #credentials: ReadonlySet<string>;

  // getters in an object literal would be new functions each time, and V8 would create a hidden class for each object
  static readonly #GETTERS = {
    headers: {
      enumerable: true,
      get(this: HttpTransport) {
        const all = Object.entries(this.#request.headers);
        return Object.fromEntries(all.filter(([name]) => !this.#credentials.has(name)));
      },
    },
    remoteAddress: {
      enumerable: true,
      get(this: HttpTransport) {
        return this.#request.remoteAddress;
      },
    },
  };

  constructor(request: Hosted, credentials: ReadonlySet<string>) {
    this.#request = request;
    this.#credentials = credentials;
    Object.defineProperties(this, HttpTransport.#GETTERS);
  }

  get remotePort(): number | undefined {
    return this.#request.remotePort;
  }

  get httpVersion(): string | undefined {
    return this.#request.httpVersion;
  }

  /** The web framework's request; undefined for other transports. */
  static requestOf(transport: TransportInfo): unknown {
    return #request in transport ? transport.#request.request : undefined;
  }
}

/**
 * The part of a request that handlers may see. Credentials are left out, so that handlers can't leak them. Handlers get
 * the caller from `principal`.
 * @param credentials lower-case names of the headers to leave out
 */
export const transportInfo = (request: Hosted, credentials: ReadonlySet<string>): TransportInfo =>
  new HttpTransport(request, credentials);

/**
 * The web framework's request that a call came with, for code that runs around handlers, such as guards and metrics.
 * The request contains the caller's credentials.
 * @param transport `ctx.transport`
 * @returns a Node, Fastify or fetch request; undefined for other transports
 * @example hostRequest(ctx.transport);
 */
export function hostRequest(transport: TransportInfo): unknown {
  return HttpTransport.requestOf(transport);
}
