import type { IncomingHttpHeaders } from 'node:http';

import { isJson, type Json, parse, type Written } from '../message.js';
import type { Program } from '../program.js';
import { acknowledgeLists, ACKNOWLEDGED, changeFor, isListChange } from '../subscriptions.js';
import type { Incoming } from './incoming.js';
import { messageEvent, readEvents, type ServerEvent, writeEvent } from './sse.js';
import { endToEnd, isEventStream, readBody, type Received, send } from './upstream.js';

/** A client's `subscriptions/listen`, held open while programs come and go. */
export class ListenStream {
  private upstream: Received | undefined;
  private ended = false;
  private isAcknowledged = false;
  private finish!: () => void;
  readonly over = new Promise<void>((resolve) => (this.finish = resolve));

  constructor(
    private readonly incoming: Incoming,
    private readonly written: Written<Json>,
    private readonly on: {
      /** Called when a running program changes its lists. */
      readonly changed: (program: Program) => void;
      /** Called when the first program has acknowledged the subscription. */
      readonly acknowledged: () => void;
    },
  ) {
    incoming.gone.addEventListener('abort', () => this.end(), { once: true });
  }

  get headers(): IncomingHttpHeaders {
    return this.incoming.headers;
  }

  get path(): string {
    return this.incoming.path;
  }

  async open(program: Program): Promise<void> {
    const received = await this.connect(program);
    const { response } = received;
    if (!isEventStream(response)) return this.incoming.pass(response, await readBody(response));
    this.incoming.response.writeHead(response.statusCode ?? 200, endToEnd(response.headers));
    this.incoming.response.flushHeaders();
    this.follow(program, received, false);
  }

  /** Sends the request to the next program. The client already has its acknowledgement. */
  async reopen(program: Program): Promise<void> {
    const received = await this.connect(program).catch(() => undefined);
    if (received === undefined || !isEventStream(received.response)) return received?.abandon();
    this.follow(program, received, true);
  }

  /** Sends one of the relay's own notifications, if the client asked for it. */
  notify(method: string): boolean {
    const message = this.ended ? undefined : changeFor(this.written.message, method);
    if (message) this.incoming.response.write(messageEvent(message));
    return message !== undefined;
  }

  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.upstream?.abandon();
    this.incoming.response.end();
    this.finish();
  }

  private connect(program: Program): Promise<Received> {
    const { 'accept-encoding': _encoding, ...headers } = this.headers;
    return send(program, { method: 'POST', path: this.incoming.path, headers, body: this.written.text });
  }

  private follow(program: Program, received: Received, swallows: boolean): void {
    if (this.ended) return received.abandon();
    const before = this.upstream;
    this.upstream = received;
    before?.abandon();
    readEvents(received.response, (event) => {
      if (this.upstream === received) this.pass(program, event, swallows);
    });
    received.response.once('close', () => {
      // it isn't the next program's, and the client can ask again
      if (!this.isAcknowledged) this.end();
    });
    received.response.once('end', () => {
      if (this.upstream === received && !program.hasEnded && received.response.complete) this.end();
    });
  }

  private pass(program: Program, event: ServerEvent, swallows: boolean): void {
    const found = event.data === undefined ? undefined : parse(event.data);
    const method = isJson(found) ? found['method'] : undefined;
    if (method === ACKNOWLEDGED) {
      if (swallows) return;
      this.write({ ...event, data: acknowledgeLists(event.data ?? '', this.written.message) });
      this.isAcknowledged = true;
      return this.on.acknowledged();
    }
    if (isListChange(method)) this.on.changed(program);
    this.write(event);
  }

  private write(event: ServerEvent): void {
    this.incoming.response.write(writeEvent(event));
  }
}
