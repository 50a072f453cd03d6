import type { IncomingMessage } from 'node:http';
import { clearTimeout, setTimeout } from 'node:timers';

import type { JsonRpcMessage } from '@decorum/core/transport';

import { ConnectionError } from '../connection-error.js';
import type { Carrier, OpenCarrier, Receiver } from './carrier.js';
import { eventsOf, type StreamEvent } from './event-stream.js';
import { bodyOf, type HttpCall, mediaTypeOf, unexpected } from './http-request.js';
import { HttpSender, type HttpTarget } from './http-sender.js';

/** Milliseconds to wait for the event that names the endpoint for messages. */
const ENDPOINT_MS = 10_000;

/**
 * Connects to an endpoint of HTTP+SSE, the transport of the oldest revision: one stream brings all messages, and its
 * first event says where to post (MCP, "Transports", backwards compatibility).
 */
export function overLegacySse(target: HttpTarget): OpenCarrier {
  return async (receiver) => {
    const carrier = new LegacyCarrier(target, receiver);
    await carrier.open();
    return carrier;
  };
}

class LegacyCarrier implements Carrier {
  private readonly closing = new AbortController();
  private readonly sender: HttpSender;
  private stream: IncomingMessage | undefined;
  private endpoint: URL | undefined;

  constructor(
    private readonly target: HttpTarget,
    private readonly receiver: Receiver,
  ) {
    this.sender = new HttpSender(target);
  }

  /** Resolves once the server has said where to post. */
  async open(): Promise<void> {
    const { signal } = this.closing;
    const get: HttpCall = { method: 'GET', url: this.target.url, headers: { accept: 'text/event-stream' }, signal };
    const stream = await this.sender.send(get);
    if (mediaTypeOf(stream) !== 'text/event-stream') {
      throw unexpected(stream, get, { body: await bodyOf(stream, this.target.maxMessageBytes) });
    }
    this.stream = stream;
    await new Promise<void>((resolve, reject) => {
      const late = new ConnectionError('timeout', `${get.url.href} has not named an endpoint for messages.`);
      const timer = setTimeout(() => this.fail(late, reject), ENDPOINT_MS);
      const opened = () => {
        clearTimeout(timer);
        resolve();
      };
      const over = (reason: Error) => {
        clearTimeout(timer);
        this.fail(reason, reject);
      };
      this.read(stream, opened).then(
        () => over(ended()),
        (error: Error) => over(error instanceof ConnectionError ? error : ended(error)),
      );
    });
  }

  async send(text: string, message: JsonRpcMessage): Promise<'sent'> {
    const { closing, target } = this;
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    const signIn = async (credentials: Promise<unknown>) => await this.receiver.signIn(id, credentials);
    const headers = { 'content-type': 'application/json' };
    const url = this.endpoint as URL;
    const post: HttpCall = { method: 'POST', url, headers, body: text, signal: closing.signal, signIn };
    const response = await this.sender.send(post);
    const body = await bodyOf(response, target.maxMessageBytes);
    if ((response.statusCode ?? 500) >= 300) throw unexpected(response, post, { body });
    return 'sent';
  }

  hold(isAwaited: boolean): void {
    const socket = this.stream?.socket;
    if (isAwaited) socket?.ref();
    else socket?.unref();
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.sender.close();
    await this.target.afterClose?.();
  }

  private fail(reason: Error, reject: (error: Error) => void): void {
    reject(reason);
    if (!this.closing.signal.aborted) this.receiver.lose(reason);
    this.closing.abort();
  }

  private async read(stream: IncomingMessage, opened: () => void): Promise<void> {
    for await (const event of eventsOf(stream, this.target.maxMessageBytes)) {
      if (event.name === 'endpoint' && this.endpoint === undefined) {
        this.endpoint = this.endpointIn(event);
        opened();
      } else if (this.endpoint !== undefined && event.data !== undefined && event.data !== '') {
        this.receiver.receive(event.data);
      }
    }
  }

  /** Messages carry credentials, so they go to the origin of the stream only. */
  private endpointIn({ data = '' }: StreamEvent): URL {
    const { href, origin } = this.target.url;
    const url = URL.canParse(data, href) ? new URL(data, href) : undefined;
    if (url?.origin === origin) return url;
    throw new ConnectionError(
      'protocol',
      `${href} wants messages at ${JSON.stringify(data)}, which is another origin.`,
    );
  }
}

const ended = (cause?: Error) =>
  new ConnectionError('closed', 'The stream that brings all answers has ended. Connect again.', { cause });
