import type { JsonObject, Principal, TransportInfo } from '@decorum/core';
import {
  beginsConversation,
  belongsToSession,
  type Cancellation,
  errorFrame,
  type Frame,
  INITIALIZE,
  type JsonRpcMessage,
  type Kernel,
  type MirroredArgument,
  type PassingPeer,
  readableId,
  type Reply,
  revisionOf,
  type Subject,
  UNDECLARED_REVISION,
  type Wire,
} from '@decorum/core/transport';

import { internalError, statusOf } from './answer.js';
import { type AnswerHeaders, type HttpContext, transportInfo } from './http-context.js';
import {
  acceptedBy,
  type Accepted,
  checkArguments,
  checkRouting,
  requireKnownVersion,
  USUAL_ACCEPT,
  versionMismatch,
} from './headers.js';
import { closing, HttpError, noSession, sessionEnded } from './http-error.js';
import type { HttpSession } from './session.js';
import type { Sessions } from './sessions.js';
import { EventStream, STREAM_HEADERS, type StreamSettings } from './stream.js';

/** What exchanges work with. One for each endpoint: it is the owner of their wires. */
export interface ExchangeParts {
  readonly kernel: Kernel;
  readonly sessions: Sessions;
  readonly streams: StreamSettings;
  /** Milliseconds after which a client comes back to a stream that was paused. */
  readonly retryMs: number;
  /** Whether clients can have sessions. */
  readonly keepsSessions: boolean;
  /** Names of the headers that handlers don't see. */
  readonly credentials: ReadonlySet<string>;
  /** Takes errors that no client shall see. */
  readonly report: (error: unknown) => void;
  /** Requests are refused; responses and notifications still pass. */
  stopped: boolean;
  /** Everything is refused. */
  closed: boolean;
}

/** One POST: its message and the answer, which is JSON until something else must be sent before the response. */
export class PostExchange implements Wire {
  readonly principal: Principal | undefined;
  readonly declaredVersion: string | undefined;
  readonly owner: ExchangeParts;
  private session: HttpSession | undefined;
  /** The message belongs to no session. */
  private alone = false;
  /** What takes the place of a session where none are kept. */
  private passing: PassingPeer | undefined;
  /** The session began with this exchange. */
  private fresh = false;
  private accepted: Accepted = 'both';
  private stream: EventStream | undefined;
  /** Takes back that the context tells when the client goes away. */
  private forget: (() => void) | undefined;
  private done = false;
  /** It was in flight at an earlier tick. */
  private lasting = false;

  /** @param body what was JSON */
  constructor(
    private readonly body: unknown,
    private readonly context: HttpContext,
    private readonly parts: ExchangeParts,
  ) {
    this.owner = parts;
    this.principal = context.principal;
    this.declaredVersion = context.headers['mcp-protocol-version'];
  }

  /** Has the message handled, and answers it: at once, where nothing has to be waited for. Never throws. */
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
      this.dispatch(await found);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Lets the message in, and finds the session that it names. */
  private admit(): HttpSession | undefined | Promise<HttpSession | undefined> {
    const { body, parts, context } = this;
    const { headers } = context;
    if (parts.stopped && (parts.closed || isRequest(body))) throw closing();
    if (headers.accept !== USUAL_ACCEPT) this.accepted = acceptedBy(headers.accept);
    if (this.accepted === 'neither') {
      throw new HttpError(406, 'A POST is answered with application/json or text/event-stream.');
    }
    const id = headers['mcp-session-id'];
    return id === undefined || !parts.keepsSessions ? undefined : parts.sessions.find(id, context.principal);
  }

  /** Has the kernel handle the message where it belongs: in no session, in a new one, or in the one it names. */
  private dispatch(session: HttpSession | undefined): void {
    const { declaredVersion, parts } = this;
    // a batch is for the kernel to find out
    const message = typeof this.body === 'object' ? (this.body as JsonRpcMessage | null) : null;
    if (message === null || !belongsToSession(message, declaredVersion, session?.state)) {
      if (message !== null && !Array.isArray(message) && !('method' in message))
        throw new HttpError(400, 'A response answers nothing here.');
      this.alone = true;
    } else if (!parts.keepsSessions) {
      this.pass(message);
    } else if (this.context.headers['mcp-session-id'] === undefined) {
      this.begin(message);
    } else {
      if (session === undefined) throw noSession();
      if ('method' in message && message.method === INITIALIZE) {
        throw new HttpError(400, 'The session is initialized already.');
      }
      if (declaredVersion !== session.state.revision.id) requireKnownVersion(declaredVersion);
      this.session = session;
    }
    const reply = parts.kernel.handle(this.body, this, this.session?.state ?? this.passing);
    if (reply instanceof Promise) void reply.then((late) => this.end(late)).catch((error: unknown) => this.fail(error));
    else this.end(reply);
  }

  private begin(message: JsonRpcMessage): void {
    if (!beginsConversation(message) || !('id' in message)) {
      throw new HttpError(400, 'The header Mcp-Session-Id is missing.');
    }
    requireKnownVersion(this.declaredVersion);
    this.session = this.parts.sessions.open(this.principal, true);
    this.fresh = true;
  }

  /** Without sessions, nothing is known but the revision: whoever sends this has sent `initialize` somewhere. */
  private pass(message: JsonRpcMessage): void {
    requireKnownVersion(this.declaredVersion);
    const revision = beginsConversation(message)
      ? undefined
      : (revisionOf(this.declaredVersion) ?? UNDECLARED_REVISION);
    this.passing = this.parts.kernel.openPassing(revision);
  }

  get transport(): TransportInfo {
    return transportInfo(this.context, this.parts.credentials);
  }

  /** While hooks of the application ran, the client may have left. */
  get gone(): boolean {
    return this.alone && this.context.gone;
  }

  onDisconnect(callback: () => void): void {
    if (this.alone) this.forget = this.context.onClose(callback);
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
    if (this.done) return;
    // a client that takes no streams can do without notifications, but not without questions
    if (this.accepted === 'json' && frame.kind !== 'question') return;
    this.openStream().send(frame);
  }

  /** Proxies cut silent connections, so that the answer becomes a stream with comments at the second tick. */
  keepAlive(): void {
    if (this.done || this.stream !== undefined || this.accepted === 'json') return;
    try {
      if (this.lasting) this.openStream().keepAlive();
    } catch {
      // the application has answered by itself; our answer will fail too, and be reported then
      this.accepted = 'json';
    }
    this.lasting = true;
  }

  closeStream(retryMs = this.parts.retryMs): void {
    if (!this.done && this.session) this.openStream().pause(retryMs);
  }

  /** A session that begins is answered once other processes know of it. One whose first request failed never was. */
  private end(reply: Reply): void {
    const { fresh, session } = this;
    if (!fresh || session === undefined) return this.finish(reply);
    const { sessions } = this.parts;
    if (!session.state.initialized) sessions.end(session);
    const kept = session.state.initialized ? sessions.share(session) : undefined;
    if (kept) void kept.then(() => this.finish(reply)).catch((error: unknown) => this.fail(error));
    else this.finish(reply);
  }

  /** Sends what the kernel replies: a response, or nothing where none is due. */
  private finish(reply: Reply): void {
    const { text, parts } = reply;
    const cancelled = parts ? parts.find(isGivenUp)?.cancelled : reply.cancelled;
    if (cancelled !== undefined) return this.giveUp(cancelled, text);
    this.leave();
    const isPlain = reply.failure === undefined && parts === undefined;
    const status = isPlain ? 200 : statusOf(reply, { alone: this.alone, named: readableId(this.body) !== undefined });
    if (text !== undefined && this.stream === undefined && this.accepted === 'stream' && status === 200) {
      this.openStream();
    }
    const headers = this.fresh || this.parts.stopped ? this.headers : undefined;
    if (this.stream) this.endStream(text);
    else if (text !== undefined) this.context.answer(status, text, headers);
    // JSON-RPC answers no notification, not even a bad one, but HTTP does
    else if (reply.failure) this.context.answer(status, errorFrame(undefined, reply.failure), headers);
    else this.context.answer(202, undefined, headers);
  }

  private giveUp(why: Cancellation, text: string | undefined): void {
    if (why === 'client' || why === 'gone') return this.answer(202);
    const { status, headers } = why === 'session' ? sessionEnded() : closing();
    this.answer(status, text, headers);
  }

  private answer(status: number, text?: string, headers?: AnswerHeaders): void {
    this.leave();
    if (this.stream) this.endStream(text);
    else this.context.answer(status, text, headers);
  }

  /** Answers with an error, whatever became of the rest. */
  private fail(error: unknown): void {
    if (error instanceof HttpError && !this.done) {
      return this.answer(error.status, error.body(readableId(this.body)), error.headers);
    }
    this.parts.report(error);
    // the answer itself has failed: nothing is left but to let the connection go
    if (this.done) return this.context.drop();
    // its client will never know of it
    if (this.fresh && this.session) this.parts.sessions.end(this.session);
    this.answer(500, internalError(readableId(this.body)));
  }

  private get headers(): AnswerHeaders {
    return {
      // a connection that goes on would be cut between two requests when the server ends
      ...(this.parts.stopped && { connection: 'close' }),
      ...(this.fresh && this.session?.state.initialized && { 'mcp-session-id': this.session.id }),
    };
  }

  private leave(): void {
    this.done = true;
    this.forget?.();
    if (this.session) this.session.used = true;
  }

  private openStream(): EventStream {
    if (this.stream) return this.stream;
    const sink = this.context.open({ ...STREAM_HEADERS, ...this.headers });
    const stream = this.session?.openStream('p') ?? new EventStream(this.parts.streams, 'p');
    stream.attach(sink);
    stream.prime();
    return (this.stream = stream);
  }

  private endStream(text?: string): void {
    const { session, stream } = this;
    stream?.end(text === undefined ? undefined : { kind: 'response', text });
    if (stream) session?.closeStream(stream);
  }
}

/** Whether a request of a batch is given up, and with it all others. */
const isGivenUp = ({ cancelled }: Reply): boolean => cancelled === 'session' || cancelled === 'closing';

const isRequest = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'method' in body && 'id' in body;
