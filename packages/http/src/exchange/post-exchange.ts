import { type JsonObject, McpError, type Principal, type RequestId } from '@decorum/core';
import { INITIALIZE, isDenial, LISTEN, revisionOf, UNDECLARED_REVISION } from '@decorum/core/internal';
import { beginsConversation, belongsToSession, readableId } from '@decorum/core/internal';
import {
  type Authorization,
  type Cancellation,
  errorFrame,
  type Frame,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type MirroredArgument,
  type TransientPeer,
  type Reply,
  type Subject,
  type Wire,
} from '@decorum/core/transport';

import { cancelsBatch, statusOf } from '../endpoint/answer.js';
import { addressOf } from '../endpoint/caller.js';
import { type AnswerHeaders, type HttpContext, STREAM_HEADERS } from '../endpoint/http-context.js';
import {
  acceptedBy,
  type Accepted,
  checkArguments,
  checkRouting,
  requireKnownVersion,
  USUAL_ACCEPT,
  versionMismatch,
} from '../endpoint/headers.js';
import { closing, HttpError, noSession, RETRY, sessionEnded, sessionIdMissing } from '../endpoint/http-error.js';
import { type ExchangeParts, isAnswered, isRequest, judges, SESSIONLESS } from './exchange-parts.js';
import type { HttpSession } from '../sessions/session.js';
import { EventStream } from '../streams/stream.js';
import { Post } from './post.js';

/** One POST and its response: JSON, or a stream if other messages are sent before the JSON-RPC response. */
export class PostExchange extends Post implements Wire {
  readonly principal: Principal | undefined;
  readonly authorization: Authorization | undefined;
  readonly declaredVersion: string | undefined;
  readonly owner: ExchangeParts;
  private session: HttpSession | undefined;
  /** The message belongs to no session. */
  private sessionless = false;
  /** Stands in for the session if sessions are disabled. */
  private transient: TransientPeer | undefined;
  /** The session, if this exchange has started it. */
  private started: HttpSession | undefined;
  private accepted: Accepted;
  private stream: EventStream | undefined;
  private removeOnClose: (() => void) | undefined;
  /** Stops counting the body. */
  private freeBody: (() => void) | undefined;
  /** Frees the place of a `subscriptions/listen` request. */
  private endListening: (() => void) | undefined;
  protected hasResponded = false;
  private isAdmitted = false;
  /** The exchange was already in flight at an earlier keep-alive tick. */
  private sawTick = false;

  /** @param body the parsed JSON */
  constructor(
    private body: unknown,
    protected readonly context: HttpContext,
    protected readonly parts: ExchangeParts,
  ) {
    super();
    this.owner = parts;
    this.principal = context.principal;
    this.authorization = parts.gate?.authorization;
    this.declaredVersion = context.headers['mcp-protocol-version'];
  }

  /** Handles and answers the message, synchronously if nothing has to be awaited. Never throws. */
  run(): void {
    try {
      const found = this.admit();
      if (found instanceof Promise) void this.later(found);
      else this.dispatch(found);
    } catch (error) {
      this.fail(error);
    }
  }

  private async later(found: Promise<HttpSession | undefined>): Promise<void> {
    try {
      this.dispatch(this.parts.sessions.stillOwned(await found, this.context));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Checks whether the message can be handled, and finds its session. */
  private admit(): HttpSession | undefined | Promise<HttpSession | undefined> {
    const { body, parts, context } = this;
    const { headers } = context;
    if (parts.stopped && (parts.closed || isRequest(body))) throw closing();
    if (headers.accept !== USUAL_ACCEPT) this.accepted = acceptedBy(headers.accept);
    if (this.accepted === 'neither') {
      throw new HttpError(406, 'The Accept header of a POST must allow application/json or text/event-stream.');
    }
    const id = headers['mcp-session-id'];
    if (parts.gate?.revocations.any) parts.gate.requireUnrevoked(this.principal, id !== undefined);
    if (parts.gate && !isAnswered(body)) parts.gate.requireBase(this.principal, id !== undefined);
    return id === undefined || SESSIONLESS.has(this.declaredVersion) ? undefined : parts.sessions.find(id, context);
  }

  /** Hands the message to the kernel, in its session, in a new session or without one. */
  private dispatch(session: HttpSession | undefined): void {
    const { declaredVersion, parts } = this;
    // a batch is an array, and left to the kernel
    const message = typeof this.body === 'object' ? (this.body as JsonRpcMessage | null) : null;
    if (message === null || !belongsToSession(message, declaredVersion)) {
      if (message !== null && !Array.isArray(message) && !('method' in message))
        throw new HttpError(400, 'A response is valid only within a session.');
      this.sessionless = true;
      if ((message as Partial<JsonRpcRequest> | null)?.method === LISTEN) {
        this.endListening = parts.listenStreams.open(addressOf(this.context));
      }
    } else if (!parts.keepsSessions) {
      this.usePassingPeer(message);
    } else if (this.context.headers['mcp-session-id'] === undefined) {
      this.startSession(message);
    } else {
      if (session === undefined) throw noSession();
      if ((message as Partial<JsonRpcRequest>).method === INITIALIZE) {
        throw new HttpError(400, 'The session is already initialized.');
      }
      if (declaredVersion !== session.state.revision.id) requireKnownVersion(declaredVersion);
      this.session = session;
    }
    if (parts.bodies.crowded) parts.bodies.requireRoom(this.context);
    const reply = parts.kernel.handle(this.body, this, this.session?.state ?? this.transient);
    if (!(reply instanceof Promise)) return this.end(reply);
    this.freeBody = parts.bodies.keep(this.context);
    // the call may wait for minutes, so keep only the parts that `readableId` needs; a batch has none
    const { method, id } = message as JsonRpcRequest;
    this.body = { method, id };
    void reply.then((late) => this.end(late)).catch((error: unknown) => this.fail(error));
  }

  private startSession(message: JsonRpcMessage): void {
    if (!beginsConversation(message) || !('id' in message)) throw sessionIdMissing();
    requireKnownVersion(this.declaredVersion);
    this.session = this.started = this.parts.sessions.open(this.context, true);
  }

  /** Without sessions, only the revision is known. The client may have sent `initialize` to another process. */
  private usePassingPeer(message: JsonRpcMessage): void {
    requireKnownVersion(this.declaredVersion);
    const revision = beginsConversation(message)
      ? undefined
      : (revisionOf(this.declaredVersion) ?? UNDECLARED_REVISION);
    this.transient = this.parts.kernel.openTransient(revision);
  }

  /** Whether no client is waiting for a plain response. The session knows whether a client reads a stream. */
  get gone(): boolean {
    return this.stream !== undefined || this.context.gone;
  }

  get isBrief(): boolean {
    return this.parts.isBrief;
  }

  /** Whether this answers the request of a host. */
  answers(context: HttpContext): boolean {
    return this.context === context;
  }

  admitted(): void {
    this.isAdmitted = true;
  }

  onDisconnect(callback: () => void): void {
    this.removeOnClose ??= this.context.onClose(callback);
  }

  checkVersion(version: string): void {
    if (version !== this.declaredVersion) throw versionMismatch(this.declaredVersion, version);
  }

  checkRouting(method: string, subject: Subject | undefined): void {
    checkRouting(this.context.headers, method, subject);
  }

  checkArguments(mirrored: readonly MirroredArgument[], args: JsonObject): void {
    checkArguments(this.context.headers, mirrored, args);
  }

  send(frame: Frame): void {
    // a client that doesn't accept streams can do without notifications, but not without questions
    if (this.accepted === 'json' && frame.kind !== 'question') return;
    this.openStream().send(frame);
  }

  /** Turns the response into a stream at the second tick, because proxies cut silent connections. */
  keepAlive(): void {
    if (this.hasResponded || this.stream !== undefined || this.accepted === 'json') return;
    // the request may still be denied, with a status of its own
    if (!this.isAdmitted && judges(this.parts)) return;
    try {
      if (this.sawTick) this.openStream().keepAlive();
    } catch {
      // the application has already answered; sending our response will fail too and report the error
      this.accepted = 'json';
    }
    this.sawTick = true;
  }

  closeStream(retryMs = this.parts.retryMs): void {
    if (!this.hasResponded && this.session) this.openStream().pause(retryMs);
  }

  /** Shares a new session with other processes before answering. Drops it if its `initialize` failed. */
  private end(reply: Reply): void {
    const { started } = this;
    if (started === undefined) return this.finish(reply);
    const { sessions } = this.parts;
    const shared = started.state.initialized ? sessions.share(started) : sessions.end(started);
    if (shared) void shared.then(() => this.finish(reply)).catch((error: unknown) => this.fail(error));
    else this.finish(reply);
  }

  /** Sends the kernel's reply. */
  private finish(reply: Reply): void {
    const { text, parts } = reply;
    const cancelled = parts ? parts.find(cancelsBatch)?.cancelled : reply.cancelled;
    if (cancelled !== undefined) return this.answerCancelled(cancelled, text);
    const { sessionless } = this;
    if (reply.failure !== undefined && isDenial(reply.failure)) return this.deny(reply.failure, reply);
    const status =
      reply.failure === undefined && parts === undefined
        ? 200
        : statusOf(reply, { sessionless, hasId: this.id !== undefined });
    if (text !== undefined && this.accepted === 'stream' && status === 200) this.openStream();
    const own = this.started || this.parts.stopped ? this.headers : undefined;
    const headers = status === 503 && reply.failure?.kind === 'unavailable' ? { ...own, ...RETRY } : own;
    // JSON-RPC never answers a notification, not even an invalid one, but HTTP has to
    if (text === undefined && reply.failure) this.answer(status, errorFrame(undefined, reply.failure), headers);
    else this.answer(text === undefined ? 202 : status, text, headers);
  }

  private answerCancelled(why: Cancellation, text: string | undefined): void {
    if (why === 'client' || why === 'gone') return this.answer(202);
    // like an error of the handler: the client must see the message
    if (why === 'overdue') return this.answer(200, text);
    if (why === 'revoked') return this.deny(revokedError(this.authorization), { text });
    const { status, headers } = why === 'session' ? sessionEnded() : closing();
    this.answer(status, text, headers);
  }

  protected override answer(status: number, text?: string, headers?: AnswerHeaders): void {
    this.hasResponded = true;
    this.removeOnClose?.();
    this.freeBody?.();
    this.endListening?.();
    if (this.session?.isProtected) this.session.recheck();
    if (this.stream === undefined) return this.context.answer(status, text, headers);
    this.stream.end(text);
    this.session?.streams.close(this.stream);
  }

  protected override fail(error: unknown): void {
    // the client never learns the id of the session
    if (this.started) this.parts.sessions.end(this.started);
    super.fail(error);
  }

  protected override get id(): RequestId | undefined {
    return readableId(this.body);
  }

  protected override get inSession(): boolean {
    return this.session !== this.started || this.transient !== undefined;
  }

  protected override get headers(): AnswerHeaders {
    return {
      // otherwise a kept-alive connection would be cut between two requests when the server closes
      ...(this.parts.stopped && { connection: 'close' }),
      ...(this.started?.state.initialized && { 'mcp-session-id': this.started.id }),
    };
  }

  private openStream(): EventStream {
    if (this.stream) return this.stream;
    const sink = this.context.open({ ...STREAM_HEADERS, ...this.headers });
    const stream = this.session?.streams.openFor(this.id) ?? new EventStream(this.parts.streams);
    stream.attach(sink);
    stream.prime();
    return (this.stream = stream);
  }
}

const revokedError = ({ scopes }: Authorization = { scopes: [] }): McpError =>
  new McpError('unauthorized', 'The credentials have been revoked.', { scopes });
