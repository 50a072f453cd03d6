import { type IncomingMessage, request as sendRequest } from 'node:http';

import type { Call } from './call.js';
import { Client, type Identity } from './client.js';
import type { Message } from './messages.js';
import { Requests } from './requests.js';
import { SseReader } from './sse.js';

/** An HTTP+SSE client. All messages arrive on one stream. */
export class SseClient extends Client {
  private readonly requests = new Requests(8);
  private stream: IncomingMessage | undefined;
  private target: URL | undefined;
  private gone = false;

  constructor(
    identity: Identity,
    private readonly url: URL,
  ) {
    super(identity);
  }

  override async begin(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const sent = sendRequest(this.url, { agent: false, headers: { accept: 'text/event-stream' } });
      sent.on('error', (error) => (this.target ? this.over() : reject(error)));
      sent.on('response', (response) => this.read(response, resolve));
      sent.end();
    });
    await super.begin();
  }

  override async listen(): Promise<void> {}

  override async cancel(call: Call): Promise<void> {
    call.abandon();
    this.notify('notifications/cancelled', { requestId: call.id });
  }

  override pause(): () => void {
    this.stream?.pause();
    return () => void this.stream?.resume();
  }

  /** The session ends with its stream. */
  override async leave(): Promise<void> {
    this.cut();
  }

  protected override cut(): void {
    this.gone = true;
    this.stream?.destroy();
    this.requests.cut();
  }

  protected override transmit(message: Message | readonly Message[]): void {
    const headers = { 'content-type': 'application/json' };
    const sent = this.requests.send(this.target ?? this.url, { method: 'POST', headers });
    sent.on('error', (error) => void (this.gone || this.fail(`a POST failed: ${error.message}`)));
    sent.on('response', (response) => {
      // the session ends with the stream, which the client may have closed by now
      if (response.statusCode !== 202 && !this.gone) this.fail(`a POST got status ${response.statusCode}`);
      response.on('error', () => {}).resume();
    });
    sent.end(JSON.stringify(message));
  }

  private read(response: IncomingMessage, ready: () => void): void {
    this.stream = response;
    const events = new SseReader();
    response.on('error', () => {});
    response.once('close', () => this.over());
    response.setEncoding('utf8').on('data', (chunk: string) => {
      for (const { data } of events.feed(chunk)) {
        if (data === undefined) continue;
        if (this.target) this.receive(data);
        else {
          this.target = new URL(data, this.url);
          ready();
        }
      }
    });
  }

  private over(): void {
    if (!this.gone) this.lost('was in flight when the stream ended');
  }
}
