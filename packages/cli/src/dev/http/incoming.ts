import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Program } from '../program.js';
import { endToEnd, isEventStream, type Received, send } from './upstream.js';

/** A client's request and its response. */
export class Incoming {
  /** Aborts when the response has been sent or the client has disconnected. */
  readonly gone: AbortSignal;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
  ) {
    const controller = new AbortController();
    this.gone = controller.signal;
    response.on('close', () => controller.abort());
    response.on('error', () => {});
  }

  get method(): string {
    return this.request.method ?? 'GET';
  }

  get path(): string {
    return this.request.url ?? '/';
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** Answers with JSON. */
  answer(status: number, message: object, headers: NodeJS.Dict<string | string[]> = {}): void {
    if (this.response.headersSent) return void this.response.end();
    const { 'content-type': _type, ...rest } = endToEnd(headers);
    const body = JSON.stringify(message);
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

/** Passes a request to the program and its response back, both as is. */
export async function proxy(incoming: Incoming, program: Program, body: Buffer): Promise<void> {
  const { request, response, method, path } = incoming;
  let received: Received;
  try {
    received = await send(program, { method, path, headers: request.headers, ...(body.length > 0 && { body }) });
  } catch {
    return incoming.answer(502, { error: 'The program has ended.' });
  }
  const { statusCode = 500, headers } = received.response;
  incoming.gone.addEventListener('abort', received.abandon, { once: true });
  response.writeHead(statusCode, endToEnd(headers));
  if (isEventStream(received.response)) response.flushHeaders();
  received.response.once('close', () => {
    if (!received.response.complete) response.destroy();
  });
  received.response.pipe(response);
}
