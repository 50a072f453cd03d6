import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';

import type { Principal } from '@decorum/core';
import { isDenial, isObject, isPromise } from '@decorum/core/internal';
import { belongsToSession } from '@decorum/core/internal';
import {
  type Authorization,
  errorFrame,
  type Frame,
  type JsonRpcMessage,
  type Reply,
  type Wire,
} from '@decorum/core/transport';

import {
  type AnswerHeaders,
  type HttpContext,
  type Sink,
  STREAM_HEADERS,
  transportInfo,
} from '../endpoint/http-context.js';
import { BLANK_LINE } from '../streams/event-log.js';
import { type ExchangeParts, isAnswered, isRequest, judges } from './exchange-parts.js';
import { acceptedBy } from '../endpoint/headers.js';
import type { LegacyPaths } from '../endpoint/options.js';
import { closing, HttpError, misdirected, noSession, streamNotAccepted } from '../endpoint/http-error.js';
import type { HttpSession } from '../sessions/session.js';
import { EventStream } from '../streams/stream.js';
import type { StreamParts } from '../streams/stream-parts.js';
import { Post } from './post.js';

/** The query parameter with the key of a session. The official servers use the same name. */
const KEY = 'sessionId';

/** The process in a key. */
const NODE = /\.(\w{1,16})$/;

/** The stream may buffer this many times `maxBufferedBytes`, because it can't drop responses. */
const BUFFER_FACTOR = 16;

/** The stream of a session. Its first event has the URI for messages; the others are the server's messages. */
class MessageStream extends EventStream {
  constructor(
    parts: StreamParts,
    private readonly onEnd: () => void,
  ) {
    super(parts);
  }

  /** Disconnects a client that keeps sending requests without reading the responses, because they would pile up. */
  override send(frame: Frame): void {
    if (this.pending.length <= BUFFER_FACTOR * this.parts.maxBufferedBytes) return super.send(frame);
    this.hit('maxBufferedBytes');
    this.cutOff();
  }

  /** Tells the client where to post its messages. */
  announce(uri: string): void {
    this.write(`${BLANK_LINE}event: endpoint\ndata: ${uri}`);
    this.flush();
  }

  override closed(sink: Sink): void {
    super.closed(sink);
    this.onEnd();
  }

  protected override get start(): string {
    return '\n\nevent: message\ndata: ';
  }
}

/** A session, found by its key. */
interface LegacySession {
  readonly id: string;
  readonly stream: MessageStream;
}

/**
 * HTTP+SSE: a GET opens the stream, and the responses to all POSTs are sent on it. A stream can't be resumed, so the
 * session ends with it.
 * https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
export class LegacySse {
  private readonly byKey = new Map<string, LegacySession>();
  private readonly uri: string;

  constructor(
    private readonly parts: ExchangeParts,
    { path, messagesPath }: Required<LegacyPaths>,
  ) {
    // relative to the stream, because only the client knows which path prefix proxies add
    this.uri = relativeUri(path.slice(0, path.lastIndexOf('/') + 1), messagesPath);
  }

  /**
   * Starts a session.
   * @throws {HttpError} 406, 429 or 503
   */
  open(context: HttpContext): void {
    const { sessions, streams, stopped } = this.parts;
    if (stopped) throw closing();
    const accepted = acceptedBy(context.headers.accept);
    if (accepted === 'json' || accepted === 'neither') throw streamNotAccepted();
    // not shared: only the process that has the stream can serve the session
    const session = sessions.open(context, false);
    const random = randomBytes(24).toString('base64url');
    const key = this.parts.node === undefined ? random : `${random}.${this.parts.node}`;
    const stream = new MessageStream(streams, () => {
      this.byKey.delete(key);
      sessions.end(session);
    });
    session.streams.sole = stream;
    session.transport = transportInfo(context, this.parts.credentials);
    this.byKey.set(key, { id: session.id, stream });
    const sink = context.open(STREAM_HEADERS);
    stream.attach(sink);
    stream.announce(`${this.uri}?${KEY}=${key}`);
    if (sink.closed) stream.closed(sink);
  }

  /**
   * Handles a message that a client posts to its session.
   * @param body the parsed JSON
   * @param url path and query of the request; the query has the key of the session
   * @throws {HttpError} 400, 404, 421 if another process has the session, or 503
   */
  post(body: unknown, context: HttpContext, url: string): void {
    const { closed, stopped, sessions, gate } = this.parts;
    if (closed || (stopped && isRequest(body))) throw closing();
    if (gate && !isAnswered(body)) gate.requireBase(context.principal, true);
    if (gate?.revocations.any) gate.requireUnrevoked(context.principal, true);
    const key = keyOf(url);
    const found = this.byKey.get(key);
    if (found === undefined && this.isElsewhere(key)) throw misdirected();
    const session = found && sessions.local(found.id, context.principal);
    if (found === undefined || session === undefined) throw noSession();
    if (isObject(body) && !belongsToSession(body as unknown as JsonRpcMessage, undefined)) {
      throw new HttpError(400, 'Send requests without a session to the Streamable HTTP endpoint.');
    }
    new LegacyPost({ body, context, session, stream: found.stream }, this.parts).run();
  }

  /** Whether a key names another process. If that one is dead, its client knows, because its stream has ended. */
  private isElsewhere(key: string): boolean {
    const { node } = this.parts;
    const [, other] = NODE.exec(key) ?? [];
    return node !== undefined && other !== undefined && other !== node;
  }
}

/** The key of a session. A query with several keys is invalid. */
function keyOf(url: string): string {
  const query = url.indexOf('?');
  const keys = query === -1 ? [] : new URLSearchParams(url.slice(query)).getAll(KEY);
  return keys.length === 1 ? (keys[0] as string) : '';
}

/** The relative reference (RFC 3986, section 4.2) from a folder to a path. `to` may end with a slash. */
function relativeUri(from: string, to: string): string {
  const way = posix.relative(from, to);
  if (to.endsWith('/')) return way === '' ? './' : `${way}/`;
  return way === '' ? `../${posix.basename(to)}` : way;
}

/** A posted message with its session and stream. */
interface Posted {
  readonly body: unknown;
  readonly context: HttpContext;
  readonly session: HttpSession;
  readonly stream: MessageStream;
}

/** One POST. It gets a 202 once its caller is found to be authorized. The kernel's reply goes to the stream. */
class LegacyPost extends Post implements Wire {
  readonly principal: Principal | undefined;
  readonly authorization: Authorization | undefined;
  readonly owner: ExchangeParts;
  protected readonly inSession = true;
  protected hasResponded = false;
  /** Nothing more may be sent to the stream. */
  private done = false;

  constructor(
    private readonly posted: Posted,
    protected readonly parts: ExchangeParts,
  ) {
    super();
    this.owner = parts;
    this.principal = posted.context.principal;
    this.authorization = parts.gate?.authorization;
  }

  /** Hands the message to the kernel. Never throws. */
  run(): void {
    const { body, session } = this.posted;
    const { kernel } = this.parts;
    const mayBeDenied = judges(this.parts) && isAnswered(body);
    try {
      const reply = kernel.handle(body, this, session.state);
      if (!isPromise(reply)) return this.finish(reply);
      if (!mayBeDenied) this.admitted();
      void reply.then((late) => this.finish(late)).catch((error: unknown) => this.fail(error));
    } catch (error) {
      this.fail(error);
    }
  }

  admitted(): void {
    if (this.hasResponded) return;
    this.hasResponded = true;
    this.context.answer(202);
  }

  protected override get context(): HttpContext {
    return this.posted.context;
  }

  send(frame: Frame): void {
    if (!this.done) this.posted.stream.send(frame);
  }

  private finish(reply: Reply): void {
    const { failure, text } = reply;
    if (!this.hasResponded && failure !== undefined) {
      if (isDenial(failure)) return this.deny(failure, reply);
      // without a valid message there is no id, so the client couldn't match an error on the stream to its POST
      if (isInvalidMessage(reply)) return this.answer(400, text ?? errorFrame(undefined, failure));
    }
    this.admitted();
    if (text !== undefined) this.send({ kind: 'response', text });
    this.done = true;
  }

  protected override fail(error: unknown): void {
    this.done = true;
    super.fail(error);
  }

  protected override answer(status: number, text?: string, headers?: AnswerHeaders): void {
    this.done = this.hasResponded = true;
    this.context.answer(status, text, headers);
  }
}

const isInvalidMessage = ({ ran, failure }: Reply): boolean =>
  !ran && (failure?.kind === 'parse-error' || failure?.kind === 'invalid-request');
