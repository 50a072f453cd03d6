import { isJson, notification, parse } from '../message.js';
import type { Program } from '../program.js';
import { isListChange } from '../subscriptions.js';
import { passOn } from './exchange.js';
import type { Incoming } from './incoming.js';
import type { HttpSession } from './session.js';
import { SESSION } from './session.js';
import { messageEvent, readEvents, type ServerEvent, writeEvent } from './sse.js';
import { endToEnd, isEventStream, readBody, type Received, send } from './upstream.js';

/** A client's open GET stream. The relay connects it to one program after another. */
export class PushStream {
  private upstream: Received | undefined;
  private ended = false;
  private finish!: () => void;
  readonly over = new Promise<void>((resolve) => (this.finish = resolve));

  constructor(
    private readonly incoming: Incoming,
    private readonly session: HttpSession,
    private readonly on: {
      /** Called when a running program changes its lists. */
      readonly changed: (program: Program) => void;
      /** Called when the first program has opened the stream. */
      readonly opened: () => void;
    },
  ) {
    incoming.gone.addEventListener('abort', () => this.end(), { once: true });
  }

  /**
   * Opens the stream in the first program. If its response isn't a stream, the client gets that response.
   * @param lastEventId id of the last event from this program
   */
  async open(program: Program, lastEventId: string | undefined): Promise<void> {
    const received = await this.connect(program, lastEventId);
    const { response } = received;
    if (!isEventStream(response)) return this.incoming.pass(response, await readBody(response));
    this.incoming.response.writeHead(response.statusCode ?? 200, {
      ...endToEnd(response.headers),
      [SESSION]: this.session.id,
    });
    this.incoming.response.flushHeaders();
    this.follow(program, received);
    this.on.opened();
    for (const method of this.session.untold) this.notify(method);
    this.session.untold.clear();
  }

  /** Opens the stream in the next program. The client's stream stays open, even if that fails. */
  async reopen(program: Program): Promise<void> {
    const received = await this.connect(program, undefined).catch(() => undefined);
    if (received === undefined || !isEventStream(received.response)) return received?.abandon();
    this.follow(program, received);
  }

  /** Sends one of the relay's own notifications. */
  notify(method: string, params = {}): void {
    this.incoming.response.write(messageEvent(notification(method, params)));
  }

  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.upstream?.abandon();
    this.incoming.response.end();
    this.finish();
  }

  private async connect(program: Program, lastEventId: string | undefined): Promise<Received> {
    const id = await this.session.idIn(program, this.incoming.headers);
    const { 'last-event-id': _last, 'accept-encoding': _encoding, ...headers } = this.incoming.request.headers;
    return send(program, {
      method: 'GET',
      path: this.incoming.path,
      headers: { ...headers, [SESSION]: id, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
    });
  }

  private follow(program: Program, received: Received): void {
    if (this.ended) return received.abandon();
    const before = this.upstream;
    this.upstream = received;
    before?.abandon();
    readEvents(received.response, (event) => {
      if (this.upstream === received) this.pass(program, event);
    });
    // a program may end a stream on purpose; if it dies, the stream waits for the next program
    received.response.once('end', () => {
      if (this.upstream === received && !program.hasEnded && received.response.complete) this.end();
    });
  }

  private pass(program: Program, event: ServerEvent): void {
    const { response } = this.incoming;
    const found = event.data === undefined ? undefined : parse(event.data);
    let { data } = event;
    if (isJson(found) && data !== undefined) {
      if (isListChange(found['method'])) this.on.changed(program);
      data = passOn({ message: found, text: data }, program, this.session.questions);
    }
    const id = event.id === undefined ? undefined : `${program.number}-${event.id}`;
    const text = writeEvent({ ...event, id, data });
    if (response.write(text)) return;
    const { upstream } = this;
    upstream?.response.pause();
    response.once('drain', () => upstream?.response.resume());
  }
}
