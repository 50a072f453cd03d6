import { setImmediate } from 'node:timers';

import { type Frame, isDroppable, PendingChanges } from '@decorum/core/transport';

import type { HttpContext, Sink, SinkOwner } from '../endpoint/http-context.js';
import type { LimitName } from '../endpoint/limits.js';
import { BLANK_LINE, type EventLog, toSent } from './event-log.js';
import type { StoredEvent } from './event-store.js';
import { UNCOUNTED_BYTES } from '../endpoint/slow-readers.js';
import { CatchUp, type CatchUpSource, PAGE } from './catch-up.js';
import type { StreamParts } from './stream-parts.js';

/** Number of characters that triggers a flush before the end of the tick. */
const FLUSH_SIZE = 65_536;

const endTick = (stream: EventStream) => stream.endTick();

/**
 * Sends messages to a client in order, as server-sent events (https://html.spec.whatwg.org/#server-sent-events). A
 * stream with a log survives the loss of its connection. Messages for a slow reader wait, and changes are coalesced.
 */
export class EventStream implements SinkOwner, CatchUpSource {
  /** Told when the reader is gone. */
  holder: { recheck(): void } | undefined;
  /** The caller whose request attached the reader. */
  reader: HttpContext['principal'];
  private sink: Sink | undefined;
  /** Text written in this tick. */
  private tickText = '';
  /** Number of messages in `tickText` that are not in the store yet. */
  private unstored = 0;
  /** Text of earlier ticks that waits for a slow reader. */
  protected pending = '';
  private scheduled = false;
  /** The prefix of the log. A field, because it is read for each message. */
  private prefix: string | undefined;
  /** Whether all messages have been sent. Some readers may not have them yet. */
  ended = false;
  sequence = 0;
  /** Whether its reader has resumed the stream with a GET. */
  resumed = false;
  /** Sends a reader the events that it has missed. The reader becomes `sink` only after that. */
  protected catchUp: CatchUp | undefined;
  /** Number of the latest call of `resume`. */
  private resumes = 0;
  /** Number of calls of `resume` that are waiting for the store. */
  protected resuming = 0;
  /** The buffered changes, while the reader is slow. */
  private changes: PendingChanges | undefined;
  /** Whether messages were dropped since the reader last caught up. */
  private dropping = false;

  /** @param kind `g` (GET) for messages that belong to no request, `p` (POST) for those of one; none outside a session */
  constructor(
    protected readonly parts: StreamParts,
    readonly kind?: 'g' | 'p',
    readonly log?: EventLog | undefined,
  ) {}

  /** Whether the stream has a reader, or is about to have one. */
  get attached(): boolean {
    return this.sink !== undefined || this.catchUp !== undefined || this.resuming > 0;
  }

  /** Connects a reader. */
  attach(sink: Sink): void {
    sink.own(this);
    this.connect(sink);
  }

  drained(sink: Sink): void {
    const { readers } = this.parts;
    readers.forget(sink);
    if (this.sink === sink) this.flush();
    else if (this.catchUp?.sink === sink) this.catchUp.drained(readers);
  }

  closed(sink: Sink): void {
    const { readers, ending } = this.parts;
    readers.forget(sink);
    ending.delete(sink);
    if (this.sink === sink || this.catchUp?.sink === sink) this.detach();
  }

  /** Sends a priming event, so that the client can resume even if it receives nothing else. */
  prime(): void {
    if (this.log?.primes) this.write(this.log.primingEvent(0));
  }

  /** Sends a message. Drops it if the reader is slow and can do without it. */
  send(frame: Frame): void {
    if (this.ended || (this.sink?.slow && this.drops(frame))) return;
    const { text } = frame;
    const { log } = this;
    if (log === undefined) return this.write(this.start + text);
    this.sequence += 1;
    this.unstored += 1;
    this.write((this.prefix ??= log.prefix) + (this.sequence + '\ndata: ') + text);
  }

  /** Sends everything buffered, or just the headers if there is nothing. Waits if the reader is slow. */
  flush(): void {
    this.commitTick();
    const { pending, sink } = this;
    if (sink === undefined) return;
    const { readers } = this.parts;
    if (sink.slow) return readers.note(sink, pending.length);
    this.pending = '';
    this.changes = undefined;
    this.dropping = false;
    if (pending === '') sink.start();
    else if (!sink.write(pending)) readers.note(sink);
  }

  /** Sends the text written in this tick. */
  endTick(): void {
    this.scheduled = false;
    if (this.tickText !== '') this.flush();
  }

  /** Ends the stream, after the response if there is one. */
  end(text?: string): void {
    if (text !== undefined) this.send({ kind: 'response', text });
    this.ended = true;
    if (this.catchUp === undefined) this.disconnect();
    else this.parts.ending.add(this.catchUp.sink);
  }

  /** Disconnects the reader, which reconnects for the rest after `retryMs`. A no-op without a log. */
  pause(retryMs: number): void {
    if (this.log === undefined) return;
    const retry = `${BLANK_LINE}retry: ${retryMs}`;
    this.write(retry);
    this.commitTick();
    const behind = this.catchUp?.sink;
    this.disconnect();
    if (behind) this.finish(behind, toSent(retry));
  }

  /** Sends a comment if nothing else is buffered. A slow reader already has enough to read. */
  keepAlive(): void {
    const { sink, pending, tickText } = this;
    if (sink !== undefined && sink.backlog > 0) this.parts.readers.note(sink, pending.length);
    else if (pending === '' && tickText === '') sink?.write(': keep-alive\n\n');
  }

  /**
   * Sends a reconnected client the events it has missed, and then all that follow. A previous reader is disconnected.
   * @param after position of the last event that the client received
   * @param open starts the response
   * @param _node the process that has sent that event, if the event says so
   * @returns false if the stream is unknown or has not reached that position
   */
  async resume(after: number, open: () => Sink, _node?: string): Promise<boolean> {
    if (this.log === undefined || after > this.sequence) return false;
    const turn = (this.resumes += 1);
    this.resuming += 1;
    try {
      const page = after === this.sequence ? [] : await this.read(after, PAGE);
      if (page === undefined && (await this.isUnknown(after))) return false;
      await this.parts.readers.settled();
      const sink = open();
      sink.own(this);
      // if the client has reconnected again, the newer reader gets all events, and this one would get gaps
      if (turn === this.resumes) this.startCatchUp(new CatchUp(this, sink, after), page ?? [], after);
      else this.finish(sink, '');
      return true;
    } finally {
      this.resuming -= 1;
    }
  }

  async read(after: number, limit: number): Promise<readonly StoredEvent[] | undefined> {
    this.commitTick();
    return await this.log?.read(after, limit);
  }

  caughtUp(sink: Sink): void {
    if (this.catchUp?.sink !== sink) return;
    if (this.ended) return this.finish(sink, '');
    this.commitTick();
    this.connect(sink);
    this.flush();
  }

  /** Whether a client can't know the stream, since the store doesn't. */
  protected isUnknown(_after: number): boolean | Promise<boolean> {
    return false;
  }

  /** Start of an event without a position. */
  protected get start(): string {
    return '\n\ndata: ';
  }

  /** Destroys the reader's connection. */
  protected cutOff(): void {
    this.sink?.destroy();
    this.detach();
  }

  /**
   * Buffers text until the end of the tick, so that one write sends all of it.
   * @param text a blank line and an event
   */
  protected write(text: string): void {
    if (this.sink === undefined && this.unstored === 0) return;
    this.tickText += text;
    if (this.tickText.length >= FLUSH_SIZE) return this.flush();
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(endTick, this);
  }

  private drops(frame: Frame): boolean {
    const { maxBufferedBytes, readers } = this.parts;
    if (isDroppable(frame)) {
      const waiting = this.tickText.length + this.pending.length + (this.sink?.backlog ?? 0);
      if (waiting > maxBufferedBytes) return this.hit('maxBufferedBytes');
      return readers.isFull(this.tickText.length + frame.text.length) && this.hit('maxTotalBufferedBytes');
    }
    if (frame.kind !== 'change') return false;
    this.changes ??= new PendingChanges(maxBufferedBytes);
    return !this.changes.admit(frame) && (this.changes.has(frame) || this.hit('maxBufferedBytes'));
  }

  /** Reports a limit for the first message dropped for a slow reader, and not again until the reader has caught up. */
  protected hit(limit: LimitName): true {
    if (!this.dropping) this.parts.hit({ limit });
    return (this.dropping = true);
  }

  private startCatchUp(catchUp: CatchUp, page: readonly StoredEvent[], after: number): void {
    const { sink } = catchUp;
    const previous = this.sink ?? this.catchUp?.sink;
    this.detach();
    this.catchUp = catchUp;
    this.resumed = true;
    // a slow reader would keep its backlog until it disconnects
    if (previous?.slow) previous.destroy();
    else if (previous) this.finish(previous, '');
    if (this.ended) this.parts.ending.add(sink);
    if (this.log?.primes) sink.write(toSent(this.log.primingEvent(after)));
    catchUp.send(page, this.parts.readers);
    if (sink.closed) this.closed(sink);
  }

  /** Moves the text of this tick to the store and to the buffer for the reader. */
  private commitTick(): void {
    const { tickText, unstored: count, log } = this;
    if (tickText === '') return;
    this.tickText = '';
    this.unstored = 0;
    const text = toSent(tickText);
    if (this.sink !== undefined) this.pending = this.pending === '' ? text : this.pending + text;
    if (count > 0 && log !== undefined) log.append({ first: this.sequence - count + 1, count, text });
  }

  /** Takes the reader off, after everything that it was sent. */
  protected takeOff(): Sink | undefined {
    this.commitTick();
    const { sink, pending } = this;
    if (pending !== '') sink?.write(pending);
    if (sink) this.detach();
    return sink;
  }

  private disconnect(): void {
    this.commitTick();
    const { sink, pending } = this;
    this.detach();
    if (sink) this.finish(sink, pending);
  }

  protected finish(sink: Sink, text: string): void {
    const { ending, readers } = this.parts;
    if (!sink.closed) ending.add(sink);
    sink.end(text);
    if (sink.backlog > UNCOUNTED_BYTES) readers.note(sink);
  }

  private connect(sink: Sink): void {
    this.catchUp?.stop();
    this.catchUp = undefined;
    this.sink = sink;
    this.pending = '';
    this.changes = undefined;
    this.parts.open.add(this);
    if (sink.closed) this.detach();
  }

  private detach(): void {
    this.catchUp?.stop();
    this.catchUp = undefined;
    this.sink = undefined;
    this.pending = '';
    this.parts.open.delete(this);
    this.holder?.recheck();
  }
}
