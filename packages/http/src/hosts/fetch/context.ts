import type { Principal } from '@decorum/core';

import type { RequestHead } from '../../auth/auth.js';
import type { Bodies, BodyReceiver } from '../../endpoint/body.js';
import { announcesBody } from '../../endpoint/headers.js';
import { type AnswerHeaders, type Headers, JSON_TYPE, type Sink } from '../../endpoint/http-context.js';
import { isAt } from '../../endpoint/paths.js';
import type { PipelineContext, PipelinedPost } from '../../endpoint/pipeline.js';
import type { SlowReaders } from '../../endpoint/slow-readers.js';
import { FetchBody } from './body.js';
import { FetchSink } from './sink.js';

/** Facts about a connection that a host may know and a web `Request` doesn't contain. */
export interface ConnectionInfo {
  /** The client's IP address. */
  readonly remoteAddress?: string | undefined;
  /** Local port of the connection. By default, the port in the request's URL. */
  readonly localPort?: number | undefined;
  /** The caller, if the host has authenticated the request. Can't be combined with the option `auth` or `principal`. */
  readonly principal?: Principal | undefined;
  /** Returns the client's address. Bun passes its server, which has this method, as the second argument. */
  requestIP?(request: Request): { readonly address: string } | null;
  /** The client's address, as passed by `Deno.serve`. */
  readonly remoteAddr?: { readonly hostname?: string | undefined } | undefined;
}

/** The client's address, if the host provides it. */
function addressOf(request: Request, info: ConnectionInfo): string | undefined {
  const { remoteAddress, remoteAddr } = info;
  if (remoteAddress !== undefined) return remoteAddress;
  if (typeof info.requestIP === 'function') return info.requestIP(request)?.address;
  return remoteAddr?.hostname;
}

/** A web `Request` and the means to resolve its `Response`. */
export class FetchContext implements PipelineContext<Request> {
  readonly headers: Headers;
  readonly url: string;
  readonly localPort: number | undefined;
  readonly remoteAddress: string | undefined;
  readonly vary: undefined;
  /** The host manages connections. */
  readonly isPipelined = false;
  principal: Principal | undefined;
  routes: PipelineContext<Request>['routes'];
  /** Unused: the host doesn't report when a client has taken a complete answer. */
  readers: SlowReaders | undefined;
  private always: AnswerHeaders | undefined;
  private sink: FetchSink | undefined;
  private onGone: (() => void) | undefined;

  constructor(
    readonly request: Request,
    info: ConnectionInfo,
    private readonly resolve: (response: Response) => void,
  ) {
    const { host, port, pathname, search } = new URL(request.url);
    // some hosts leave out the `Host` header
    this.headers = { host, ...Object.fromEntries(request.headers) };
    this.url = pathname + search;
    this.localPort = info.localPort ?? (port === '' ? undefined : Number(port));
    this.remoteAddress = addressOf(request, info);
  }

  get method(): string {
    return this.request.method;
  }

  get head(): RequestHead {
    const { method, url, headers, remoteAddress } = this;
    const { authorization } = headers;
    // the host has joined several headers into one
    const authorizations = authorization === undefined ? [] : [authorization];
    return { method, url, headers, authorizations, remoteAddress };
  }

  get hasBody(): boolean {
    // some hosts give every request a body stream
    return this.request.body !== null && announcesBody(this.headers);
  }

  get gone(): boolean {
    return this.request.signal.aborted;
  }

  postpone({ begin }: PipelinedPost): void {
    begin();
  }

  isAt(path: string): boolean {
    return isAt(path, this.url);
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
    // some hosts don't cancel the response when the client disconnects
    this.request.signal.addEventListener('abort', () => sink.cancelled(), { once: true });
    this.resolve(new Response(sink.stream, { status: 200, headers: this.described(headers) }));
    return sink;
  }

  drop(): void {
    this.sink?.destroy();
    this.resolve(new Response(null, { status: 500 }));
  }

  /** Nothing to do: the host does not keep the body. */
  forgetBody(): void {}

  /** The host manages connections, so the `connection` header is removed. */
  private described(headers: AnswerHeaders | undefined): Record<string, string> {
    const { connection: _connection, ...described } = { ...this.always, ...headers };
    return described;
  }
}
