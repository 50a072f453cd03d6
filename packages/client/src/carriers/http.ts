import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers';

import type { RequestId } from '@decorum/core';
import { INITIALIZE, isObject, LISTEN } from '@decorum/core/internal';
import type { JsonRpcMessage } from '@decorum/core/transport';

import type { Carrier, ListedTool, OpenCarrier, Receiver } from './carrier.js';
import { eventsOf } from './event-stream.js';
import { RoutingHeaders, statelessVersion } from './http-headers.js';
import {
  bodyOf,
  call,
  excerptOf,
  type HttpCall,
  mediaTypeOf,
  type RequestHeaders,
  unexpected,
} from './http-request.js';

/** An endpoint of Streamable HTTP. */
export interface HttpTarget {
  readonly url: URL;
  /** Added to each request. */
  readonly headers: RequestHeaders;
  readonly afterClose?: () => Promise<void>;
}

/** Milliseconds to wait before resuming a lost stream, unless the server sends `retry`. */
const RETRY_MS = 100;

/** After this many notification streams in a row that end without a new event, the client opens no more. */
const MAX_SILENT_STREAMS = 5;

/** Milliseconds to wait for the server to end the session. */
const GOODBYE_MS = 1000;

/** Connects to a Streamable HTTP endpoint. */
export function overHttp(target: HttpTarget): OpenCarrier {
  return async (receiver) => new HttpCarrier(target, receiver);
}

/** Where a stream can be resumed, and after how many milliseconds. */
interface Position {
  lastEventId?: string;
  retryMs: number;
}

class HttpCarrier implements Carrier {
  readonly mirrors = true;
  /** Abort controllers of the requests in flight, by id. */
  private readonly calls = new Map<RequestId, AbortController>();
  private readonly closing = new AbortController();
  private readonly routing = new RoutingHeaders();
  /** The headers that identify the session. */
  private session: RequestHeaders = {};
  /** The GET stream, for messages that belong to no request. */
  private standing: IncomingMessage | undefined;
  private isAwaited = false;

  constructor(
    private readonly target: HttpTarget,
    private readonly receiver: Receiver,
  ) {}

  async send(text: string, message: JsonRpcMessage): Promise<'finished'> {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    const own = new AbortController();
    if (id !== undefined) this.calls.set(id, own);
    const post: HttpCall = {
      method: 'POST',
      url: this.target.url,
      headers: { 'content-type': 'application/json', ...this.headers(statelessHeaders(message, this.routing)) },
      body: text,
      signal: AbortSignal.any([own.signal, this.closing.signal]),
    };
    try {
      await this.take(await call(post), post, message);
    } catch (error) {
      if (!post.signal.aborted) throw error;
    } finally {
      if (id !== undefined) this.calls.delete(id);
    }
    if ('method' in message && message.method === 'notifications/initialized') await this.stand();
    return 'finished';
  }

  abort(id: RequestId): void {
    this.calls.get(id)?.abort();
  }

  hold(isAwaited: boolean): void {
    this.isAwaited = isAwaited;
    this.holdStanding();
  }

  async close(): Promise<void> {
    const { url, afterClose } = this.target;
    this.closing.abort();
    if (this.session['mcp-session-id'] !== undefined) {
      // the server may already be gone, or never respond
      const signal = AbortSignal.timeout(GOODBYE_MS);
      const ended = await call({ method: 'DELETE', url, headers: this.headers({}), signal }).catch(() => undefined);
      ended?.resume();
    }
    await afterClose?.();
  }

  private headers(more: RequestHeaders): RequestHeaders {
    const given = Object.entries(this.target.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    return { accept: 'application/json, text/event-stream', ...this.session, ...more, ...Object.fromEntries(given) };
  }

  /** Takes the response to a message. */
  private async take(response: IncomingMessage, post: HttpCall, message: JsonRpcMessage): Promise<void> {
    const { statusCode = 0, headers } = response;
    const { 'mcp-session-id': session } = headers;
    if (typeof session === 'string') this.session = { 'mcp-session-id': session };
    if (statusCode < 300 && mediaTypeOf(response) === 'text/event-stream') {
      // a listen stream stays open as long as the client, and must not keep the process alive
      if ('method' in message && message.method === LISTEN) response.socket.unref();
      return await this.follow(response, post, message);
    }
    const body = await bodyOf(response);
    if (body === '' && statusCode < 300) return;
    const answers = answersIn(body, message);
    if (answers === undefined) throw unexpected(response, post, body);
    for (const answer of answers) this.deliver(answer, message);
  }

  /** Reads a request's stream up to the response. Resumes the stream if the server closes it too early. */
  private async follow(response: IncomingMessage, post: HttpCall, message: JsonRpcMessage): Promise<void> {
    const position: Position = { retryMs: RETRY_MS };
    let stream = response;
    for (;;) {
      if (await this.read(stream, position, message).catch(lost)) return;
      if (position.lastEventId === undefined || post.signal.aborted) return;
      await pause(position.retryMs);
      const get = this.resumption(position, post.signal);
      stream = await call(get);
      if (mediaTypeOf(stream) !== 'text/event-stream') throw unexpected(stream, get, await bodyOf(stream));
    }
  }

  /**
   * Reads a stream to its end.
   * @returns whether the stream contained the response to `message`
   */
  private async read(stream: IncomingMessage, position: Position, message?: JsonRpcMessage): Promise<boolean> {
    const id = message !== undefined && 'id' in message ? message.id : undefined;
    let isAnswered = false;
    for await (const { id: eventId, data, retry } of eventsOf(stream)) {
      if (eventId !== undefined) position.lastEventId = eventId;
      if (retry !== undefined) position.retryMs = retry;
      if (data === undefined || data === '') continue;
      const parsed = parse(data);
      isAnswered ||= id !== undefined && [parsed].flat().some((each) => isObject(each) && isAnswerTo(id, each));
      if (parsed === undefined)
        this.receiver.lose(new Error(`A stream had an event that is not JSON: ${excerptOf(data)}`));
      else this.deliver(parsed, message);
    }
    return isAnswered;
  }

  /** Opens the GET stream, which a server doesn't have to support. */
  private async stand(): Promise<void> {
    const position: Position = { retryMs: RETRY_MS };
    const stream = await this.openStanding(position).catch(() => undefined);
    if (stream === undefined) return;
    void this.keepStanding(stream, position).catch((error: Error) => {
      if (!this.closing.signal.aborted) this.receiver.deafen(error);
    });
  }

  private async keepStanding(opened: IncomingMessage, position: Position): Promise<void> {
    let stream = opened;
    for (let silent = 0; silent < MAX_SILENT_STREAMS && !this.closing.signal.aborted; silent += 1) {
      const { lastEventId } = position;
      await this.read(stream, position).catch(lost);
      if (position.lastEventId !== lastEventId) silent = 0;
      await pause(position.retryMs, 'idle');
      const next = this.closing.signal.aborted ? undefined : await this.openStanding(position);
      if (next === undefined) break;
      stream = next;
    }
    throw new Error('The server has closed its stream of notifications.');
  }

  private async openStanding(position: Position): Promise<IncomingMessage | undefined> {
    const stream = await call(this.resumption(position, this.closing.signal));
    if (mediaTypeOf(stream) !== 'text/event-stream') return void stream.resume();
    this.standing = stream;
    this.holdStanding();
    return stream;
  }

  private resumption({ lastEventId }: Position, signal: AbortSignal): HttpCall {
    const more = { accept: 'text/event-stream', ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
    return { method: 'GET', url: this.target.url, headers: this.headers(more), signal };
  }

  private holdStanding(): void {
    const socket = this.standing?.socket;
    if (this.isAwaited) socket?.ref();
    else socket?.unref();
  }

  private deliver(received: unknown, cause: JsonRpcMessage | undefined): void {
    const method = cause !== undefined && 'method' in cause ? cause.method : undefined;
    const { protocolVersion, tools } = resultOf(received);
    if (method === INITIALIZE && typeof protocolVersion === 'string') {
      this.session = { ...this.session, 'mcp-protocol-version': protocolVersion };
    }
    if (method === 'tools/list' && Array.isArray(tools)) this.routing.learn(tools as ListedTool[]);
    this.receiver.receive(JSON.stringify(received));
  }
}

function statelessHeaders(message: JsonRpcMessage, routing: RoutingHeaders): RequestHeaders {
  const version = statelessVersion(message);
  return version === undefined ? {} : { 'mcp-protocol-version': version, ...routing.of(message) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const isAnswerTo = (id: RequestId, message: object): boolean =>
  'id' in message && message.id === id && !('method' in message);

const resultOf = (message: unknown): Record<string, unknown> =>
  isObject(message) && isObject(message['result']) ? message['result'] : {};

/**
 * The messages in the body of a response; undefined if it contains anything else. A message without an id answers the
 * message that was sent.
 */
function answersIn(body: string, sent: JsonRpcMessage): readonly unknown[] | undefined {
  const parsed = parse(body);
  const messages = [parsed].flat();
  if (!messages.every((each) => isObject(each) && each['jsonrpc'] === '2.0')) return undefined;
  const id = 'id' in sent ? sent.id : undefined;
  return messages.map((each) => ({ id, ...dropNull(each as object) }));
}

const dropNull = ({ id, ...rest }: { readonly id?: unknown }) =>
  (id ?? undefined) === undefined ? rest : { id, ...rest };

/** Treats a broken connection like a stream that the server closed: both can be resumed. */
const lost = () => false;

/** @param idle if set, the timer doesn't keep the process alive */
async function pause(milliseconds: number, idle?: 'idle'): Promise<void> {
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    if (idle) timer.unref();
  });
}
