import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';

import type { Principal } from '@decorum/core';

import type { RequestHead } from '../../auth/auth.js';
import type { Bodies, BodyReceiver } from '../../endpoint/body.js';
import { announcesBody } from '../../endpoint/headers.js';
import { type AnswerHeaders, type Headers, JSON_TYPE, type Sink } from '../../endpoint/http-context.js';
import { isAt } from '../../endpoint/paths.js';
import type { PipelineContext, PipelinedPost } from '../../endpoint/pipeline.js';
import { type SlowReaders, UNCOUNTED_BYTES } from '../../endpoint/slow-readers.js';
import { noteUnread, postInOrder } from './answers.js';
import { NodeBody } from './body.js';
import { NodeHead, type NodeRequest, originForm, streamHeaders, withoutClose } from './head.js';
import { NodeSink } from './sink.js';
import { channelOf, isUnread, onSocketClose, portAt, versionOf } from './socket.js';
import { takeBody } from './parsed-body.js';

/** The code of a stream that the server resets (RFC 9113, section 7). */
const INTERNAL_ERROR = 2;

/** A Node request and its response. Frameworks have a request of their own, which `HostRequest` is then. */
export class NodeContext<
  HostRequest extends { readonly ip?: string | undefined } = NodeRequest,
> implements PipelineContext<HostRequest> {
  readonly headers: Headers;
  readonly method: string;
  readonly localPort: number | undefined;
  principal: Principal | undefined;
  readers: SlowReaders | undefined;
  routes: PipelineContext<HostRequest>['routes'];
  isPipelined: boolean;
  /** Whether earlier requests of the connection were unanswered when this one arrived. */
  private readonly arrivedEarly: boolean;

  constructor(
    readonly raw: NodeRequest,
    protected readonly response: ServerResponse,
    readonly request: HostRequest,
  ) {
    this.headers = raw.httpVersionMajor === 1 ? (raw.headers as Headers) : streamHeaders(raw);
    this.method = raw.method ?? '';
    this.localPort = raw.socket.localPort;
    this.principal = undefined;
    this.readers = undefined;
    this.routes = undefined;
    // Node gives the connection to one response after the other
    this.arrivedEarly = response.socket === null;
    this.isPipelined = this.arrivedEarly;
  }

  get url(): string {
    return originForm(this.raw.url);
  }

  get head(): RequestHead {
    return new NodeHead(this.raw, this.request);
  }

  get hasBody(): boolean {
    return announcesBody(this.headers);
  }

  get vary(): string | undefined {
    const vary = this.response.getHeader('vary');
    return vary === undefined ? undefined : String(vary);
  }

  get remoteAddress(): string | undefined {
    return this.request.ip ?? this.raw.socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return portAt(this.remoteAddress, this.raw.socket);
  }

  get httpVersion(): string {
    return versionOf(this.raw);
  }

  get gone(): boolean {
    return channelOf(this.raw).destroyed;
  }

  postpone(post: PipelinedPost): void {
    // they may have been answered while the body arrived
    if (this.arrivedEarly && this.response.socket !== null) return post.begin();
    postInOrder(post, this, this.response);
  }

  isAt(path: string): boolean {
    return isAt(path, this.url);
  }

  onClose(callback: () => void): () => void {
    return onSocketClose(channelOf(this.raw), callback);
  }

  read(bodies: Bodies, receiver: BodyReceiver): void {
    const { raw, request } = this;
    const { readableEnded, destroyed, readableDidRead, body } = raw;
    // something else has read it, or the client is gone. A parser that counts bytes is done before the stream has ended
    if (readableEnded || destroyed || (readableDidRead && body !== undefined)) {
      return takeBody({ bodies, request: raw, remoteAddress: this.remoteAddress }, this, receiver);
    }
    // events of the connection don't have the `AsyncLocalStorage` of the application's middleware
    const resource = new AsyncResource('Body');
    const inScope = resource.runInAsyncScope.bind(resource, receiver.body, receiver) as BodyReceiver['body'];
    new NodeBody({ bodies, raw, request }, this, { body: inScope }).read();
  }

  preset(headers: AnswerHeaders): void {
    for (const name in headers) this.response.setHeader(name, headers[name] as string);
  }

  answer(status: number, body?: string, headers?: AnswerHeaders): void {
    const { raw, response } = this;
    // without this header, Node would wait for the rest of the body
    if (!raw.readableEnded && isUnread(raw)) response.setHeader('connection', 'close');
    if (raw.httpVersionMajor !== 1) return this.answerStream(status, body, headers);
    if (body === undefined) {
      // without a length, Node would send an empty chunk; with one, 204 and 304 would be wrong
      response.writeHead(status, status === 204 || status === 304 ? headers : { 'content-length': 0, ...headers });
      response.end();
      return;
    }
    const size = Buffer.byteLength(body);
    const described = { 'content-type': JSON_TYPE, 'content-length': size };
    response.writeHead(status, headers === undefined ? described : { ...described, ...headers });
    writeWhole(response, body, size);
    response.end();
    if (this.readers && response.writableLength > UNCOUNTED_BYTES) noteUnread(response, body, this.readers);
  }

  open(headers: AnswerHeaders): Sink {
    const { raw, response } = this;
    const all = isUnread(raw) ? { ...headers, connection: 'close' } : headers;
    return new NodeSink(response.writeHead(200, raw.httpVersionMajor === 1 ? all : withoutClose(all)));
  }

  drop(): void {
    const { stream } = this.response as { readonly stream?: { close(code: number): void } };
    // destroyed without an error, a stream would look as if the answer were complete
    if (stream) stream.close(INTERNAL_ERROR);
    else channelOf(this.raw).destroy();
  }

  /** Nothing to do: the host does not keep the body. */
  forgetBody(): void {}

  /** Answers over HTTP/2, where connection headers are invalid, and Node would send a body even in response to HEAD. */
  private answerStream(status: number, body: string | undefined, headers: AnswerHeaders = {}): void {
    const described = body === undefined ? headers : { 'content-type': JSON_TYPE, ...headers };
    this.response.writeHead(status, withoutClose(described));
    this.response.end(this.method === 'HEAD' ? undefined : body);
  }
}

/**
 * Writes headers and body in a single write. Call `end` afterwards. Node's own `end(text)` corks the socket and adds an
 * empty chunk at the end: each response would then take the slower path for several buffers.
 * @param size bytes of the text
 */
export function writeWhole(response: ServerResponse, text: string, size: number): void {
  const { socket } = response;
  // otherwise the first write would cork it until the next tick
  socket?.cork();
  // for ASCII, which nearly all JSON is, `latin1` writes the same bytes in a fraction of the time
  response.write(text, size === text.length ? 'latin1' : 'utf8');
  socket?.uncork();
}
