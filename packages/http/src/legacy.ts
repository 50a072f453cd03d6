import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';

import type { Principal, TransportInfo } from '@decorum/core';
import {
  belongsToSession,
  errorFrame,
  type Frame,
  isObject,
  isPromise,
  type JsonRpcMessage,
  type Reply,
  type Wire,
} from '@decorum/core/transport';

import { type HttpContext, type Sink, transportInfo } from './http-context.js';
import type { ExchangeParts } from './exchange.js';
import { acceptedBy } from './headers.js';
import type { LegacyPaths } from './options.js';
import { closing, HttpError, noSession } from './http-error.js';
import type { HttpSession } from './session.js';
import { EventStream, STREAM_HEADERS, type StreamSettings } from './stream.js';

/** What the query of an endpoint calls the key of a session; the official servers call it so. */
const KEY = 'sessionId';

/** How often `maxBufferedBytes` may wait behind what is being sent; nothing of it can be dropped. */
const MOST_BUFFERS = 16;

/** The stream of a session: where to send to, and then everything that comes back. */
class MessageStream extends EventStream {
  constructor(
    settings: StreamSettings,
    private readonly onEnd: () => void,
  ) {
    super(settings, 'g');
  }

  /** A client that goes on asking and takes no answers is let go: otherwise they would pile up. */
  override send(frame: Frame): void {
    if (this.pending.length > MOST_BUFFERS * this.settings.maxBufferedBytes) this.cutOff();
    else super.send(frame);
  }

  /** Tells the client where its messages go. */
  announce(uri: string): void {
    this.write(`event: endpoint\ndata: ${uri}\n\n`);
    this.flush();
  }

  override closed(sink: Sink): void {
    super.closed(sink);
    this.onEnd();
  }

  protected override eventText(text: string): string {
    return `event: message\ndata: ${text}\n\n`;
  }
}

/** A session as its key finds it. */
interface Opened {
  readonly id: string;
  readonly stream: MessageStream;
}

/**
 * HTTP+SSE: a GET whose stream is the session, and POSTs whose answers come on it. Nothing can be resumed, so that the
 * session ends with its stream.
 * https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
export class LegacySse {
  private readonly byKey = new Map<string, Opened>();
  private readonly uri: string;

  constructor(
    private readonly parts: ExchangeParts,
    { path, messagesPath }: Required<LegacyPaths>,
  ) {
    // relative to the path of the stream, because only the client knows what proxies have put before it
    this.uri = relativeUri(path.slice(0, path.lastIndexOf('/') + 1), messagesPath);
  }

  /**
   * Begins a session.
   * @throws {HttpError} 406 or 503
   */
  open(context: HttpContext): void {
    const { sessions, streams, stopped } = this.parts;
    if (stopped) throw closing();
    const accepted = acceptedBy(context.headers.accept);
    if (accepted !== 'both' && accepted !== 'stream') {
      throw new HttpError(406, 'A GET is answered with text/event-stream.');
    }
    // its stream is here, so that no other process can serve it
    const session = sessions.open(context.principal, false);
    const key = randomBytes(24).toString('base64url');
    const stream = new MessageStream(streams, () => {
      this.byKey.delete(key);
      sessions.end(session);
    });
    session.bind(stream);
    this.byKey.set(key, { id: session.id, stream });
    const sink = context.open(STREAM_HEADERS);
    stream.attach(sink);
    stream.announce(`${this.uri}?${KEY}=${key}`);
    if (sink.closed) stream.closed(sink);
  }

  /**
   * Takes a message for a session.
   * @param body what was JSON
   * @param url the path and query of the request, whose query has the key of the session
   * @throws {HttpError} 400, 404 or 503
   */
  post(body: unknown, context: HttpContext, url: string): void {
    const { closed, stopped, sessions } = this.parts;
    if (closed || (stopped && isObject(body) && 'method' in body && 'id' in body)) throw closing();
    const opened = this.byKey.get(keyOf(url));
    const session = opened && sessions.local(opened.id, context.principal);
    if (opened === undefined || session === undefined) throw noSession();
    if (isObject(body) && !belongsToSession(body as unknown as JsonRpcMessage, undefined)) {
      throw new HttpError(400, 'A message that belongs to no session is for the other endpoint.');
    }
    new LegacyPost({ body, context, session, stream: opened.stream }, this.parts).run();
  }
}

/** The key of a session; a query that has several has none. */
function keyOf(url: string): string {
  const query = url.indexOf('?');
  const keys = query === -1 ? [] : new URLSearchParams(url.slice(query)).getAll(KEY);
  return keys.length === 1 ? (keys[0] as string) : '';
}

/** The way from a folder to a path (RFC 3986, section 4.2), which may end with a slash. */
function relativeUri(from: string, to: string): string {
  const way = posix.relative(from, to);
  if (to.endsWith('/')) return way === '' ? './' : `${way}/`;
  return way === '' ? `../${posix.basename(to)}` : way;
}

/** A message, and where it belongs. */
interface Posted {
  readonly body: unknown;
  readonly context: HttpContext;
  readonly session: HttpSession;
  readonly stream: MessageStream;
}

/** One POST: it is answered at once, and what the kernel replies goes to the stream. */
class LegacyPost implements Wire {
  readonly principal: Principal | undefined;
  readonly owner: ExchangeParts;
  private done = false;

  constructor(
    private readonly posted: Posted,
    private readonly parts: ExchangeParts,
  ) {
    this.owner = parts;
    this.principal = posted.context.principal;
  }

  /** Has the message handled. Never throws. */
  run(): void {
    const { body, context, session } = this.posted;
    try {
      const reply = this.parts.kernel.handle(body, this, session.state);
      // nobody would know the answer to what is no message on the stream
      if (!isPromise(reply) && isNoMessage(reply)) {
        return context.answer(400, reply.text ?? errorFrame(undefined, reply.failure));
      }
      context.answer(202);
      if (isPromise(reply)) void reply.then((late) => this.finish(late)).catch((error: unknown) => this.fail(error));
      else this.finish(reply);
    } catch (error) {
      this.fail(error);
    }
  }

  get transport(): TransportInfo {
    return transportInfo(this.posted.context, this.parts.credentials);
  }

  send(frame: Frame): void {
    if (!this.done) this.posted.stream.send(frame);
  }

  private finish({ text }: Reply): void {
    if (text !== undefined) this.send({ kind: 'response', text });
    this.done = true;
  }

  private fail(error: unknown): void {
    this.done = true;
    this.parts.report(error);
    this.posted.context.drop();
  }
}

const isNoMessage = (reply: Reply): reply is Reply & Required<Pick<Reply, 'failure'>> =>
  !reply.ran && (reply.failure?.kind === 'parse-error' || reply.failure?.kind === 'invalid-request');
