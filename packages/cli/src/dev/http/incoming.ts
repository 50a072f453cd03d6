import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

import type { Program } from '../program.js';
import type { Guard } from './guard.js';
import { type ServerEvent, writeEvent } from './sse.js';
import { type Answered, endToEnd, isEventStream, send } from './upstream.js';

type Headers = NodeJS.Dict<string | string[]>;

/** A client's request and its response. */
export class Incoming {
  /** Aborts when the response has been sent or the client has disconnected. */
  readonly gone: AbortSignal;
  /** Resolves when the response has been sent or the client has disconnected. */
  readonly over: Promise<void>;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    private readonly guard: Guard,
  ) {
    const controller = new AbortController();
    this.gone = controller.signal;
    this.over = new Promise((resolve) => {
      response.on('close', () => {
        controller.abort();
        resolve();
      });
    });
    response.on('error', () => {});
  }

  get method(): string {
    return this.request.method ?? 'GET';
  }

  /** The path with its query. */
  get path(): string {
    return this.request.url ?? '/';
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  /** Whether the relay may answer in place of a program. */
  get isTrusted(): boolean {
    return this.guard.allows(this.headers);
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** Answers in place of a program, if the request can't come from a hostile web page. */
  answerInPlace(status: number, message: object): void {
    if (!this.isTrusted && !this.response.headersSent) return this.reject();
    this.answer(status, message);
    this.discard();
  }

  /** Rejects a request that the relay must not answer. Says nothing about the program. */
  reject(): void {
    this.answer(403, { error: 'This Host or Origin is not allowed.' });
    this.discard();
  }

  /** Answers as a program has answered one of the relay's own messages. */
  answerLike({ status, headers, body, message }: Answered): void {
    if (message) this.answer(status, message, headers);
    else this.response.writeHead(status, { 'content-type': headers['content-type'] ?? 'text/plain' }).end(body);
    this.discard();
  }

  /** Reads what is left of the request and discards it. Otherwise, the client might lose the response. */
  private discard(): void {
    this.request.unpipe();
    this.request.resume();
  }

  /** Answers with JSON. */
  answer(status: number, message: object | string, headers: Headers = {}): void {
    const body = typeof message === 'string' ? message : JSON.stringify(message);
    this.pass({ statusCode: status, headers: { ...headers, 'content-type': 'application/json' } }, body);
  }

  /** Passes on a whole response as is. */
  pass({ statusCode = 500, headers }: Pick<IncomingMessage, 'statusCode' | 'headers'>, body: Buffer | string): void {
    if (this.response.headersSent) return void this.response.end();
    this.response.writeHead(statusCode, { ...endToEnd(headers), 'content-length': Buffer.byteLength(body) }).end(body);
  }

  /** Begins to pass on a stream of events. */
  beginStream(
    { statusCode = 200, headers }: Pick<IncomingMessage, 'statusCode' | 'headers'>,
    more: Headers = {},
  ): void {
    this.response.writeHead(statusCode, { ...endToEnd(headers), ...more });
    this.response.flushHeaders();
  }

  /** Passes on an event. Its id then tells which program it is from. Pauses the source while the client is slow. */
  sendEvent({ id, ...event }: ServerEvent, program: Program, source: Readable): void {
    const own = id === undefined ? undefined : `${program.number}-${id}`;
    if (this.response.write(writeEvent({ ...event, id: own }))) return;
    source.pause();
    this.response.once('drain', () => source.resume());
  }

  /**
   * Passes the request to a program and the response back, both as is and as they arrive.
   * @param session the session's id in this program, if there is one
   * @param bytes the body, if it was read
   * @throws {Error} if the program doesn't respond
   */
  async proxy(program: Program, session: string | undefined, bytes: Buffer | undefined): Promise<void> {
    const { request, response, method, path, headers, gone } = this;
    const sent = { method, path, headers, session, body: bytes ?? request, signal: gone, isProxied: true } as const;
    const { response: received } = await send(program, sent);
    response.writeHead(received.statusCode ?? 500, endToEnd(received.headers));
    if (isEventStream(received)) response.flushHeaders();
    received.once('close', () => {
      if (received.complete) this.discard();
      else response.destroy();
    });
    received.pipe(response);
  }
}
