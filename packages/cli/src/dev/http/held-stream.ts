import type { IncomingHttpHeaders } from 'node:http';

import { isJson, type Json, type Message, notification, parse, type Written } from '../message.js';
import type { Program } from '../program.js';
import { acknowledgeLists, ACKNOWLEDGED, changeFor, isListChange } from '../subscriptions.js';
import type { Incoming } from './incoming.js';
import type { RelayedSession, Stream } from './relayed-session.js';
import { messageEvent, readEvents, type ServerEvent } from './sse.js';
import { isEventStream, readBody, type Received, send, SESSION } from './upstream.js';

/** What the owner of a stream needs to know. */
export interface HeldEvents {
  /** Called when a running program changes its lists. */
  readonly changed: (program: Program) => void;
  /** Called when a program has accepted the stream. Only then can it move to the next one. */
  readonly accepted: () => void;
}

/** A client's stream that stays open while programs come and go. The relay connects it to one after another. */
export abstract class HeldStream implements Stream {
  private upstream: Received | undefined;
  private ended = false;
  protected isAccepted = false;

  constructor(
    protected readonly incoming: Incoming,
    private readonly on: HeldEvents,
  ) {
    incoming.gone.addEventListener('abort', () => this.end(), { once: true });
  }

  /** Opens the stream in the first program. If its response isn't a stream, the client gets that response. */
  async open(program: Program): Promise<void> {
    const received = await this.connect(program);
    const { response } = received;
    if (!isEventStream(response)) return this.incoming.pass(response, await readBody(response));
    this.incoming.beginStream(response, this.headersFor());
    this.follow(program, received);
  }

  /** Opens the stream in the next program. The client's stream stays open, even if that fails. */
  async reopen(program: Program): Promise<void> {
    const received = await this.connect(program).catch(() => undefined);
    if (received === undefined || !isEventStream(received.response)) return received?.abandon();
    this.follow(program, received);
  }

  /** Sends one of the relay's own notifications, if the client wants it. Returns whether it does. */
  notify(method: string, params?: Json): boolean {
    const message = this.ended ? undefined : this.notificationFor(method, params);
    if (message) this.incoming.response.write(messageEvent(message));
    return message !== undefined;
  }

  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.upstream?.abandon();
    this.incoming.response.end();
  }

  protected abstract connect(program: Program): Promise<Received>;

  /** The headers of the response that aren't the program's. */
  protected abstract headersFor(): NodeJS.Dict<string>;

  protected abstract notificationFor(method: string, params: Json | undefined): Json | undefined;

  /** The event that the client gets for an event of a program; undefined for none. */
  protected abstract adapt(event: ServerEvent, message: Message | undefined, program: Program): ServerEvent | undefined;

  protected accept(): void {
    this.isAccepted = true;
    this.on.accepted();
  }

  protected follow(program: Program, received: Received): void {
    if (this.ended) return received.abandon();
    const before = this.upstream;
    this.upstream = received;
    before?.abandon();
    const { response } = received;
    readEvents(response, (event) => {
      if (this.upstream !== received) return;
      const message = event.data === undefined ? undefined : parse(event.data);
      if (isJson(message) && isListChange(message['method'])) this.on.changed(program);
      const adapted = this.adapt(event, message, program);
      if (adapted) this.incoming.sendEvent(adapted, program, response);
    });
    // a program may end a stream on purpose; if it dies, the stream waits for the next program
    response.once('end', () => {
      if (this.upstream === received && !program.hasEnded && response.complete) this.end();
    });
    response.once('close', () => {
      // it isn't the next program's, and the client can ask again
      if (!this.isAccepted) this.end();
    });
  }
}

/** The GET stream of a session. */
export class PushStream extends HeldStream {
  constructor(
    incoming: Incoming,
    private readonly session: RelayedSession,
    on: HeldEvents,
  ) {
    super(incoming, on);
  }

  protected async connect(program: Program): Promise<Received> {
    const { path, headers } = this.incoming;
    const session = await this.session.idIn(program, headers);
    // the events of earlier programs are lost
    const [, number, eventId] = /^(\d+)-(.*)$/.exec(this.incoming.header('last-event-id') ?? '') ?? [];
    const { 'last-event-id': _last, ...rest } = headers;
    const last = Number(number) === program.number ? { 'last-event-id': eventId } : {};
    return send(program, { method: 'GET', path, headers: { ...rest, ...last } as IncomingHttpHeaders, session });
  }

  protected headersFor() {
    return { [SESSION]: this.session.id };
  }

  protected notificationFor(method: string, params: Json = {}): Json {
    return notification(method, params);
  }

  protected override follow(program: Program, received: Received): void {
    super.follow(program, received);
    if (this.isAccepted) return;
    this.accept();
    for (const method of this.session.missed) this.notify(method);
    this.session.missed.clear();
  }

  protected adapt(event: ServerEvent, message: Message | undefined, program: Program): ServerEvent {
    if (!isJson(message)) return event;
    return { ...event, data: this.session.questions.toClient(program, { message, text: event.data ?? '' }) };
  }
}

/** A `subscriptions/listen`, which needs no session. */
export class ListenStream extends HeldStream {
  constructor(
    incoming: Incoming,
    private readonly written: Written<Json>,
    on: HeldEvents,
  ) {
    super(incoming, on);
  }

  get headers(): IncomingHttpHeaders {
    return this.incoming.headers;
  }

  get path(): string {
    return this.incoming.path;
  }

  protected connect(program: Program): Promise<Received> {
    return send(program, { method: 'POST', path: this.path, headers: this.headers, body: this.written.text });
  }

  protected headersFor() {
    return {};
  }

  protected notificationFor(method: string): Json | undefined {
    return changeFor(this.written.message, method);
  }

  protected adapt(event: ServerEvent, message: Message | undefined): ServerEvent | undefined {
    if (!isJson(message) || message['method'] !== ACKNOWLEDGED) return event;
    // the client has that of the first program
    if (this.isAccepted) return undefined;
    this.accept();
    return { ...event, data: acknowledgeLists(event.data ?? '', this.written.message) };
  }
}
