import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

import type { Program } from '../program.js';
import type { Guard } from './guard.js';
import { type NotAccepted, SESSION } from './session.js';
import { endToEnd, isEventStream, send } from './upstream.js';

/** A client's request and its response. */
export class Incoming {
  /** Aborts when the response has been sent or the client has disconnected. */
  readonly gone: AbortSignal;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    private readonly guard: Guard,
  ) {
    const controller = new AbortController();
    this.gone = controller.signal;
    response.on('close', () => controller.abort());
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
    if (this.isTrusted || this.response.headersSent) return this.answer(status, message);
    this.reject();
  }

  /** Rejects a request that the relay must not answer. Says nothing about the program. */
  reject(): void {
    this.answer(403, { error: 'This Host or Origin is not allowed.' });
    this.discard();
  }

  /** Answers as the program has answered the session's replay. */
  refused({ answered: { status, headers, body, message } }: NotAccepted): void {
    if (message) this.answer(status, message, headers);
    else this.response.writeHead(status, { 'content-type': headers['content-type'] ?? 'text/plain' }).end(body);
    this.discard();
  }

  /** Reads what is left of the request and discards it. Otherwise, the client might lose the response. */
  discard(): void {
    this.request.unpipe();
    this.request.resume();
  }

  /** Passes on a program's response with JSON. */
  answer(status: number, message: object | string, headers: NodeJS.Dict<string | string[]> = {}): void {
    if (this.response.headersSent) return void this.response.end();
    const { 'content-type': _type, ...rest } = endToEnd(headers);
    const body = typeof message === 'string' ? message : JSON.stringify(message);
    this.response
      .writeHead(status, { ...rest, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  }

  /** Passes on a whole response as is. */
  pass({ statusCode = 500, headers }: IncomingMessage, body: Buffer | string): void {
    if (this.response.headersSent) return void this.response.end();
    this.response.writeHead(statusCode, { ...endToEnd(headers), 'content-length': Buffer.byteLength(body) }).end(body);
  }
}

/**
 * Passes a request to the program and its response back, both as is and as they arrive.
 * @param changed the session's id in this program, if there is one, and the body, if it was read
 * @throws {Error} if the program doesn't respond
 */
export async function proxy(
  incoming: Incoming,
  program: Program,
  { id, bytes }: { readonly id: string | undefined; readonly bytes: Buffer | undefined },
): Promise<void> {
  const { request, response, method, path, gone } = incoming;
  const headers = { ...request.headers, ...(id !== undefined && { [SESSION]: id }) };
  const { response: received } = await send(program, { method, path, headers, body: bytes ?? request, signal: gone });
  response.writeHead(received.statusCode ?? 500, endToEnd(received.headers));
  if (isEventStream(received)) response.flushHeaders();
  received.once('close', () => {
    if (received.complete) incoming.discard();
    else response.destroy();
  });
  received.pipe(response);
}
