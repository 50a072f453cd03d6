import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';

import type { McpError, Principal, TransportInfo } from '@decorum/core';
import { isObject, isStateless, type JsonRpcMessage, readableId, type Wire } from '@decorum/core/transport';

import { type Carrier, transportInfo } from './carrier.js';
import type { ExchangeParts } from './exchange.js';
import { acceptedBy } from './headers.js';
import type { LegacyPaths } from './options.js';
import { Refusal } from './refusal.js';
import type { RunningExchange } from './running.js';
import { type HttpSession, noSession } from './sessions.js';
import { EventStream, STREAM_HEADERS } from './stream.js';

/** What the query of an endpoint calls the key of a session; the official servers call it so. */
export const KEY = 'sessionId';

/** How often `maxBufferedBytes` may wait behind what is being sent; nothing of it can be dropped. */
const MOST_BUFFERS = 16;

/** The stream of a session: where to send to, and then everything that comes back. */
class MessageStream extends EventStream {
  /** A client that goes on asking and takes no answers is let go: otherwise they would pile up. */
  override send(frame: string): void {
    if (this.pending.length > MOST_BUFFERS * this.settings.maxBufferedBytes) this.cutOff();
    else super.send(frame);
  }

  /** Tells the client where its messages go. */
  announce(uri: string): void {
    this.write(`event: endpoint\ndata: ${uri}\n\n`);
    this.flush();
  }

  protected override text({ frame }: { readonly frame: string }): string {
    return `event: message\ndata: ${frame}\n\n`;
  }
}

/** A session as its key finds it. */
interface Opened {
  readonly id: string;
  readonly stream: MessageStream;
}

/**
 * HTTP+SSE: a GET whose stream is the session, and POSTs whose answers come on it. Nothing can be resumed, so that the
 * session ends with its stream.
 * https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
export class LegacySse {
  private readonly byKey = new Map<string, Opened>();
  private readonly uri: string;

  constructor(
    private readonly parts: ExchangeParts,
    { path, messagesPath }: Required<LegacyPaths>,
  ) {
    // relative to the path of the stream, because only the client knows what proxies have put before it
    this.uri = relativeUri(path.slice(0, path.lastIndexOf('/') + 1), messagesPath);
  }

  /**
   * Begins a session.
   * @throws {Refusal} 406 or 503
   */
  open(carrier: Carrier): void {
    const { running, sessions, streams } = this.parts;
    if (running.closing) throw running.closing;
    const accepted = acceptedBy(carrier.headers.accept);
    if (accepted !== 'both' && accepted !== 'stream') {
      throw new Refusal(406, 'A GET is answered with text/event-stream.');
    }
    const session = sessions.open(carrier.principal);
    const stream = new MessageStream(streams);
    const key = randomBytes(24).toString('base64url');
    session.bind(stream);
    this.byKey.set(key, { id: session.id, stream });
    const response = carrier.stream(STREAM_HEADERS);
    const end = () => {
      this.byKey.delete(key);
      sessions.end(session);
      // handlers that do not look at their signal go on, but nobody waits for them
      running.abandon(new Refusal(404, 'The session has ended.'), session);
    };
    stream.attach(response);
    stream.announce(`${this.uri}?${KEY}=${key}`);
    if (response.destroyed) end();
    else response.once('close', end);
  }

  /**
   * Takes a message for a session.
   * @param body what was JSON
   * @param key as in the URI that the session was told
   * @throws {Refusal} 400, 404 or 503
   */
  post(body: unknown, carrier: Carrier, key: unknown): void {
    const { running, sessions } = this.parts;
    if (running.closing) throw running.closing;
    const opened = typeof key === 'string' ? this.byKey.get(key) : undefined;
    const session = opened && sessions.find(opened.id, carrier.principal);
    if (opened === undefined || session === undefined) throw noSession();
    if (isObject(body) && isStateless(body as unknown as JsonRpcMessage, undefined)) {
      throw new Refusal(400, 'A message that belongs to no session is for the other endpoint.');
    }
    void new LegacyPost({ body, carrier, session, stream: opened.stream }, this.parts).run();
  }
}

/** The way from a folder to a path (RFC 3986, section 4.2), which may end with a slash. */
function relativeUri(from: string, to: string): string {
  const way = posix.relative(from, to);
  if (to.endsWith('/')) return way === '' ? './' : `${way}/`;
  return way === '' ? `../${posix.basename(to)}` : way;
}

/** A message, and where it belongs. */
interface Posted {
  readonly body: unknown;
  readonly carrier: Carrier;
  readonly session: HttpSession;
  readonly stream: MessageStream;
}

/** One POST: it is answered at once, and what the kernel answers goes to the stream. */
class LegacyPost implements Wire, RunningExchange {
  readonly carrier: Carrier;
  readonly session: HttpSession;
  readonly principal: Principal | undefined;
  private refused = false;
  private done = false;
  private ending: (() => void) | undefined;

  constructor(
    private readonly posted: Posted,
    private readonly parts: ExchangeParts,
  ) {
    this.carrier = posted.carrier;
    this.session = posted.session;
    this.principal = posted.carrier.principal;
  }

  /** Has the message handled. Never throws. */
  async run(): Promise<void> {
    const { running, report } = this.parts;
    running.exchanges.add(this);
    try {
      await this.handle();
    } catch (error) {
      report(error);
      this.carrier.socket.destroy();
    }
    this.leave();
  }

  private async handle(): Promise<void> {
    const { body, carrier, session, stream } = this.posted;
    const handled = this.parts.kernel.handle(body, this, session.state);
    // what is no message is refused before the kernel first waits; nobody would know its answer on the stream
    if (this.refused) return carrier.answer(400, await handled);
    carrier.answer(202);
    const frame = await handled;
    if (frame !== undefined && !this.done) stream.send(frame);
  }

  get transport(): TransportInfo {
    return transportInfo(this.carrier);
  }

  send(frame: string): void {
    if (!this.done) this.posted.stream.send(frame);
  }

  refuse({ kind }: McpError): void {
    this.refused ||= kind === 'parse-error' || kind === 'invalid-request';
  }

  onClosing(callback: () => void): void {
    this.ending = callback;
  }

  endSoon(): void {
    this.ending?.();
  }

  /** The POST has been answered: nothing depends on its connection. */
  disconnected(): void {}

  abandon(refusal: Refusal): void {
    const id = readableId(this.posted.body);
    if (id !== undefined) this.send(refusal.body(id));
    this.leave();
  }

  private leave(): void {
    const { running } = this.parts;
    this.done = true;
    running.exchanges.delete(this);
    running.onEnd?.();
  }
}
