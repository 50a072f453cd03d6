import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from 'node:timers';

import type { HostPort, ReachedLimit } from '@decorum/core';
import { type Kernel, revisionOf } from '@decorum/core/transport';

import { type Answer, errorAnswer } from './answer.js';
import { Bodies } from './body.js';
import { type HttpContext, type Sink, STREAM_HEADERS, transportInfo } from './http-context.js';
import { PostExchange } from '../exchange/post-exchange.js';
import type { ExchangeParts } from '../exchange/exchange-parts.js';
import { Gate } from '../auth/gate.js';
import { type Guard, preflightHeaders } from './guard.js';
import { acceptedBy, requireKnownVersion } from './headers.js';
import { type Report, StoreCalls } from '../sessions/store-calls.js';
import { PendingCallbacks } from './pending-callbacks.js';
import { LegacySse } from '../exchange/legacy-sse.js';
import type { ResolvedOptions } from './options.js';
import {
  closing,
  HttpError,
  LimitError,
  MaskedError,
  noSession,
  sessionIdMissing,
  streamNotAccepted,
} from './http-error.js';
import type { HttpSession } from '../sessions/session.js';
import { ListenStreams } from '../streams/listen-streams.js';
import { sessionCallers } from '../sessions/session-callers.js';
import { SlowReaders } from './slow-readers.js';
import { Sessions } from '../sessions/sessions.js';
import type { OpenStream, StreamSettings } from '../streams/stream-settings.js';

/** Milliseconds between sweeps for expired tokens. */
const EXPIRY_MS = 10_000;

const EVENT_ID = /^([gp][\w-]{8})-(\d{1,9})$/;

/** The HTTP methods of an endpoint, including those of HTTP+SSE. */
const METHODS = new Set(['POST', 'GET', 'DELETE', 'OPTIONS']);

/** The part of an endpoint that handles POST. */
export type PostEndpoint = Pick<Endpoint<never>, 'bodies' | 'post'>;

/**
 * One MCP endpoint, independent of the HTTP host. It makes all decisions, in steps that a binding calls in this order:
 * guard → authenticate → body → admit → dispatch → answer. `PostExchange` implements the last three.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
 */
export class Endpoint<HostRequest> {
  /** The `body` step, used by the body readers of the hosts. */
  readonly bodies: Bodies;
  /** HTTP+SSE, if it is enabled. */
  readonly legacy: LegacySse | undefined;
  /** The `guard` step. */
  readonly guard: Guard;
  /** The `authenticate` step, if the `auth` option is set. */
  readonly gate: Gate<HostRequest> | undefined;
  private readonly parts: ExchangeParts;
  private readonly pending = new PendingCallbacks();
  private readonly stores: StoreCalls;
  private readonly streams: StreamSettings;
  private readonly timer: NodeJS.Timeout;
  /** Ends streams whose tokens have expired. */
  private readonly expiry: NodeJS.Timeout | undefined;
  private shutting: Promise<void> | undefined;

  constructor(
    kernel: Kernel,
    readonly settings: ResolvedOptions<HostRequest>,
    private readonly host: HostPort,
  ) {
    const report: Report = (error, message) => host.report(error instanceof MaskedError ? error.cause : error, message);
    const hit = (limitHit: ReachedLimit) => host.hit(limitHit);
    const { maxBufferedBytes, retryMs, keepAliveMs, sessions: keepsSessions, legacySse, credentials } = settings;
    this.guard = settings.guard;
    this.gate = settings.auth && new Gate(settings.auth, { kernel, pending: this.pending });
    this.bodies = new Bodies({ ...settings, maxValues: kernel.maxValues });
    const readers = new SlowReaders(settings, hit);
    const [open, ending] = [new Set<OpenStream>(), new Set<Sink>()];
    const streams = (this.streams = { open, ending, maxBufferedBytes, readers, hit });
    const { bodies } = this;
    const stores = (this.stores = new StoreCalls(this.pending, report));
    const callers = sessionCallers({ kernel, auth: settings.auth, credentials });
    const sessions = new Sessions(kernel, { ...settings, ...callers, streams, report, hit, stores });
    const own = { stopped: false, closed: false };
    const listenStreams = new ListenStreams(settings);
    const shared = { kernel, sessions, bodies, streams, listenStreams, report, hit };
    this.parts = { ...shared, gate: this.gate, retryMs, keepsSessions, credentials, ...own };
    this.legacy = legacySse && new LegacySse(this.parts, legacySse);
    this.timer = setInterval(() => this.tick(), keepAliveMs).unref();
    if (knowsCallers(settings) || settings.callersByRequest)
      this.expiry = setInterval(() => this.expire(), Math.min(keepAliveMs, EXPIRY_MS)).unref();
  }

  /**
   * The second half of the `guard` step, after checking `Host` and `Origin`: rejects unsupported HTTP methods.
   * @throws {HttpError} 405
   */
  requireMethod(method: string): void {
    if (METHODS.has(method)) return;
    const allow = this.settings.sessions ? 'GET, POST, DELETE' : 'POST';
    throw new HttpError(405, `Method not allowed. Use ${allow}.`, { allow });
  }

  /** Answers a preflight request. */
  preflight(context: HttpContext): void {
    const { 'access-control-request-headers': requested } = context.headers;
    context.answer(204, undefined, preflightHeaders(requested, this.settings.auth?.credentialHeaders));
  }

  /**
   * Handles a POST: the `admit`, `dispatch` and `answer` steps. Never throws.
   * @param body the parsed JSON
   */
  post(body: unknown, context: HttpContext): void {
    context.readers = this.streams.readers;
    new PostExchange(body, context, this.parts).run();
  }

  /**
   * Handles a GET: opens a stream for messages that belong to no request, or resumes a stream.
   * @throws {HttpError} 4xx or 503
   */
  async get(context: HttpContext): Promise<void> {
    const { headers } = context;
    const session = this.owned(await this.sessionOf(context), context);
    const accepted = acceptedBy(headers.accept);
    if (accepted === 'json' || accepted === 'neither') throw streamNotAccepted();
    const begin = () => context.open(STREAM_HEADERS);
    session.transport = transportInfo(context, this.parts.credentials);
    const from = headers['last-event-id'];
    if (from !== undefined) return await this.resume(session, from, begin);
    const stream = session.openStream('g');
    stream.attach(begin());
    stream.prime();
    session.announce();
    stream.flush();
  }

  /**
   * Handles a DELETE: ends a session.
   * @throws {HttpError} 4xx or 503
   */
  async delete(context: HttpContext): Promise<void> {
    const session = this.owned(await this.sessionOf(context), context);
    await this.parts.sessions.delete(session);
    context.answer(204);
  }

  /**
   * Encodes an error that a step has thrown, and reports it if it is a bug or a limit.
   * @param client the known facts about the client
   */
  errorResponse(error: unknown, client: Omit<ReachedLimit, 'limit'>): Answer {
    if (error instanceof LimitError) this.host.hit(error.hitBy(client));
    const answer = errorAnswer(error, (bug) => this.host.report(bug));
    // otherwise a kept-alive connection would delay the server's shutdown
    return this.stopped ? { ...answer, headers: { ...answer.headers, connection: 'close' } } : answer;
  }

  /** Reports a limit that a client has reached. */
  hit(hit: ReachedLimit): void {
    this.host.hit(hit);
  }

  /** Whether new requests are answered with 503. */
  get stopped(): boolean {
    return this.parts.stopped;
  }

  /** Answers new requests with 503. Requests in flight continue. */
  stop(): void {
    this.parts.stopped = true;
    this.parts.kernel.inFlight.stop(this.parts);
  }

  /**
   * Answers new requests with 503, waits for those in flight, and then ends all sessions and streams.
   * @param deadlineMs milliseconds that requests in flight get to finish
   */
  async close(deadlineMs = this.settings.closeDeadlineMs): Promise<void> {
    this.shutting ??= this.shut(deadlineMs);
    await this.shutting;
  }

  /**
   * Waits until clients have received the rest of all ended streams. Closing the server earlier would drop their
   * connections.
   * @param deadlineMs maximum milliseconds to wait
   */
  async delivered(deadlineMs: number): Promise<void> {
    if (this.streams.ending.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      this.streams.delivered = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async shut(deadlineMs: number): Promise<void> {
    const { kernel, sessions } = this.parts;
    this.stop();
    sessions.endStandaloneStreams();
    await kernel.inFlight.drain(deadlineMs, this.parts);
    this.parts.closed = true;
    clearInterval(this.timer);
    clearInterval(this.expiry);
    this.bodies.close(closing());
    this.pending.rejectAll(closing());
    // cancelled requests are answered first
    await new Promise(setImmediate);
    sessions.endAll();
  }

  private tick(): void {
    const { open, ending, readers } = this.streams;
    for (const stream of open) stream.keepAlive();
    for (const sink of ending) if (sink.backlog > 0) readers.note(sink);
    readers.sweep();
    this.stores.sweep();
    this.parts.kernel.inFlight.keepAlive(this.parts);
    this.parts.sessions.sweep();
  }

  private expire(): void {
    const { kernel, sessions } = this.parts;
    sessions.expire();
    kernel.inFlight.endExpired(this.parts, Date.now());
  }

  private async sessionOf(context: HttpContext): Promise<HttpSession | undefined> {
    const { headers } = context;
    if (this.parts.stopped) throw closing();
    const version = headers['mcp-protocol-version'];
    if (revisionOf(version)?.sessions === false) {
      throw new HttpError(405, 'This MCP revision supports only POST.', { allow: 'POST' });
    }
    if (!this.settings.sessions) throw new HttpError(405, 'This server keeps no sessions.', { allow: 'POST' });
    requireKnownVersion(version);
    const id = headers['mcp-session-id'];
    if (id === undefined) throw sessionIdMissing();
    const session = await this.parts.sessions.find(id, context);
    // the endpoint may have closed while the store was busy, and nothing would end a stream that starts now
    if (this.parts.stopped) throw closing();
    return session;
  }

  /** @throws {HttpError} 404 or 401 if the session is not the caller's, or no longer */
  private owned(session: HttpSession | undefined, context: HttpContext): HttpSession {
    const found = this.parts.sessions.stillOwned(session, context);
    if (found === undefined) throw noSession();
    return found;
  }

  private async resume(session: HttpSession, eventId: string, begin: () => Sink): Promise<void> {
    const [, id, position] = EVENT_ID.exec(eventId) ?? [];
    if (id === undefined) throw unknownEvent();
    const stream = session.lostStream(id);
    let isOver = false;
    const open = () => {
      // the store has answered too late: the client already has a response
      if (isOver) throw unknownEvent();
      return begin();
    };
    try {
      if (!(await this.stores.run('events.read', () => stream.resume(Number(position), open)))) throw unknownEvent();
    } finally {
      isOver = true;
    }
    if (stream.kind === 'g') session.announce();
  }
}

/** Whether callers of an endpoint may have a principal. */
export const knowsCallers = ({ auth, principal }: ResolvedOptions<never>): boolean =>
  auth !== undefined || principal !== undefined;

function unknownEvent(): HttpError {
  return new HttpError(400, 'The Last-Event-ID header matches no event of this session.');
}
