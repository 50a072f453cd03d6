import type { Principal } from '@decorum/core';

import type { Bodies, BodyReceiver } from '../body.js';
import { type AnswerHeaders, type Headers, JSON_TYPE, type Sink } from '../http-context.js';
import type { UnreadContext } from '../pipeline.js';
import { FetchBody } from './fetch-body.js';
import { FetchSink } from './fetch-sink.js';

/** What a host may know of a connection, and a web request doesn't say. */
export interface ConnectionInfo {
  /** The IP address of the client. */
  readonly remoteAddress?: string | undefined;
  /** The port of this machine that the request came in on. By default that of its URL. */
  readonly localPort?: number | undefined;
}

/** A web request, and the response that it is to have. */
export class FetchContext implements UnreadContext {
  readonly headers: Headers;
  readonly url: string;
  readonly localPort: number | undefined;
  readonly remoteAddress: string | undefined;
  readonly vary: undefined;
  principal: Principal | undefined;
  private always: AnswerHeaders | undefined;
  private sink: FetchSink | undefined;
  private onGone: (() => void) | undefined;

  constructor(
    private readonly request: Request,
    { remoteAddress, localPort }: ConnectionInfo,
    private readonly resolve: (response: Response) => void,
  ) {
    const { host, port, pathname, search } = new URL(request.url);
    // not every host has the header among the others
    this.headers = { host, ...Object.fromEntries(request.headers) };
    this.url = pathname + search;
    this.localPort = localPort ?? (port === '' ? undefined : Number(port));
    this.remoteAddress = remoteAddress;
  }

  get method(): string {
    return this.request.method;
  }

  get hasBody(): boolean {
    return this.request.body !== null;
  }

  get gone(): boolean {
    return this.request.signal.aborted;
  }

  onClose(callback: () => void): () => void {
    const { signal } = this.request;
    this.onGone = callback;
    signal.addEventListener('abort', callback, { once: true });
    return () => {
      this.onGone = undefined;
      signal.removeEventListener('abort', callback);
    };
  }

  read(bodies: Bodies, receiver: BodyReceiver): void {
    new FetchBody(bodies, this, receiver).read(this.request.body);
  }

  preset(headers: AnswerHeaders): void {
    this.always = { ...this.always, ...headers };
  }

  answer(status: number, body?: string, headers?: AnswerHeaders): void {
    const typed = body === undefined ? headers : { 'content-type': JSON_TYPE, ...headers };
    const isSilent = body === undefined || this.method === 'HEAD';
    this.resolve(new Response(isSilent ? null : body, { status, headers: this.described(typed) }));
  }

  open(headers: AnswerHeaders): Sink {
    const sink = new FetchSink(() => this.onGone?.());
    this.sink = sink;
    // not every host cancels the response of a client that has gone
    this.request.signal.addEventListener('abort', () => sink.cancelled(), { once: true });
    this.resolve(new Response(sink.stream, { status: 200, headers: this.described(headers) }));
    return sink;
  }

  drop(): void {
    this.sink?.destroy();
    this.resolve(new Response(null, { status: 500 }));
  }

  /** Connections are the host's. */
  private described(headers: AnswerHeaders | undefined): Record<string, string> {
    const { connection: _connection, ...described } = { ...this.always, ...headers };
    return described;
  }
}
