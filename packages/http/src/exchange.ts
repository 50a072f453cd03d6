import { type JsonObject, McpError, type Principal, type RequestId, type TransportInfo } from '@decorum/core';
import {
  errorFrame,
  FAILURES,
  isStateless,
  type JsonRpcMessage,
  type Kernel,
  type MirroredArgument,
  readableId,
  revisionOf,
  type Session,
  UNDECLARED_REVISION,
  type Wire,
} from '@decorum/core/transport';

import { type Carrier, transportInfo } from './carrier.js';
import {
  acceptedBy,
  type Accepted,
  checkArguments,
  checkRouting,
  requireKnownVersion,
  USUAL_ACCEPT,
  versionMismatch,
} from './headers.js';
import { Refusal } from './refusal.js';
import type { Running, RunningExchange } from './running.js';
import { type HttpSession, noSession, type Sessions } from './sessions.js';
import { EventStream, STREAM_HEADERS, type StreamSettings } from './stream.js';

/** How a frame begins that has no id. */
const NOTIFICATION = '{"jsonrpc":"2.0","method":';

/** What exchanges work with. */
export interface ExchangeParts {
  readonly kernel: Kernel;
  readonly sessions: Sessions;
  readonly running: Running;
  readonly streams: StreamSettings;
  /** Milliseconds after which a client comes back to a stream that was paused. */
  readonly retryMs: number;
  /** Whether clients can have sessions. */
  readonly keepsSessions: boolean;
  /** Takes errors that no client shall see. */
  readonly report: (error: unknown) => void;
}

/** One POST: its message and the answer, which is JSON until something else must be sent before the response. */
export class PostExchange implements Wire, RunningExchange {
  readonly principal: Principal | undefined;
  readonly declaredVersion: string | undefined;
  session: HttpSession | undefined;
  private stateless = false;
  /** What takes the place of a session where none are kept. */
  private passing: Session | undefined;
  /** The session began with this exchange. */
  private fresh = false;
  private accepted: Accepted = 'both';
  private status = 200;
  private refused: McpError | undefined;
  private stream: EventStream | undefined;
  private gone: (() => void) | undefined;
  private ending: (() => void) | undefined;
  private done = false;

  /** @param body what was JSON */
  constructor(
    private readonly body: unknown,
    readonly carrier: Carrier,
    private readonly parts: ExchangeParts,
  ) {
    this.principal = carrier.principal;
    this.declaredVersion = carrier.headers['mcp-protocol-version'];
  }

  /** Has the message handled, and answers it. Never throws. */
  async run(): Promise<void> {
    const { kernel, running, sessions } = this.parts;
    try {
      this.admit();
      running.exchanges.add(this);
      this.finish(await kernel.handle(this.body, this, this.session?.state ?? this.passing));
    } catch (error) {
      this.fail(error);
    }
    if (this.passing) kernel.closeSession(this.passing);
    // a session whose first request failed never was
    if (this.fresh && this.session?.state.initialized === false) sessions.end(this.session);
  }

  /** Finds out where the message belongs: to no session, to a new one, or to the one it names. */
  private admit(): void {
    const { declaredVersion, parts } = this;
    const { headers, principal } = this.carrier;
    if (parts.running.closing) throw parts.running.closing;
    if (headers.accept !== USUAL_ACCEPT) this.accepted = acceptedBy(headers.accept);
    if (this.accepted === 'neither') {
      throw new Refusal(406, 'A POST is answered with application/json or text/event-stream.');
    }
    const id = headers['mcp-session-id'];
    const session = id === undefined ? undefined : parts.sessions.find(id, principal);
    // a batch is for the kernel to find out
    const message = typeof this.body === 'object' ? (this.body as JsonRpcMessage | null) : null;
    if (message === null || isStateless(message, declaredVersion, session?.state)) {
      if (message !== null && !Array.isArray(message) && !('method' in message))
        throw new Refusal(400, 'A response answers nothing here.');
      this.stateless = true;
    } else if (!parts.keepsSessions) {
      this.pass(message);
    } else if (id === undefined) {
      this.begin(message);
    } else {
      if (session === undefined) throw noSession();
      if ('method' in message && message.method === 'initialize') {
        throw new Refusal(400, 'The session is initialized already.');
      }
      if (declaredVersion !== session.state.revision.id) requireKnownVersion(declaredVersion);
      this.session = session;
    }
  }

  private begin(message: JsonRpcMessage): void {
    if (!('method' in message) || message.method !== 'initialize' || !('id' in message)) {
      throw new Refusal(400, 'The header Mcp-Session-Id is missing.');
    }
    requireKnownVersion(this.declaredVersion);
    this.session = this.parts.sessions.open(this.principal);
    this.fresh = true;
  }

  /** Without sessions, nothing is known but the revision: whoever sends this has sent `initialize` somewhere. */
  private pass(message: JsonRpcMessage): void {
    requireKnownVersion(this.declaredVersion);
    this.passing = this.parts.kernel.openSession({ principal: this.principal, push: () => {}, lasting: false });
    this.passing.ask = askNobody;
    if ('method' in message && message.method === 'initialize') return;
    this.passing.revision = revisionOf(this.declaredVersion) ?? UNDECLARED_REVISION;
    this.passing.initialized = true;
  }

  get transport(): TransportInfo {
    return transportInfo(this.carrier);
  }

  send(frame: string): void {
    if (this.done) return;
    // a client that takes no streams can do without notifications, but not without questions
    if (this.accepted === 'json' && frame.startsWith(NOTIFICATION)) return;
    this.openStream().send(frame);
  }

  refuse(error: McpError): void {
    const { kind } = error;
    this.refused = error;
    if (kind === 'parse-error' || kind === 'invalid-request') this.status = 400;
    else if (kind === 'internal-error') this.status = 500;
    else if (!this.stateless) this.status = this.id === undefined ? 400 : 200;
    else this.status = kind === 'method-not-found' ? 404 : 400;
  }

  onDisconnect(callback: () => void): void {
    // while hooks of the application ran, the client may have left
    if (this.carrier.socket.destroyed) return callback();
    this.gone = callback;
    const { running } = this.parts;
    if (!running.watched.has(this.carrier.socket)) running.watch(this.carrier.socket);
  }

  checkVersion(version: string): void {
    if (version !== this.declaredVersion) throw versionMismatch(this.declaredVersion, version);
  }

  checkRouting(method: string, params: JsonObject): void {
    checkRouting(this.carrier.headers, method, params);
  }

  checkArguments(mirrored: readonly MirroredArgument[], args: JsonObject): void {
    checkArguments(this.carrier.headers, mirrored, args);
  }

  onClosing(callback: () => void): void {
    this.ending = callback;
  }

  endSoon(): void {
    this.ending?.();
  }

  closeStream(retryMs = this.parts.retryMs): void {
    if (!this.done && this.session) this.openStream().pause(retryMs);
  }

  disconnected(): void {
    this.gone?.();
  }

  /** Sends what the kernel answers: a response, or nothing where none is due. */
  private finish(frame: string | undefined): void {
    if (this.done) return;
    this.leave();
    if (this.stream === undefined && this.accepted === 'stream' && frame !== undefined && this.status === 200) {
      this.openStream();
    }
    if (this.stream) this.endStream(frame);
    else if (frame === undefined) this.answerNothing();
    else this.carrier.answer(this.status, frame, this.fresh ? this.headers : undefined);
  }

  /** Answers with an error, whatever became of the rest. */
  private fail(error: unknown): void {
    if (error instanceof Refusal) return this.abandon(error);
    this.parts.report(error);
    // the answer itself has failed: nothing is left but to let the connection go
    if (this.done) return void this.carrier.socket.destroy();
    const frame = errorFrame(this.id, { code: FAILURES['internal-error'], message: 'Internal error' });
    this.status = 500;
    this.finish(frame);
  }

  abandon(refusal: Refusal): void {
    if (this.done) return;
    this.leave();
    this.gone?.();
    if (this.stream) this.endStream();
    else this.carrier.answer(refusal.status, refusal.body(this.id), refusal.headers);
  }

  /** To a notification, to a response, or to a request that was cancelled. */
  private answerNothing(): void {
    const { closing } = this.parts.running;
    // JSON-RPC answers no notification, not even a bad one, but HTTP does
    if (this.refused) this.carrier.answer(this.status, errorFrame(undefined, this.refused));
    else if (closing === undefined || this.id === undefined)
      this.carrier.answer(this.status === 200 ? 202 : this.status);
    else this.carrier.answer(closing.status, closing.body(this.id));
  }

  private get id(): RequestId | undefined {
    return readableId(this.body);
  }

  private get headers(): Record<string, string> | undefined {
    return this.fresh && this.session?.state.initialized ? { 'mcp-session-id': this.session.id } : undefined;
  }

  private leave(): void {
    this.done = true;
    this.parts.running.exchanges.delete(this);
    this.parts.running.onEnd?.();
    if (this.session) this.session.usedAt = Date.now();
  }

  private openStream(): EventStream {
    if (this.stream) return this.stream;
    const stream = this.session?.openStream('p') ?? new EventStream(this.parts.streams);
    stream.attach(this.carrier.stream({ ...STREAM_HEADERS, ...this.headers }));
    stream.prime();
    return (this.stream = stream);
  }

  private endStream(frame?: string): void {
    const { session, stream } = this;
    stream?.end(frame);
    if (stream) session?.closeStream(stream);
  }
}

/** An answer would come with another request, which nothing connects with the one that waits for it. */
async function askNobody(): Promise<never> {
  throw new McpError('missing-capability', 'The client cannot be asked: the server keeps no sessions.');
}
