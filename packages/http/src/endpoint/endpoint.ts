import { clearInterval, setImmediate, setInterval } from 'node:timers';

import type { Principal, ReachedLimit } from '@decorum/core';
import type { HostPort } from '@decorum/core/transport';
import type { Kernel } from '@decorum/core/transport';

import { Gate } from '../auth/gate.js';
import { Letters } from '../cluster/letters.js';
import type { ExchangeParts } from '../exchange/exchange-parts.js';
import { PostExchange } from '../exchange/post-exchange.js';
import { LegacySse } from '../exchange/legacy-sse.js';
import { sessionCallers } from '../sessions/session-callers.js';
import { Sessions } from '../sessions/sessions.js';
import { type Report, StoreCalls } from '../sessions/store-calls.js';
import { ListenStreams } from '../streams/listen-streams.js';
import { MemoryEventStore } from '../streams/memory-event-store.js';
import { EndingSinks, type OpenStream, type StreamParts } from '../streams/stream-parts.js';
import { Bodies } from './body.js';
import type { HttpContext } from './http-context.js';
import { closing, MaskedError } from './http-error.js';
import type { ResolvedOptions } from './options.js';
import { PendingCallbacks } from './pending-callbacks.js';
import { SlowReaders } from './slow-readers.js';

/** Milliseconds between sweeps for expired tokens. */
const EXPIRY_MS = 10_000;

/** One MCP endpoint: what its requests share, and how it closes. `Pipeline` has the steps of a request. */
export class Endpoint<HostRequest> {
  /** HTTP+SSE, if it is enabled. */
  readonly legacy: LegacySse | undefined;
  /** Authenticates callers, if the `auth` option is set. */
  readonly gate: Gate<HostRequest> | undefined;
  /** What its exchanges share. */
  readonly parts: ExchangeParts;
  private readonly pending = new PendingCallbacks();
  private readonly timer: NodeJS.Timeout;
  /** Reaches other processes, if there is a courier. */
  private readonly letters: Letters | undefined;
  /** Ends streams whose tokens have expired. */
  private readonly expiry: NodeJS.Timeout | undefined;
  private shutting: Promise<void> | undefined;

  constructor(
    kernel: Kernel,
    readonly settings: ResolvedOptions<HostRequest>,
    host: HostPort,
  ) {
    const report: Report = (error, message) => host.report(error instanceof MaskedError ? error.cause : error, message);
    const hit = (limitHit: ReachedLimit) => host.hit(limitHit);
    const { maxBufferedBytes, retryMs, keepAliveMs, sessions: keepsSessions, legacySse, credentials } = settings;
    this.gate = settings.auth && new Gate(settings.auth, { ...settings, kernel, pending: this.pending });
    const readers = new SlowReaders(settings, hit);
    const [open, ending] = [new Set<OpenStream>(), new EndingSinks()];
    const streams: StreamParts = { open, ending, maxBufferedBytes, readers, hit };
    const bodies = new Bodies({ ...settings, maxValues: kernel.maxValues });
    const { counts } = host.sharing;
    const calls = { ...settings, report, counts };
    const [stores, appends] = [new StoreCalls(this.pending, calls), new StoreCalls(this.pending, calls)];
    const callers = sessionCallers({ kernel, auth: settings.auth, credentials });
    const { courier, events = new MemoryEventStore() } = settings;
    this.letters = courier && new Letters({ courier, stores, counts, report });
    const { letters } = this;
    const means = { ...settings, ...callers, events, streams, report, hit, stores, appends, letters, counts };
    const sessions = new Sessions(kernel, means);
    letters?.open((letter) => sessions.take(letter));
    const own = { stopped: false, closed: false };
    const listenStreams = new ListenStreams(settings);
    const node = letters?.node;
    const shared = { kernel, sessions, bodies, streams, stores, node, listenStreams, report, hit };
    const { isBrief = false } = settings;
    this.parts = { ...shared, gate: this.gate, retryMs, keepsSessions, isBrief, credentials, ...own };
    this.legacy = legacySse && new LegacySse(this.parts, legacySse);
    this.timer = setInterval(() => this.tick(), keepAliveMs).unref();
    if (knowsCallers(settings) || settings.callersByRequest)
      this.expiry = setInterval(() => this.expire(), Math.min(keepAliveMs, EXPIRY_MS)).unref();
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
   * Closes, and then waits until clients have received the rest of all ended streams. Closing the server earlier would
   * drop their connections.
   * @param deadlineMs milliseconds for both
   */
  async drain(deadlineMs = this.settings.closeDeadlineMs): Promise<void> {
    const until = performance.now() + deadlineMs;
    await this.close(deadlineMs);
    await this.parts.streams.ending.delivered(Math.max(0, until - performance.now()));
  }

  /** Ends what callers have open whose credentials have been revoked. */
  revoke(isRevoked: (principal: Principal) => boolean): void {
    const { kernel, sessions } = this.parts;
    this.gate?.revocations.add(isRevoked);
    kernel.inFlight.revoke(this.parts, isRevoked);
    sessions.revoke(isRevoked);
  }

  /** Cancels what runs for a request, because its host gives it no more time. */
  cancelOverdue(context: HttpContext): void {
    this.parts.kernel.inFlight.cancelOverdue((wire) => wire instanceof PostExchange && wire.answers(context));
  }

  private async shut(deadlineMs: number): Promise<void> {
    const { kernel, sessions, bodies } = this.parts;
    this.stop();
    sessions.endStandaloneStreams();
    await kernel.inFlight.drain(deadlineMs, this.parts);
    this.parts.closed = true;
    clearInterval(this.timer);
    clearInterval(this.expiry);
    bodies.close(closing());
    this.parts.stores.close();
    this.letters?.close();
    this.pending.rejectAll(closing());
    // cancelled requests are answered first
    await new Promise(setImmediate);
    sessions.endAll();
  }

  private tick(): void {
    const { kernel, sessions, streams } = this.parts;
    const { open, ending, readers } = streams;
    for (const stream of open) stream.keepAlive();
    for (const sink of ending) if (sink.backlog > 0) readers.note(sink);
    readers.sweep();
    kernel.inFlight.keepAlive(this.parts);
    sessions.sweep();
  }

  private expire(): void {
    const { kernel, sessions } = this.parts;
    sessions.expire();
    kernel.inFlight.endExpired(this.parts, Date.now());
  }
}

/** Whether callers of an endpoint may have a principal. */
export const knowsCallers = ({ auth, principal }: ResolvedOptions<never>): boolean =>
  auth !== undefined || principal !== undefined;
