import type { IncomingMessage } from 'node:http';
// a test may have replaced the global timers
import { clearTimeout, setTimeout } from 'node:timers';

import { McpError, type RequestId } from '@decorum/core';
import { INITIALIZE, isObject, LISTEN } from '@decorum/core/internal';
import type { JsonRpcMessage } from '@decorum/core/transport';

import { ConnectionError } from '../connection-error.js';
import { onAbort } from '../on-abort.js';
import { type Carrier, type ListedTool, type OpenCarrier, type Receiver, SessionRefused } from './carrier.js';
import { deniesSession, forgottenSession } from './forgotten-session.js';
import { RoutingHeaders, statelessVersion } from './http-headers.js';
import { bodyOf, excerptOf, type HttpCall, mediaTypeOf, type RequestHeaders, unexpected } from './http-request.js';
import { HttpSender, type HttpTarget } from './http-sender.js';
import { type Position, readStream, resumed, StandingStream } from './http-streams.js';

/** Milliseconds to wait for the server to end the session. */
const GOODBYE_MS = 1000;

/** Milliseconds to wait until the server has taken a message that has no response. */
const TAKEN_MS = 30_000;

/** Milliseconds that a stream may stay open after the response. */
const LINGER_MS = 1000;

/** Connects to a Streamable HTTP endpoint. */
export function overHttp(target: HttpTarget): OpenCarrier {
  return async (receiver) => new HttpCarrier(target, receiver);
}

class HttpCarrier implements Carrier {
  readonly mirrors = true;
  /** Abort controllers of the requests in flight, by id. */
  private readonly calls = new Map<RequestId, AbortController>();
  private readonly closing = new AbortController();
  private readonly routing = new RoutingHeaders();
  private readonly sender: HttpSender;
  /** The headers that identify the session. */
  private session: RequestHeaders = {};
  /** The session whose GET stream was open last. */
  private streamed: string | undefined;
  /** The GET stream, for messages that belong to no request. */
  private readonly standing: StandingStream;

  constructor(
    private readonly target: HttpTarget,
    private readonly receiver: Receiver,
  ) {
    this.sender = new HttpSender(target);
    this.standing = new StandingStream({
      open: async (position) => await this.openStanding(position),
      read: async (stream, position) => await this.read(stream, position),
      deafen: (reason) => receiver.deafen(reason),
      missed: () => receiver.missed(),
      isPersistent: target.keepsConnections === true,
      signal: this.closing.signal,
    });
  }

  async send(text: string, message: JsonRpcMessage): Promise<'finished'> {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    const own = new AbortController();
    if (id !== undefined) this.calls.set(id, own);
    const timer = id === undefined ? setTimeout(() => own.abort(), TAKEN_MS).unref() : undefined;
    const off = onAbort(this.closing.signal, () => own.abort());
    const more = { 'content-type': 'application/json', ...statelessHeaders(message, this.routing) };
    const post = {
      method: 'POST',
      url: this.target.url,
      headers: this.headers(more),
      body: text,
      signal: own.signal,
      signIn: async (credentials: Promise<unknown>) => await this.receiver.signIn(id, credentials),
    } as const;
    try {
      await this.take(await this.sender.send(post), post, message);
    } catch (error) {
      if (!own.signal.aborted) throw error;
    } finally {
      off();
      clearTimeout(timer);
      if (id !== undefined) this.calls.delete(id);
    }
    if ('method' in message && message.method === 'notifications/initialized') await this.standing.start();
    return 'finished';
  }

  abort(id: RequestId): void {
    this.calls.get(id)?.abort();
  }

  forgetSession(session: string): boolean {
    if (this.session['mcp-session-id'] !== session) return false;
    this.session = {};
    this.standing.stop();
    return true;
  }

  hold(isAwaited: boolean): void {
    this.standing.hold(isAwaited);
  }

  async close(): Promise<void> {
    const { url, afterClose } = this.target;
    this.closing.abort();
    if (this.session['mcp-session-id'] !== undefined) {
      // the server may already be gone, or never respond
      const signal = AbortSignal.timeout(GOODBYE_MS);
      const request = { method: 'DELETE', url, headers: this.headers({}), signal } as const;
      const ended = await this.sender.send(request).catch(() => undefined);
      ended?.resume();
    }
    this.sender.close();
    await afterClose?.();
  }

  private headers(more: RequestHeaders): RequestHeaders {
    return { accept: 'application/json, text/event-stream', ...this.session, ...more };
  }

  /** Takes the response to a message. */
  private async take(response: IncomingMessage, post: HttpCall, message: JsonRpcMessage): Promise<void> {
    const { statusCode = 0, headers } = response;
    const { 'mcp-session-id': session } = headers;
    const { 'mcp-session-id': known } = post.headers;
    if (statusCode === 404 && known !== undefined) {
      response.resume();
      throw new SessionRefused(known, statusCode);
    }
    if (typeof session === 'string' && isMethod(message, INITIALIZE)) this.session = { 'mcp-session-id': session };
    if (statusCode < 300 && mediaTypeOf(response) === 'text/event-stream') {
      // a listen stream stays open as long as the client, and must not keep the process alive
      if (isMethod(message, LISTEN)) response.socket.unref();
      return await this.follow(response, post, message);
    }
    const body = await bodyOf(response, this.target.maxMessageBytes);
    if (body === '' && statusCode < 300) return;
    if (statusCode === 400 && known !== undefined && deniesSession(body)) throw new SessionRefused(known, statusCode);
    const answers = answersIn(body, message);
    // what answers there is no endpoint for `initialize`, even if it explains that in JSON-RPC
    const isElsewhere = isMethod(message, INITIALIZE) && (statusCode === 404 || statusCode === 405);
    const isDenied = statusCode === 401 || statusCode === 403;
    if (answers === undefined || isElsewhere || isDenied) {
      throw unexpected(response, post, { body, cause: errorIn(answers?.[0]) });
    }
    for (const answer of answers) this.deliver(answer, message);
  }

  /** Reads a request's stream up to the response. Resumes the stream if the server closes it too early. */
  private async follow(response: IncomingMessage, post: HttpCall, message: JsonRpcMessage): Promise<void> {
    await resumed(response, {
      read: async (stream, position) => await this.read(stream, position, message),
      reopen: async (position) => {
        const get = this.resumption(position, post.signal);
        const stream = await this.sender.send(get);
        if (mediaTypeOf(stream) === 'text/event-stream') return stream;
        const isLost = stream.statusCode === 404 && get.headers['mcp-session-id'] !== undefined;
        if (isLost) throw sessionLost();
        throw unexpected(stream, get, { body: await bodyOf(stream, this.target.maxMessageBytes) });
      },
      signal: post.signal,
    });
  }

  /**
   * Reads a stream to its end.
   * @returns whether the stream contained the response to `message`
   */
  private async read(stream: IncomingMessage, position: Position, message?: JsonRpcMessage): Promise<boolean> {
    const id = message !== undefined && 'id' in message ? message.id : undefined;
    let isAnswered = false;
    let timer: NodeJS.Timeout | undefined;
    const reading = readStream(stream, { position, maxLength: this.target.maxMessageBytes }, (data) => {
      const parsed = parse(data);
      isAnswered ||= id !== undefined && [parsed].flat().some((each) => isObject(each) && isAnswerTo(id, each));
      if (isAnswered) timer ??= setTimeout(() => stream.destroy(), LINGER_MS).unref();
      if (parsed === undefined) this.receiver.lose(notJson(data));
      else this.deliver(parsed, message);
    });
    try {
      await reading;
    } catch (error) {
      if (!isAnswered) throw error;
    } finally {
      clearTimeout(timer);
    }
    return isAnswered;
  }

  private async openStanding(position: Position): Promise<IncomingMessage> {
    const get = this.resumption(position, this.closing.signal);
    const stream = await this.sender.send(get);
    const session = await forgottenSession(get, stream, this.target.maxMessageBytes);
    // a server that has no such stream may answer 404, too, from the beginning
    if (session !== undefined && session === this.streamed) this.receiver.expire(session);
    if (mediaTypeOf(stream) === 'text/event-stream') this.streamed = get.headers['mcp-session-id'];
    return stream;
  }

  private resumption({ lastEventId }: Position, signal: AbortSignal): HttpCall {
    const more = { accept: 'text/event-stream', ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
    return { method: 'GET', url: this.target.url, headers: this.headers(more), signal };
  }

  private deliver(received: unknown, cause: JsonRpcMessage | undefined): void {
    const { protocolVersion, tools } = resultOf(received);
    if (isMethod(cause, INITIALIZE) && typeof protocolVersion === 'string') {
      this.session = { ...this.session, 'mcp-protocol-version': protocolVersion };
    }
    if (isMethod(cause, 'tools/list') && Array.isArray(tools)) this.routing.learn(tools.filter(isTool));
    const id = cause !== undefined && 'method' in cause && 'id' in cause ? cause.id : undefined;
    this.receiver.receive(received, id);
  }
}

const isMethod = (message: JsonRpcMessage | undefined, method: string): boolean =>
  message !== undefined && 'method' in message && message.method === method;

const isTool = (tool: unknown): tool is ListedTool => isObject(tool) && typeof tool['name'] === 'string';

const notJson = (data: string) =>
  new ConnectionError('protocol', `A stream had an event that is not JSON: ${excerptOf(data)}`);

const sessionLost = () =>
  new ConnectionError('session-lost', 'The server has forgotten the session. What became of the call is unknown.', {
    status: 404,
  });

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

/** The error in a response, if it is one. */
function errorIn(response: unknown): McpError | undefined {
  const error = isObject(response) ? response['error'] : undefined;
  if (!isObject(error)) return undefined;
  return new McpError(Number(error['code']), String(error['message']), error['data']);
}

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
