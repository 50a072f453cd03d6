import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import { type Kernel, revisionOf } from '@decorum/core/transport';

import type { Carrier } from './carrier.js';
import type { ExchangeParts } from './exchange.js';
import { acceptedBy, requireKnownVersion } from './headers.js';
import { Refusal } from './refusal.js';
import { Running } from './running.js';
import { type HttpSession, noSession, Sessions, type SessionSettings } from './sessions.js';
import { type EventStream, STREAM_HEADERS } from './stream.js';

/** What an endpoint is made of. */
export interface EndpointSettings extends Omit<SessionSettings, 'streams'> {
  readonly maxBufferedBytes: number;
  /** Milliseconds after which a client comes back to a stream that was paused. */
  readonly retryMs: number;
  /** Milliseconds between comments on quiet streams, and between looks for idle sessions. */
  readonly keepAliveMs: number;
  /** Milliseconds that requests under way get when the endpoint closes. */
  readonly closeDeadlineMs: number;
  /** Whether clients can have sessions; otherwise there is POST only. */
  readonly sessions: boolean;
}

const EVENT_ID = /^([gp][\w-]{16})-(\d{1,9})$/;

/**
 * One MCP endpoint, whatever web framework carries it: what all requests share, and the methods of sessions beside POST.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
 */
export class Endpoint {
  /** For each POST: `new PostExchange(body, carrier, endpoint.parts).run()`. */
  readonly parts: ExchangeParts;
  private readonly open = new Set<EventStream>();
  private readonly ending = new Set<ServerResponse>();
  private readonly sessions: Sessions;
  private readonly running = new Running();
  private readonly timer: NodeJS.Timeout;
  private closed: Promise<void> | undefined;

  constructor(
    kernel: Kernel,
    private readonly settings: EndpointSettings,
  ) {
    const { maxBufferedBytes, retryMs, report, keepAliveMs, sessions: keepsSessions } = settings;
    const streams = { open: this.open, ending: this.ending, maxBufferedBytes };
    this.sessions = new Sessions(kernel, { ...settings, streams });
    this.parts = { kernel, sessions: this.sessions, running: this.running, streams, retryMs, keepsSessions, report };
    this.timer = setInterval(() => this.tick(), keepAliveMs).unref();
  }

  /**
   * Opens a stream for messages that belong to no request, or carries on with one that broke off.
   * @throws {Refusal} 4xx or 503
   */
  async get(carrier: Carrier): Promise<void> {
    const { headers } = carrier;
    const session = this.sessionOf(carrier);
    const accepted = acceptedBy(headers.accept);
    if (accepted !== 'both' && accepted !== 'stream')
      throw new Refusal(406, 'A GET is answered with text/event-stream.');
    const begin = () => carrier.stream(STREAM_HEADERS);
    const from = headers['last-event-id'];
    if (from !== undefined) return await this.resume(session, from, begin);
    const stream = session.openStream('g');
    stream.attach(begin());
    stream.prime();
    stream.flush();
  }

  /**
   * Ends a session.
   * @throws {Refusal} 4xx or 503
   */
  delete(carrier: Carrier): void {
    const session = this.sessionOf(carrier);
    this.sessions.end(session);
    this.running.abandon(new Refusal(404, 'The session has ended.'), session);
    carrier.answer(204);
  }

  /**
   * Takes no more requests, lets those under way end, and then ends everything.
   * @param deadlineMs milliseconds that requests under way get
   */
  async close(deadlineMs = this.settings.closeDeadlineMs): Promise<void> {
    this.closed ??= this.shut(deadlineMs);
    await this.closed;
  }

  /**
   * Lets readers take what is left of the streams that have ended: a server that closes drops their connections else.
   * @param deadlineMs milliseconds that they get
   */
  async delivered(deadlineMs: number): Promise<void> {
    const closed = [...this.ending].map((response) => new Promise((resolve) => response.once('close', resolve)));
    if (closed.length === 0) return;
    const timer = new AbortController();
    const late = wait(deadlineMs, undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([Promise.all(closed), late]);
    timer.abort();
  }

  private async shut(deadlineMs: number): Promise<void> {
    const refusal = new Refusal(503, 'The server is closing.');
    clearInterval(this.timer);
    this.running.closing = refusal;
    this.sessions.hangUp();
    await this.running.drain(deadlineMs);
    this.running.abandon(refusal);
    this.sessions.endAll();
  }

  private tick(): void {
    for (const stream of this.open) stream.keepAlive();
    this.sessions.sweep();
  }

  private sessionOf({ headers, principal }: Carrier): HttpSession {
    if (this.running.closing) throw this.running.closing;
    const version = headers['mcp-protocol-version'];
    if (revisionOf(version)?.era === 'stateless') {
      throw new Refusal(405, 'This revision of MCP has POST only.', { allow: 'POST' });
    }
    if (!this.settings.sessions) throw new Refusal(405, 'This server keeps no sessions.', { allow: 'POST' });
    requireKnownVersion(version);
    const id = headers['mcp-session-id'];
    if (id === undefined) throw new Refusal(400, 'The header Mcp-Session-Id is missing.');
    const session = this.sessions.find(id, principal);
    if (session === undefined) throw noSession();
    return session;
  }

  private async resume(session: HttpSession, eventId: string, begin: () => ServerResponse): Promise<void> {
    const [, id, position] = EVENT_ID.exec(eventId) ?? [];
    if (id === undefined) throw unknownEvent();
    const stream = session.lostStream(id);
    if (!(await stream.resume(Number(position), begin))) throw unknownEvent();
  }
}

function unknownEvent(): Refusal {
  return new Refusal(400, 'The Last-Event-ID names no event of this session.');
}
