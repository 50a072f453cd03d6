import type { IncomingHttpHeaders } from 'node:http';

import { isJson, type Json, parse } from '../message.js';
import type { Program } from '../program.js';
import { acknowledgeLists, ACKNOWLEDGED, changeFor, isListChange } from '../subscriptions.js';
import type { Incoming } from './incoming.js';
import { messageEvent, readEvents, type ServerEvent, writeEvent } from './sse.js';
import { endToEnd, isEventStream, readBody, type Received, send } from './upstream.js';

/** A client's `subscriptions/listen`, held open while programs come and go. */
export class ListenStream {
  private upstream: Received | undefined;
  private ended = false;
  private finish!: () => void;
  readonly over = new Promise<void>((resolve) => (this.finish = resolve));

  constructor(
    private readonly incoming: Incoming,
    private readonly message: Json,
    private readonly changed: (program: Program) => void,
  ) {
    incoming.gone.addEventListener('abort', () => this.end(), { once: true });
  }

  get headers(): IncomingHttpHeaders {
    return this.incoming.request.headers;
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
    const message = this.ended ? undefined : changeFor(this.message, method);
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
    const { 'accept-encoding': _encoding, ...headers } = this.incoming.request.headers;
    return send(program, { method: 'POST', path: this.incoming.path, headers, body: JSON.stringify(this.message) });
  }

  private follow(program: Program, received: Received, swallows: boolean): void {
    if (this.ended) return received.abandon();
    const before = this.upstream;
    this.upstream = received;
    before?.abandon();
    readEvents(received.response, (event) => {
      if (this.upstream === received) this.pass(program, event, swallows);
    });
    received.response.once('end', () => {
      if (this.upstream === received && !program.hasEnded && received.response.complete) this.end();
    });
  }

  private pass(program: Program, event: ServerEvent, swallows: boolean): void {
    const found = event.data === undefined ? undefined : parse(event.data);
    const method = isJson(found) ? found['method'] : undefined;
    if (method === ACKNOWLEDGED && isJson(found)) {
      if (swallows) return;
      return this.write({ ...event, data: JSON.stringify(acknowledgeLists(found, this.message)) });
    }
    if (isListChange(method)) this.changed(program);
    this.write(event);
  }

  private write(event: ServerEvent): void {
    this.incoming.response.write(writeEvent(event));
  }
}
