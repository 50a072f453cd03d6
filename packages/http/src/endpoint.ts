import { isObject, isStateless, type JsonRpcMessage, type Kernel, revisionOf } from '@decorum/core/transport';

import type { Carrier } from './carrier.js';
import { Exchanges, type ExchangeSettings, PostExchange } from './exchange.js';
import { acceptedBy } from './headers.js';
import { Refusal } from './refusal.js';
import { type HttpSession, Sessions, type SessionSettings } from './sessions.js';
import { EventStream, STREAM_HEADERS } from './stream.js';

/** What an endpoint is made of. */
export interface EndpointSettings extends Omit<SessionSettings, 'streams'>, Omit<ExchangeSettings, 'streams'> {
  readonly maxBufferedBytes: number;
  /** Milliseconds between comments on quiet streams, and between looks for idle sessions. */
  readonly keepAliveMs: number;
  /** Milliseconds that requests under way get when the endpoint closes. */
  readonly closeDeadlineMs: number;
}

const EVENT_ID = /^([gp])([\w-]{16})-(\d{1,9})$/;

/**
 * One MCP endpoint: the three methods of Streamable HTTP, for whatever web framework carries them.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
 */
export class Endpoint {
  private readonly open = new Set<EventStream>();
  private readonly sessions: Sessions;
  private readonly exchanges: Exchanges;
  private readonly timer: NodeJS.Timeout;
  private closed: Promise<void> | undefined;

  constructor(
    private readonly kernel: Kernel,
    private readonly settings: EndpointSettings,
  ) {
    const streams = { open: this.open, maxBufferedBytes: settings.maxBufferedBytes };
    this.sessions = new Sessions(kernel, { ...settings, streams });
    this.exchanges = new Exchanges({ ...settings, streams });
    this.timer = setInterval(() => this.tick(), settings.keepAliveMs).unref();
  }

  /** Takes one message, and answers it. Never throws. */
  async post(body: unknown, carrier: Carrier): Promise<void> {
    const exchange = new PostExchange(carrier, body, this.exchanges);
    try {
      this.admit(exchange, body);
      this.exchanges.add(exchange);
      exchange.finish(await this.kernel.handle(body, exchange, exchange.session?.state));
    } catch (error) {
      exchange.fail(error);
    }
    if (exchange.fresh) this.settle(exchange.session);
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
    if (session.state.revision?.primesStreams) stream.prime();
    stream.flush();
  }

  /**
   * Ends a session.
   * @throws {Refusal} 4xx or 503
   */
  delete(carrier: Carrier): void {
    const session = this.sessionOf(carrier);
    this.sessions.end(session);
    this.exchanges.abandon(new Refusal(404, 'The session has ended.'), session);
    carrier.answer(204);
  }

  /** Takes no more requests, lets those under way end, and then ends everything. */
  async close(): Promise<void> {
    this.closed ??= this.shut();
    await this.closed;
  }

  private async shut(): Promise<void> {
    clearInterval(this.timer);
    this.sessions.hangUp();
    await this.exchanges.drain(this.settings.closeDeadlineMs);
    this.exchanges.abandon(closing());
    this.sessions.endAll();
  }

  private tick(): void {
    for (const stream of this.open) stream.keepAlive();
    this.sessions.sweep();
  }

  /** Finds out where a message belongs: to no session, to a new one, or to the one it names. */
  private admit(exchange: PostExchange, body: unknown): void {
    const { carrier, declaredVersion } = exchange;
    const { headers, principal } = carrier;
    if (this.closed) throw closing();
    exchange.accepted = acceptedBy(headers.accept);
    if (exchange.accepted === 'neither') {
      throw new Refusal(406, 'A POST is answered with application/json or text/event-stream.');
    }
    if (!isObject(body) || isStateless(body as unknown as JsonRpcMessage, declaredVersion)) {
      exchange.stateless = true;
      if (isObject(body) && !('method' in body)) throw new Refusal(400, 'Only requests and notifications are taken.');
      return;
    }
    requireKnown(declaredVersion);
    const opening = body['method'] === 'initialize';
    const id = headers['mcp-session-id'];
    if (id !== undefined) exchange.session = this.sessions.find(id, principal);
    else if (!opening || !('id' in body)) throw new Refusal(400, 'The header Mcp-Session-Id is missing.');
    else exchange.session = this.sessions.open(principal);
    exchange.fresh = id === undefined;
    if (opening && !exchange.fresh) throw new Refusal(400, 'The session is initialized already.');
  }

  /** A session whose first request failed never was. */
  private settle(session: HttpSession | undefined): void {
    if (session && session.state.revision === undefined) this.sessions.end(session);
  }

  private sessionOf({ headers, principal }: Carrier): HttpSession {
    if (this.closed) throw closing();
    const version = headers['mcp-protocol-version'];
    if (revisionOf(version)?.era === 'stateless') {
      throw new Refusal(405, 'This revision of MCP has POST only.', { allow: 'POST' });
    }
    requireKnown(version);
    const id = headers['mcp-session-id'];
    if (id === undefined) throw new Refusal(400, 'The header Mcp-Session-Id is missing.');
    return this.sessions.find(id, principal);
  }

  private async resume(
    session: HttpSession,
    eventId: string,
    begin: () => ReturnType<Carrier['stream']>,
  ): Promise<void> {
    const [, kind, name, position] = EVENT_ID.exec(eventId) ?? [];
    const id = `${kind}${name}`;
    if (kind === undefined) throw unknownEvent();
    let stream = session.streamOf(id);
    if (stream === undefined) {
      stream = session.openStream(kind as 'g' | 'p', id);
      if (kind === 'p') {
        stream.end();
        session.closeStream(stream);
      }
    }
    if (!(await stream.resume(Number(position), begin))) throw unknownEvent();
  }
}

function closing(): Refusal {
  return new Refusal(503, 'The server is closing.');
}

function unknownEvent(): Refusal {
  return new Refusal(400, 'The Last-Event-ID names no event of this session.');
}

function requireKnown(version: string | undefined): void {
  if (version === undefined || revisionOf(version) !== undefined) return;
  throw new Refusal(400, 'The MCP-Protocol-Version is not supported.');
}
