import type { Principal, TransportInfo } from '@decorum/core';

/** Headers of a request, names in lower case. A repeated header is one value, joined by commas. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** Headers of an answer, names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** One HTTP request, whatever host it came through. Its body is read in a step of its own. */
export interface HttpRequest {
  /** In upper case. */
  readonly method: string;
  readonly headers: Headers;
  /** The port that it came in on; undefined where the host can't say. */
  readonly localPort: number | undefined;
  /** The IP address of the client; undefined where the host can't say. */
  readonly remoteAddress: string | undefined;
  /** Whether the client has gone away. */
  readonly gone: boolean;
  /**
   * Calls back when the client goes away.
   * @returns a function that takes the callback back
   */
  onClose(callback: () => void): () => void;
}

/** The two ways to answer a request: at once, or piece by piece. */
export interface Responder {
  /** Adds headers to whatever answer follows. */
  preset(headers: AnswerHeaders): void;
  /** Answers at once. A body is JSON unless the headers name another content type. */
  answer(status: number, body?: string, headers?: AnswerHeaders): void;
  /** Begins an answer of status 200 that is written piece by piece. */
  open(headers: AnswerHeaders): Sink;
  /** Drops the connection: the answer itself has failed. */
  drop(): void;
}

/** A request on its way through the endpoint, with the means to answer it. */
export interface HttpContext extends HttpRequest, Responder {
  /** Who is calling, once that is known. */
  principal: Principal | undefined;
}

/** Hears of what happens to a sink. */
export interface SinkOwner {
  /** The reader has caught up. */
  drained(sink: Sink): void;
  /** The reader is gone, or has taken everything. */
  closed(sink: Sink): void;
}

/** Where an answer is written piece by piece. */
export interface Sink {
  readonly closed: boolean;
  /** Bytes that the reader has not taken. */
  readonly backlog: number;
  /** Whether the reader is behind: `drained` says when it has caught up. */
  readonly slow: boolean;
  /** Has the owner told of what happens; called once. */
  own(owner: SinkOwner): void;
  /** Sends the headers, even if nothing has been written. */
  start(): void;
  /** @returns false when the reader is behind from now on */
  write(text: string): boolean;
  /** Ends the answer after what was written. */
  end(text: string): void;
  /** Drops the connection. */
  destroy(): void;
}

/** The content type of every body that is not a stream. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * What handlers may know of a request. They learn who is calling from `principal`, and can't pass on what proved it.
 * @param credentials names of the headers that are left out, in lower case
 */
export function transportInfo(request: HttpRequest, credentials: ReadonlySet<string>): TransportInfo {
  return {
    kind: 'http',
    get headers() {
      return Object.fromEntries(Object.entries(request.headers).filter(([name]) => !credentials.has(name)));
    },
    get remoteAddress() {
      return request.remoteAddress;
    },
  };
}
