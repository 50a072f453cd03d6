import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from 'node:timers';

import type { Host, Principal } from '@decorum/core';
import { hostOf, type Kernel, revisionOf, type Transport } from '@decorum/core/transport';

import { type Answer, errorAnswer } from './answer.js';
import { authenticate, type RequestHead } from './authenticate.js';
import { Bodies } from './body.js';
import type { HttpContext, Sink } from './http-context.js';
import { type ExchangeParts, PostExchange } from './exchange.js';
import { type Guard, preflightHeaders } from './guard.js';
import { acceptedBy, requireKnownVersion } from './headers.js';
import { PendingCallbacks } from './pending-callbacks.js';
import { LegacySse } from './legacy.js';
import type { ResolvedOptions } from './options.js';
import { closing, HttpError, MaskedError, noSession } from './http-error.js';
import type { HttpSession } from './session.js';
import { Sessions } from './sessions.js';
import { type EventStream, STREAM_HEADERS, type StreamSettings } from './stream.js';

const EVENT_ID = /^([gp][\w-]{16})-(\d{1,9})$/;

/** The methods that an endpoint has, or that its legacy half has. */
const METHODS = new Set(['POST', 'GET', 'DELETE', 'OPTIONS']);

/**
 * One MCP endpoint, whatever carries its requests. It has all policy, in steps that a binding calls one after the other:
 * guard → authenticate → body → admit → dispatch → answer. The last three are in `PostExchange`.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
 */
export class Endpoint<HostRequest> {
  /** The step `body`: for readers of the bindings. */
  readonly bodies: Bodies;
  /** HTTP+SSE, where it is served. */
  readonly legacy: LegacySse | undefined;
  /** The step `guard`. */
  readonly guard: Guard;
  private readonly parts: ExchangeParts;
  private readonly pending = new PendingCallbacks();
  private readonly open = new Set<EventStream>();
  private readonly streams: StreamSettings;
  private readonly timer: NodeJS.Timeout;
  private shutting: Promise<void> | undefined;

  constructor(
    kernel: Kernel,
    readonly settings: ResolvedOptions<HostRequest>,
    private readonly report: (error: unknown) => void,
  ) {
    const { maxBufferedBytes, retryMs, keepAliveMs, sessions: keepsSessions, legacySse, credentials } = settings;
    this.guard = settings.guard;
    this.bodies = new Bodies(settings);
    const streams = (this.streams = { open: this.open, ending: new Set(), maxBufferedBytes });
    const { pending } = this;
    const sessions = new Sessions(kernel, { ...settings, streams, report, pending });
    const own = { stopped: false, closed: false };
    this.parts = { kernel, sessions, streams, retryMs, keepsSessions, credentials, report, ...own };
    this.legacy = legacySse && new LegacySse(this.parts, legacySse);
    this.timer = setInterval(() => this.tick(), keepAliveMs).unref();
  }

  /**
   * The step `guard`, after the checks of `Host` and `Origin`: refuses methods that the endpoint has not.
   * @throws {HttpError} 405
   */
  requireMethod(method: string): void {
    if (METHODS.has(method)) return;
    const allow = this.settings.sessions ? 'GET, POST, DELETE' : 'POST';
    throw new HttpError(405, 'The endpoint has no such method.', { allow });
  }

  /** Whether the step `authenticate` asks the application. */
  get authenticates(): boolean {
    return this.settings.authenticate !== undefined;
  }

  /**
   * The step `authenticate`, before the body is read. Preflight requests have no credentials, and are not asked for any.
   * @throws {HttpError} with the status that the application gives, or whatever it throws
   */
  authenticate(head: RequestHead, request: HostRequest): Principal | undefined | Promise<Principal | undefined> {
    const { authenticate: verify } = this.settings;
    if (verify === undefined || head.method === 'OPTIONS') return undefined;
    const principal = authenticate(verify, head, request);
    return principal instanceof Promise ? this.pending.until(principal) : principal;
  }

  /** Answers a preflight request. */
  preflight(context: HttpContext): void {
    context.answer(204, undefined, preflightHeaders(context.headers['access-control-request-headers']));
  }

  /**
   * Takes a message: the steps `admit`, `dispatch` and `answer`. Never throws.
   * @param body what was JSON
   */
  post(body: unknown, context: HttpContext): void {
    new PostExchange(body, context, this.parts).run();
  }

  /**
   * Opens a stream for messages that belong to no request, or carries on with one that broke off.
   * @throws {HttpError} 4xx or 503
   */
  async get(context: HttpContext): Promise<void> {
    const { headers } = context;
    const session = await this.sessionOf(context);
    const accepted = acceptedBy(headers.accept);
    if (accepted !== 'both' && accepted !== 'stream')
      throw new HttpError(406, 'A GET is answered with text/event-stream.');
    const begin = () => context.open(STREAM_HEADERS);
    const from = headers['last-event-id'];
    if (from !== undefined) return await this.resume(session, from, begin);
    const stream = session.openStream('g');
    stream.attach(begin());
    stream.prime();
    stream.flush();
  }

  /**
   * Ends a session.
   * @throws {HttpError} 4xx or 503
   */
  async delete(context: HttpContext): Promise<void> {
    const session = await this.sessionOf(context);
    await ask(() => this.parts.sessions.delete(session));
    context.answer(204);
  }

  /** Words an error that a step has thrown, and reports it if it is a bug. */
  errorResponse(error: unknown): Answer {
    return errorAnswer(error, this.report);
  }

  /** Takes no new requests: they are answered with 503. What is in flight goes on. */
  stop(): void {
    this.parts.stopped = true;
    this.parts.kernel.inFlight.stop(this.parts);
  }

  /**
   * Takes no more requests, lets those in flight end, and then ends everything.
   * @param deadlineMs milliseconds that requests in flight get
   */
  async close(deadlineMs = this.settings.closeDeadlineMs): Promise<void> {
    this.shutting ??= this.shut(deadlineMs);
    await this.shutting;
  }

  /**
   * Lets readers take what is left of the streams that have ended: a server that closes drops their connections else.
   * @param deadlineMs milliseconds that they get
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
    sessions.hangUp();
    await kernel.inFlight.drain(deadlineMs, this.parts);
    this.parts.closed = true;
    clearInterval(this.timer);
    this.bodies.close(closing());
    this.pending.rejectAll(closing());
    // what was cancelled is answered first
    await new Promise(setImmediate);
    sessions.endAll();
  }

  private tick(): void {
    for (const stream of this.open) stream.keepAlive();
    this.parts.kernel.inFlight.keepAlive(this.parts);
    this.parts.sessions.sweep();
  }

  private async sessionOf({ headers, principal }: HttpContext): Promise<HttpSession> {
    if (this.parts.stopped) throw closing();
    const version = headers['mcp-protocol-version'];
    if (revisionOf(version)?.sessions === false) {
      throw new HttpError(405, 'This revision of MCP has POST only.', { allow: 'POST' });
    }
    if (!this.settings.sessions) throw new HttpError(405, 'This server keeps no sessions.', { allow: 'POST' });
    requireKnownVersion(version);
    const id = headers['mcp-session-id'];
    if (id === undefined) throw new HttpError(400, 'The header Mcp-Session-Id is missing.');
    const session = await ask(() => this.parts.sessions.find(id, principal));
    // the store may have taken longer than the close: nobody would end a stream that begins now
    if (this.parts.stopped) throw closing();
    if (session === undefined) throw noSession();
    return session;
  }

  private async resume(session: HttpSession, eventId: string, begin: () => Sink): Promise<void> {
    const [, id, position] = EVENT_ID.exec(eventId) ?? [];
    if (id === undefined) throw unknownEvent();
    const stream = session.lostStream(id);
    if (!(await ask(() => stream.resume(Number(position), begin)))) throw unknownEvent();
  }
}

/** An endpoint that is open on a server. */
export interface Opened<HostRequest> extends Transport {
  readonly endpoint: Endpoint<HostRequest>;
  /** The endpoint closes by itself: the server need not close it any more. */
  detach(): void;
}

/**
 * Opens an endpoint on a server, which from then on closes it with itself.
 * @param end closes what is around the endpoint, after it
 * @throws {DecorumError} `DECORUM_SERVER_CLOSED`, and whatever a hook of the server throws
 */
export async function openEndpoint<HostRequest>(
  server: Host,
  settings: ResolvedOptions<HostRequest>,
  end?: () => Promise<void>,
): Promise<Opened<HostRequest>> {
  const host = hostOf(server);
  settings.guard.warn = (message) => host.warn(message);
  return await host.open((kernel) => {
    const endpoint = new Endpoint(kernel, settings, (error) => host.report(error));
    const opened: Opened<HostRequest> = {
      endpoint,
      stop: () => endpoint.stop(),
      async close() {
        // the server has waited for requests in flight by then
        await endpoint.close(0);
        await end?.();
      },
      detach: () => host.detach(opened),
    };
    return opened;
  });
}

/** Asks a store. What one says when it fails is for the log, whatever status it names. */
async function ask<T>(question: () => T | Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    throw error instanceof HttpError ? error : new MaskedError(error);
  }
}

function unknownEvent(): HttpError {
  return new HttpError(400, 'The Last-Event-ID names no event of this session.');
}
