import { setImmediate } from 'node:timers';

import type { LimitHit } from '@decorum/core';
import { type Frame, isDroppable, PendingChanges } from '@decorum/core/transport';

import type { AnswerHeaders, Sink, SinkOwner } from './http-context.js';
import { type EventBatch, type EventStore, eventsOf, type StoredEvent } from './event-store.js';

/** Headers of every event stream. They keep proxies from caching, transforming or buffering it. */
export const STREAM_HEADERS: AnswerHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** State shared by all streams of an endpoint. */
export interface StreamSettings {
  /** The streams with a reader. */
  readonly open: Set<EventStream>;
  /** The ended responses that clients may not have received completely yet. */
  readonly ending: Set<Sink>;
  /** Bytes to buffer for a slow reader before dropping progress and log messages. Changes may take up as much again. */
  readonly maxBufferedBytes: number;
  /** Reports a limit that a client has reached. */
  readonly hit: (hit: LimitHit) => void;
  /** Called when `ending` becomes empty. */
  delivered?: (() => void) | undefined;
}

/** Makes a stream resumable. */
export interface StreamLog {
  /** Unique within the session, and valid as part of an event id. */
  readonly id: string;
  /** The id of the session. */
  readonly session: string;
  readonly store: EventStore;
  /** Whether the client supports events without data. */
  readonly primes: boolean;
  /** Reports errors from the store. */
  readonly report: (error: unknown) => void;
}

/** Number of characters that triggers a flush before the end of the tick. */
const FLUSH_SIZE = 65_536;

const endTick = (stream: EventStream) => stream.endTick();

/**
 * Sends messages to a client in order, as server-sent events (https://html.spec.whatwg.org/#server-sent-events). A
 * stream with a log survives the loss of its connection. Messages for a slow reader are buffered, and repeated changes
 * are coalesced.
 */
export class EventStream implements SinkOwner {
  /** Told when the reader is gone. */
  holder: { recheck(): void } | undefined;
  private sink: Sink | undefined;
  /** Text written in this tick. */
  private tickText = '';
  /** Number of messages in `tickText` that are not in the store yet. */
  private unstored = 0;
  /** Text of earlier ticks that waits for a slow reader. */
  protected pending = '';
  private scheduled = false;
  private ended = false;
  private sequence = 0;
  /** Key of the stream in the store. Created on demand, because most streams send nothing. */
  private storeKey: string | undefined;
  /** Start of each event, up to its position. */
  private idPrefix: string | undefined;
  /** Settles when the last event is stored. */
  private stored: Promise<void> | undefined;
  /** Events that were sent while `resume` reads the store. */
  private tail: StoredEvent[] | undefined;
  /** The buffered changes, while the reader is slow. */
  private changes: PendingChanges | undefined;
  /** Whether messages were dropped since the reader last caught up. */
  private dropping = false;

  /** @param kind `g` for messages that belong to no request */
  constructor(
    protected readonly settings: StreamSettings,
    readonly kind: 'g' | 'p',
    readonly log?: StreamLog,
  ) {}

  /** Whether the stream has a reader. */
  get attached(): boolean {
    return this.sink !== undefined;
  }

  /** Connects a reader, and disconnects the previous one. */
  attach(sink: Sink): void {
    this.sink?.end('');
    this.sink = sink;
    this.pending = '';
    this.changes = undefined;
    this.settings.open.add(this);
    sink.own(this);
    if (sink.closed) this.detach();
  }

  drained(sink: Sink): void {
    if (this.sink === sink) this.flush();
  }

  closed(sink: Sink): void {
    this.settings.ending.delete(sink);
    if (this.settings.ending.size === 0) this.settings.delivered?.();
    if (this.sink === sink) this.detach();
  }

  /** Sends a priming event, so that the client can resume even if it receives nothing else. */
  prime(position = 0): void {
    if (this.log?.primes) this.write(`id: ${this.log.id}-${position}\ndata: \n\n`);
  }

  /** Sends a message. Drops it if the reader is slow and can do without it. */
  send(frame: Frame): void {
    if (this.ended || (this.sink?.slow && this.drops(frame))) return;
    const { text } = frame;
    const { log } = this;
    if (log === undefined) return this.write(this.eventText(text));
    this.sequence += 1;
    this.tail?.push({ sequence: this.sequence, frame: text });
    // `join` makes a flat string; V8 would keep a concatenated one as a tree, which is slower to send
    this.idPrefix ??= ['id: ', log.id, '-'].join('');
    this.unstored += 1;
    this.write(`${this.idPrefix}${this.sequence}\ndata: ${text}\n\n`);
  }

  /** Sends everything buffered, or just the headers if there is nothing. Waits if the reader is slow. */
  flush(): void {
    this.commitTick();
    const { pending, sink } = this;
    if (sink === undefined || sink.slow) return;
    this.pending = '';
    this.changes = undefined;
    this.dropping = false;
    if (pending !== '') sink.write(pending);
    else sink.start();
  }

  /** Sends the text written in this tick. */
  endTick(): void {
    this.scheduled = false;
    if (this.tickText !== '') this.flush();
  }

  /** Ends the stream, after an optional last message. */
  end(frame?: Frame): void {
    if (frame !== undefined) this.send(frame);
    this.ended = true;
    if (this.tail === undefined) this.disconnect();
  }

  /** Disconnects the reader, which reconnects for the rest after `retryMs`. A no-op without a log. */
  pause(retryMs: number): void {
    if (this.log === undefined) return;
    this.write(`retry: ${retryMs}\n\n`);
    this.disconnect();
  }

  /** Sends a comment if nothing else is buffered. A slow reader already has enough to read. */
  keepAlive(): void {
    if (this.sink?.backlog === 0 && this.pending === '' && this.tickText === '') this.sink.write(': keep-alive\n\n');
  }

  /**
   * Sends a reconnected client the events it has missed, and then all that follow.
   * @param after position of the last event that the client received
   * @param open starts the response
   * @returns false if the stream is unknown or has not reached that position
   */
  async resume(after: number, open: () => Sink): Promise<boolean> {
    const { log } = this;
    if (log === undefined) return false;
    this.commitTick();
    const tail: StoredEvent[] = (this.tail = []);
    try {
      await this.stored;
      const kept = await log.store.read(this.keyOf(log), after);
      const isKnown = this.ended ? kept !== undefined || tail.length > 0 : after <= this.sequence;
      if (!isKnown) return false;
      // the client has reconnected again: that reader gets all events, and this one would get them with gaps
      if (this.tail !== tail) {
        open().end('');
        return true;
      }
      // events sent in the meantime are in `tail`
      this.commitTick();
      this.catchUp([...(kept ?? []), ...tail], after, open());
      return true;
    } finally {
      if (this.tail === tail) this.tail = undefined;
      if (this.ended) this.disconnect();
    }
  }

  /** The wire format of an event without a position. */
  protected eventText(text: string): string {
    return `data: ${text}\n\n`;
  }

  /** Destroys the reader's connection. */
  protected cutOff(): void {
    this.sink?.destroy();
    this.detach();
  }

  /** Buffers text until the end of the tick, so that one write sends all of it. */
  protected write(text: string): void {
    if (this.sink === undefined && this.unstored === 0) return;
    this.tickText += text;
    if (this.tickText.length >= FLUSH_SIZE) return this.flush();
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(endTick, this);
  }

  private drops(frame: Frame): boolean {
    const { maxBufferedBytes } = this.settings;
    if (isDroppable(frame)) {
      const waiting = this.tickText.length + this.pending.length + (this.sink?.backlog ?? 0);
      return waiting > maxBufferedBytes && this.hit();
    }
    if (frame.kind !== 'change') return false;
    this.changes ??= new PendingChanges(maxBufferedBytes);
    return !this.changes.admit(frame);
  }

  /** Reports the first message that is dropped for a slow reader; the next ones once it has caught up. */
  protected hit(): true {
    if (!this.dropping) this.settings.hit({ limit: 'maxBufferedBytes' });
    return (this.dropping = true);
  }

  private catchUp(events: readonly StoredEvent[], after: number, sink: Sink): void {
    const { log } = this;
    let last = after;
    this.attach(sink);
    this.prime(after);
    for (const { sequence, frame } of events) {
      if (sequence > last) this.write(`id: ${log?.id}-${sequence}\ndata: ${frame}\n\n`);
      last = Math.max(last, sequence);
    }
    this.sequence = Math.max(this.sequence, last);
    this.flush();
  }

  /** Moves the text of this tick to the store and to the buffer for the reader. */
  private commitTick(): void {
    const { tickText, unstored: count, log } = this;
    if (tickText === '') return;
    this.tickText = '';
    this.unstored = 0;
    if (this.sink !== undefined) this.pending = this.pending === '' ? tickText : this.pending + tickText;
    if (count > 0 && log !== undefined) {
      // `slice` makes a flat string; otherwise V8 would keep every part that the messages were concatenated from
      this.record({ first: this.sequence - count + 1, count, text: tickText.slice(0, -1) }, log);
    }
  }

  private keyOf({ session, id }: StreamLog): string {
    return (this.storeKey ??= `${session}/${id}`);
  }

  private record(batch: EventBatch, log: StreamLog): void {
    const { store } = log;
    const key = this.keyOf(log);
    if (store.appendBatch) return this.keep(() => store.appendBatch?.(key, batch));
    for (const event of eventsOf(batch)) this.keep(() => store.append(key, event));
  }

  private keep(append: () => void | Promise<void>): void {
    const report = this.log?.report;
    try {
      const stored = append();
      if (stored) this.stored = stored.catch(report);
    } catch (error) {
      report?.(error);
    }
  }

  private disconnect(): void {
    this.commitTick();
    const { sink, pending } = this;
    this.detach();
    if (sink === undefined) return;
    if (!sink.closed) this.settings.ending.add(sink);
    sink.end(pending);
  }

  private detach(): void {
    this.sink = undefined;
    this.pending = '';
    this.settings.open.delete(this);
    this.holder?.recheck();
  }
}
