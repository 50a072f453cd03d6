import type { IncomingMessage } from 'node:http';

import type { FastifyReply, FastifyRequest } from 'fastify';

import { type AnswerHeaders, JSON_TYPE, type Sink } from '../../endpoint/http-context.js';
import { UNCOUNTED_BYTES } from '../../endpoint/slow-readers.js';
import { CONTEXT } from '../../fast/node-fields.js';
import { noteUnread } from '../node/answers.js';
import { NodeContext } from '../node/context.js';
import { withoutClose } from '../node/head.js';
import { NodeSink } from '../node/sink.js';
import { isUnread } from '../node/socket.js';

/**
 * A Fastify request and its reply. Complete responses go through the application's hooks; streams bypass them.
 * Everything else is as in Node.
 */
export class FastifyContext extends NodeContext<FastifyRequest> {
  /** @param path the path that the endpoint answers at, without prefixes; undefined for plugin routes and documents */
  constructor(
    request: FastifyRequest,
    private readonly reply: FastifyReply,
    private readonly path?: string,
  ) {
    super(request.raw, reply.raw, request);
  }

  override get vary(): string | undefined {
    const vary = this.reply.getHeader('vary');
    return vary === undefined ? undefined : String(vary);
  }

  /** Fastify has compared the path, in its own way. */
  override isAt(path: string): boolean {
    return path === this.path;
  }

  override preset(headers: AnswerHeaders): void {
    this.reply.headers(headers);
  }

  override answer(status: number, body?: string, headers: AnswerHeaders = {}): void {
    const { reply, raw, readers } = this;
    const isFirst = raw.httpVersionMajor === 1;
    if (status !== 200) reply.code(status);
    if (body !== undefined) reply.type(JSON_TYPE);
    const isRejected = status >= 400 && this.path !== undefined;
    // without this header, Node would wait for the rest of the body
    if (isRejected && isUnread(raw)) reply.header('connection', 'close');
    reply.headers(isFirst ? headers : withoutClose(headers));
    // over HTTP/2, Node would send a body even in response to HEAD
    reply.send(isRejected && !isFirst && this.method === 'HEAD' ? undefined : body);
    if (readers === undefined || body === undefined || !isFirst) return;
    // if the headers are not sent yet, the application's hooks still hold the answer
    const { response } = this;
    if (response.writableLength > UNCOUNTED_BYTES || !response.headersSent) noteUnread(response, body, readers);
  }

  override open(headers: AnswerHeaders): Sink {
    this.reply.hijack();
    const all = { ...(this.reply.getHeaders() as Record<string, string>), ...headers };
    const close = isUnread(this.raw) ? { connection: 'close' } : undefined;
    return new NodeSink(this.response.writeHead(200, { ...all, ...close }));
  }

  override forgetBody(): void {
    this.request.body = undefined;
  }
}

type Raw = IncomingMessage & { [CONTEXT]?: FastifyContext };

/** Creates the context of a request, which all hooks share. */
export function beginContext(request: FastifyRequest, reply: FastifyReply, path: string): FastifyContext {
  const context = new FastifyContext(request, reply, path);
  (request.raw as Raw)[CONTEXT] = context;
  return context;
}

/** The context of a request. Undefined if a hook of the application has failed before. */
export const contextOf = ({ raw }: FastifyRequest): FastifyContext | undefined => (raw as Raw)[CONTEXT];
