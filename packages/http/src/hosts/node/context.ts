import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';

import type { Principal } from '@decorum/core';

import type { RequestHead } from '../../auth/auth.js';
import type { Bodies, BodyReceiver } from '../../endpoint/body.js';
import type { PostEndpoint } from '../../endpoint/endpoint.js';
import { announcesBody } from '../../endpoint/headers.js';
import { type AnswerHeaders, type Headers, JSON_TYPE, type Sink } from '../../endpoint/http-context.js';
import type { UnreadContext } from '../../endpoint/pipeline.js';
import { type SlowReaders, UNCOUNTED_BYTES } from '../../endpoint/slow-readers.js';
import { noteUnread, postInOrder } from './answers.js';
import { type Arrived, NodeBody, TOGETHER } from './body.js';
import { NodeHead, type NodeRequest, originForm, streamHeaders, withoutClose } from './head.js';
import { NodeSink } from './sink.js';
import { channelOf, isUnread, onSocketClose, portAt, versionOf } from './socket.js';
import { isTaken, takeBody } from './parsed-body.js';

/** A Node request and its response. */
export class NodeContext implements UnreadContext {
  readonly headers: Headers;
  principal: Principal | undefined;
  readers: SlowReaders | undefined;
  /** Whether the body is known to be read completely. */
  isRead = false;

  constructor(
    readonly request: NodeRequest,
    private readonly response: ServerResponse,
  ) {
    this.headers = request.httpVersionMajor === 1 ? (request.headers as Headers) : streamHeaders(request);
    this.principal = undefined;
    this.readers = undefined;
  }

  get method(): string {
    return this.request.method ?? '';
  }

  get url(): string {
    return originForm(this.request.url);
  }

  get head(): RequestHead {
    return new NodeHead(this.request, this.request);
  }

  get hasBody(): boolean {
    return announcesBody(this.headers);
  }

  get vary(): string | undefined {
    const vary = this.response.getHeader('vary');
    return vary === undefined ? undefined : String(vary);
  }

  get localPort(): number | undefined {
    return this.request.socket.localPort;
  }

  get remoteAddress(): string | undefined {
    return this.request.ip ?? this.request.socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return portAt(this.remoteAddress, this.request.socket);
  }

  get httpVersion(): string {
    return versionOf(this.request);
  }

  get gone(): boolean {
    return channelOf(this.request).destroyed;
  }

  post(endpoint: PostEndpoint, message: unknown): void {
    const { response } = this;
    const isPipelined = response.socket === null || (this.request as Arrived)[TOGETHER];
    if (isPipelined) postInOrder(endpoint, { message, context: this, response });
    else endpoint.post(message, this);
  }

  onClose(callback: () => void): () => void {
    return onSocketClose(channelOf(this.request), callback);
  }

  read(bodies: Bodies, receiver: BodyReceiver): void {
    const { request } = this;
    if (isTaken(request)) takeBody({ bodies, request, remoteAddress: this.remoteAddress }, this, receiver);
    else new NodeBody({ bodies, raw: request, request }, this, inScope(receiver)).read();
  }

  preset(headers: AnswerHeaders): void {
    for (const name in headers) this.response.setHeader(name, headers[name] as string);
  }

  answer(status: number, body?: string, headers?: AnswerHeaders): void {
    const { request, response } = this;
    // without this header, Node would wait for the rest of the body
    if (!this.isRead && isUnread(request)) response.setHeader('connection', 'close');
    if (request.httpVersionMajor !== 1) return this.answerStream(status, body, headers);
    if (body === undefined) {
      // without a length, Node would send an empty chunk
      response.writeHead(status, status === 204 ? headers : { 'content-length': 0, ...headers });
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
    const close = !this.isRead && isUnread(this.request) ? { connection: 'close' } : undefined;
    const all = { ...headers, ...close };
    return new NodeSink(this.response.writeHead(200, this.request.httpVersionMajor === 1 ? all : withoutClose(all)));
  }

  drop(): void {
    channelOf(this.request).destroy();
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

/** Restores the `AsyncLocalStorage` of the application's middleware, which is missing in events of the connection. */
function inScope(receiver: BodyReceiver): BodyReceiver {
  const resource = new AsyncResource('Body');
  return {
    body: (failure, message) => resource.runInAsyncScope(receiver.body, receiver, failure, message),
  };
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
