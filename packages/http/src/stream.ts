import { setImmediate } from 'node:timers';

import { type Frame, isPassing, WaitingChanges } from '@decorum/core/transport';

import type { AnswerHeaders, Sink, SinkOwner } from './http-context.js';
import { type EventBatch, type EventStore, eventsOf, type StoredEvent } from './event-store.js';

/** Headers of every event stream; proxies must neither keep nor buffer nor rewrite it. */
export const STREAM_HEADERS: AnswerHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** What all streams of an endpoint share. */
export interface StreamSettings {
  /** The streams that have a reader. */
  readonly open: Set<EventStream>;
  /** The answers that have ended, of which readers may not have taken all yet. */
  readonly ending: Set<Sink>;
  /** Bytes that may wait for a slow reader before progress and log messages are dropped; changes have as much again. */
  readonly maxBufferedBytes: number;
  /** Called when nothing is left in `ending`. */
  delivered?: (() => void) | undefined;
}

/** How a stream is known to a client that comes back. */
export interface StreamLog {
  /** Unique within the session, of characters that may stand in an event id. */
  readonly id: string;
  /** The id of the session. */
  readonly session: string;
  readonly store: EventStore;
  /** Whether the client can take an event without data. */
  readonly primes: boolean;
  /** Takes the errors of the store. */
  readonly report: (error: unknown) => void;
}

/** Text that is written at once and not at the end of the tick. */
const FLUSH_SIZE = 65_536;

const endTick = (stream: EventStream) => stream.endTick();

/**
 * Messages for a client in order, as server-sent events (https://html.spec.whatwg.org/#server-sent-events), and the
 * connection that reads them, which may be gone for a while where the stream has a log. What a reader that is backed up
 * has not taken waits here, where a change that waits already is not kept twice.
 */
export class EventStream implements SinkOwner {
  private sink: Sink | undefined;
  /** What was written in this tick. */
  private fresh = '';
  /** How many messages in `fresh` the log has not got yet. */
  private unstored = 0;
  /** What was written before, and the reader is too slow for. */
  protected pending = '';
  private scheduled = false;
  private over = false;
  private sequence = 0;
  /** What the store knows the stream by. Made when it is needed: most streams stay quiet. */
  private storeKey: string | undefined;
  /** How the id of each event begins. */
  private idPrefix: string | undefined;
  /** Settles when the store has the last event. */
  private stored: Promise<void> | undefined;
  /** Events that are sent while the store is being read. */
  private tail: StoredEvent[] | undefined;
  /** Of what is pending, the changes that came since the reader is backed up. */
  private changes: WaitingChanges | undefined;

  /** @param kind `g` for messages that belong to no request */
  constructor(
    protected readonly settings: StreamSettings,
    readonly kind: 'g' | 'p',
    readonly log?: StreamLog,
  ) {}

  /** Whether someone reads. */
  get attached(): boolean {
    return this.sink !== undefined;
  }

  /** Gives the stream a reader, in place of the one it has. */
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

  /** Tells the reader where it is, so that it can come back even if nothing else reaches it. Where it can take that. */
  prime(position = 0): void {
    if (this.log?.primes) this.write(`id: ${this.log.id}-${position}\ndata: \n\n`);
  }

  /** Sends a message, unless the reader is slow and can do without it. */
  send(frame: Frame): void {
    if (this.over || (this.sink?.slow && this.skips(frame))) return;
    const { text } = frame;
    const { log } = this;
    if (log === undefined) return this.write(this.eventText(text));
    this.sequence += 1;
    this.tail?.push({ sequence: this.sequence, frame: text });
    // joined, because V8 keeps the pieces of a text that was added up, and few pieces are cheaper to send
    this.idPrefix ??= ['id: ', log.id, '-'].join('');
    this.unstored += 1;
    this.write(`${this.idPrefix}${this.sequence}\ndata: ${text}\n\n`);
  }

  /** Sends what is waiting at once, unless the reader is backed up; at least the headers. */
  flush(): void {
    this.settle();
    const { pending, sink } = this;
    if (sink === undefined || sink.slow) return;
    this.pending = '';
    this.changes = undefined;
    if (pending !== '') sink.write(pending);
    else sink.start();
  }

  /** Sends what was written in this tick. */
  endTick(): void {
    this.scheduled = false;
    if (this.fresh !== '') this.flush();
  }

  /** Ends the stream, after a last message where there is one. */
  end(frame?: Frame): void {
    if (frame !== undefined) this.send(frame);
    this.over = true;
    if (this.tail === undefined) this.disconnect();
  }

  /** Lets the reader go; it comes back for the rest after a while. Does nothing without a log. */
  pause(retryMs: number): void {
    if (this.log === undefined) return;
    this.write(`retry: ${retryMs}\n\n`);
    this.disconnect();
  }

  /** Shows a quiet connection to be alive; one that is backed up would only have more to take. */
  keepAlive(): void {
    if (this.sink?.backlog === 0 && this.pending === '' && this.fresh === '') this.sink.write(': keep-alive\n\n');
  }

  /**
   * Gives a reader what it has missed and then all that follows.
   * @param after the position that it knows
   * @param open begins its answer
   * @returns false when nothing is known of the stream, or it never came to that position
   */
  async resume(after: number, open: () => Sink): Promise<boolean> {
    const { log } = this;
    if (log === undefined) return false;
    this.settle();
    const tail: StoredEvent[] = (this.tail = []);
    try {
      await this.stored;
      const kept = await log.store.read(this.keyOf(log), after);
      const isKnown = this.over ? kept !== undefined || tail.length > 0 : after <= this.sequence;
      if (!isKnown) return false;
      // the client came back once more: that reader gets it all, and what this one would get had gaps
      if (this.tail !== tail) {
        open().end('');
        return true;
      }
      // what was sent meanwhile comes from the tail
      this.settle();
      this.catchUp([...(kept ?? []), ...tail], after, open());
      return true;
    } finally {
      if (this.tail === tail) this.tail = undefined;
      if (this.over) this.disconnect();
    }
  }

  /** An event on the wire, where it has no position. */
  protected eventText(text: string): string {
    return `data: ${text}\n\n`;
  }

  /** Drops the connection of the reader. */
  protected cutOff(): void {
    this.sink?.destroy();
    this.detach();
  }

  /** Writes with whatever else is written in this tick. */
  protected write(text: string): void {
    if (this.sink === undefined && this.unstored === 0) return;
    this.fresh += text;
    if (this.fresh.length >= FLUSH_SIZE) return this.flush();
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(endTick, this);
  }

  private skips(frame: Frame): boolean {
    const { maxBufferedBytes } = this.settings;
    if (isPassing(frame)) {
      const waiting = this.fresh.length + this.pending.length + (this.sink?.backlog ?? 0);
      return waiting > maxBufferedBytes;
    }
    if (frame.kind !== 'change') return false;
    this.changes ??= new WaitingChanges(maxBufferedBytes);
    return !this.changes.admit(frame);
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

  /** Gives the log what was written in this tick, and has it wait for the reader. */
  private settle(): void {
    const { fresh, unstored: count, log } = this;
    if (fresh === '') return;
    this.fresh = '';
    this.unstored = 0;
    if (this.sink !== undefined) this.pending = this.pending === '' ? fresh : this.pending + fresh;
    if (count > 0 && log !== undefined) {
      // of a slice V8 makes one piece; otherwise it would keep all the pieces that messages are put together from
      this.record({ first: this.sequence - count + 1, count, text: fresh.slice(0, -1) }, log);
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
    this.settle();
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
  }
}
