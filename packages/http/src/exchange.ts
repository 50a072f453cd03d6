import type { Socket } from 'node:net';

import type { JsonObject, McpError, Principal, RequestId, TransportInfo } from '@decorum/core';
import { errorFrame, FAILURES, readableId, type Wire } from '@decorum/core/transport';

import type { Carrier } from './carrier.js';
import { type Accepted, checkRouting, checkVersion } from './headers.js';
import { Refusal } from './refusal.js';
import type { HttpSession } from './sessions.js';
import { EventStream, isNotification, STREAM_HEADERS, type StreamSettings } from './stream.js';

/** What exchanges share. */
export interface ExchangeSettings {
  readonly streams: StreamSettings;
  /** Milliseconds after which a client comes back to a stream that was paused. */
  readonly retryMs: number;
  readonly report: (error: unknown) => void;
}

/** The exchanges under way. */
export class Exchanges {
  private readonly running = new Set<PostExchange>();
  private readonly watched = new WeakSet<Socket>();
  private idle: (() => void) | undefined;

  constructor(readonly settings: ExchangeSettings) {}

  add(exchange: PostExchange): void {
    this.running.add(exchange);
  }

  delete(exchange: PostExchange): void {
    this.running.delete(exchange);
    if (this.idle !== undefined && this.running.size === 0) this.idle();
  }

  /** Tells exchanges when their connection closes: one listener for all that a connection ever carries. */
  watch(socket: Socket): void {
    if (this.watched.has(socket)) return;
    this.watched.add(socket);
    socket.once('close', () => {
      for (const exchange of this.running) if (exchange.carrier.socket === socket) exchange.disconnected();
    });
  }

  /** Gives up the exchanges of a session, or all. */
  abandon(refusal: Refusal, session?: HttpSession): void {
    for (const exchange of this.running) {
      if (session === undefined || exchange.session === session) exchange.abandon(refusal);
    }
  }

  /** Waits until no exchange is under way, at most `deadlineMs` milliseconds. */
  async drain(deadlineMs: number): Promise<void> {
    if (this.running.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      this.idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** One POST: its message and the answer, which is JSON until something else must be sent before the response. */
export class PostExchange implements Wire {
  readonly principal: Principal | undefined;
  readonly declaredVersion: string | undefined;
  session: HttpSession | undefined;
  stateless = false;
  /** The session began with this exchange. */
  fresh = false;
  accepted: Accepted = 'both';
  private status = 200;
  private stream: EventStream | undefined;
  private gone: (() => void) | undefined;
  private done = false;

  constructor(
    readonly carrier: Carrier,
    private readonly body: unknown,
    private readonly exchanges: Exchanges,
  ) {
    this.principal = carrier.principal;
    this.declaredVersion = carrier.headers['mcp-protocol-version'];
  }

  get transport(): TransportInfo {
    return { kind: 'http', headers: this.carrier.headers };
  }

  send(frame: string): void {
    if (this.done) return;
    // a client that takes no streams can do without notifications, but not without questions
    if (this.accepted === 'json' && isNotification(frame)) return;
    this.openStream().send(frame);
  }

  refuse({ kind }: McpError): void {
    if (kind === 'parse-error' || kind === 'invalid-request') this.status = 400;
    else if (kind === 'internal-error') this.status = 500;
    else if (!this.stateless) this.status = this.id === undefined ? 400 : 200;
    else this.status = kind === 'method-not-found' ? 404 : 400;
  }

  onDisconnect(callback: () => void): void {
    this.gone = callback;
    this.exchanges.watch(this.carrier.socket);
  }

  checkVersion(version: string): void {
    checkVersion(this.declaredVersion, version);
  }

  checkRouting(method: string, params: JsonObject): void {
    checkRouting(this.carrier.headers, method, params);
  }

  closeStream(retryMs = this.exchanges.settings.retryMs): void {
    if (!this.done && this.session) this.openStream().pause(retryMs);
  }

  /** The connection has closed. Does nothing unless that means that nobody waits for the answer. */
  disconnected(): void {
    this.gone?.();
  }

  /** Sends what the kernel answers: a response, or nothing where none is due. */
  finish(frame: string | undefined): void {
    if (this.done) return;
    this.leave();
    if (this.stream === undefined && this.accepted === 'stream' && frame !== undefined && this.status === 200) {
      this.openStream();
    }
    if (this.stream) this.endStream(frame);
    else if (frame === undefined) this.carrier.answer(202);
    else this.carrier.answer(this.status, frame, this.headers);
  }

  /** Answers with an error, whatever became of the rest. */
  fail(error: unknown): void {
    if (error instanceof Refusal) return this.abandon(error);
    this.exchanges.settings.report(error);
    // the answer itself has failed: nothing is left but to let the connection go
    if (this.done) return void this.carrier.socket.destroy();
    const frame = errorFrame(this.id, { code: FAILURES['internal-error'], message: 'Internal error' });
    this.status = 500;
    this.finish(frame);
  }

  /** Answers before the kernel does. */
  abandon(refusal: Refusal): void {
    if (this.done) return;
    this.leave();
    this.gone?.();
    if (this.stream) this.endStream();
    else this.carrier.answer(refusal.status, refusal.body(this.id), refusal.headers);
  }

  private get id(): RequestId | undefined {
    return readableId(this.body);
  }

  private get headers(): Record<string, string> | undefined {
    return this.fresh && this.session?.state.revision ? { 'mcp-session-id': this.session.id } : undefined;
  }

  private leave(): void {
    this.done = true;
    this.exchanges.delete(this);
    if (this.session) this.session.usedAt = Date.now();
  }

  private openStream(): EventStream {
    if (this.stream) return this.stream;
    const stream = this.session?.openStream('p') ?? new EventStream(this.exchanges.settings.streams);
    stream.attach(this.carrier.stream({ ...STREAM_HEADERS, ...this.headers }));
    if (this.session?.state.revision?.primesStreams) stream.prime();
    return (this.stream = stream);
  }

  private endStream(frame?: string): void {
    const { session, stream } = this;
    stream?.end(frame);
    if (stream) session?.closeStream(stream);
  }
}
