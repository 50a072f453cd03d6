import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

import { kindOf, WaitingChanges } from '@decorum/core/transport';

import type { EventStore, StoredEvent } from './replay.js';

/** Headers of every event stream; proxies must neither keep nor buffer nor rewrite it. */
export const STREAM_HEADERS: OutgoingHttpHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** What all streams of an endpoint share. */
export interface StreamSettings {
  /** The streams that have a reader. */
  readonly open: Set<EventStream>;
  /** The answers that have ended, of which readers may not have taken all yet. */
  readonly ending: Set<ServerResponse>;
  /** Bytes that may wait for a slow reader before progress and log messages are dropped; changes have as much again. */
  readonly maxBufferedBytes: number;
}

/** How a stream is known to a client that comes back. */
export interface StreamLog {
  /** Unique within the session, of characters that may stand in an event id. */
  readonly id: string;
  readonly key: string;
  readonly store: EventStore;
  /** Whether the client can take an event without data. */
  readonly primes: boolean;
  /** Takes the errors of the store. */
  readonly report: (error: unknown) => void;
}

/** Text that is written at once and not at the end of the tick. */
const FLUSH_SIZE = 65_536;

const ignore = () => {};

/**
 * Messages for a client in order, as server-sent events (https://html.spec.whatwg.org/#server-sent-events), and the
 * connection that reads them, which may be gone for a while where the stream has a log. What a reader that is backed up
 * has not taken waits here, where a change that waits already is not kept twice.
 */
export class EventStream {
  private response: ServerResponse | undefined;
  protected pending = '';
  private scheduled = false;
  private over = false;
  private sequence = 0;
  /** Settles when the store has the last event. */
  private stored: Promise<void> | undefined;
  /** Events that are sent while the store is being read. */
  private tail: StoredEvent[] | undefined;
  /** Of what is pending, the changes that came since the reader is backed up. */
  private changes: WaitingChanges | undefined;

  constructor(
    protected readonly settings: StreamSettings,
    readonly log?: StreamLog,
  ) {}

  /** Whether someone reads. */
  get attached(): boolean {
    return this.response !== undefined;
  }

  /** Bytes that the reader has not taken, about. */
  protected get waiting(): number {
    return this.pending.length + (this.response?.writableLength ?? 0);
  }

  /** Drops the connection of the reader. */
  protected cutOff(): void {
    this.response?.destroy();
    this.detach();
  }

  /** Gives the stream a reader, in place of the one it has. */
  attach(response: ServerResponse): void {
    this.response?.end();
    this.response = response;
    this.pending = '';
    this.changes = undefined;
    this.settings.open.add(this);
    response.on('error', ignore);
    response.on('drain', () => {
      if (this.response === response && this.pending !== '') this.flush();
    });
    response.once('close', () => {
      this.settings.ending.delete(response);
      if (this.response === response) this.detach();
    });
    if (response.destroyed) this.detach();
  }

  /** Tells the reader where it is, so that it can come back even if nothing else reaches it. Where it can take that. */
  prime(position = 0): void {
    if (this.log?.primes) this.write(`id: ${this.log.id}-${position}\ndata: \n\n`);
  }

  /** Sends a message, unless the reader is slow and can do without it. */
  send(frame: string): void {
    if (this.over || (this.response?.writableNeedDrain && this.skips(frame))) return;
    this.sequence += 1;
    const event = { sequence: this.sequence, frame };
    this.record(event);
    this.tail?.push(event);
    this.write(this.text(event));
  }

  /** Sends what is waiting at once, unless the reader is backed up. */
  flush(): void {
    const { pending, response } = this;
    if (response?.writableNeedDrain) return;
    this.pending = '';
    this.changes = undefined;
    if (pending !== '') response?.write(pending);
    else response?.flushHeaders();
  }

  /** Ends the stream, after a last message where there is one. */
  end(frame?: string): void {
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
    if (this.response?.writableLength === 0 && this.pending === '') this.response.write(': keep-alive\n\n');
  }

  /**
   * Gives a reader what it has missed and then all that follows.
   * @param after the position that it knows
   * @param open begins its answer
   * @returns false when nothing is known of the stream, or it never came to that position
   */
  async resume(after: number, open: () => ServerResponse): Promise<boolean> {
    const { log } = this;
    if (log === undefined) return false;
    const tail: StoredEvent[] = (this.tail = []);
    try {
      await this.stored;
      const kept = await log.store.read(log.key, after);
      const isKnown = this.over ? kept !== undefined || tail.length > 0 : after <= this.sequence;
      if (!isKnown) return false;
      this.catchUp([...(kept ?? []), ...tail], after, open());
      return true;
    } finally {
      if (this.tail === tail) this.tail = undefined;
      if (this.over) this.disconnect();
    }
  }

  private skips(frame: string): boolean {
    const { maxBufferedBytes } = this.settings;
    const kind = kindOf(frame);
    if (kind !== 'change') return kind === 'step' && this.waiting > maxBufferedBytes;
    this.changes ??= new WaitingChanges(maxBufferedBytes);
    return !this.changes.admit(frame);
  }

  private catchUp(events: readonly StoredEvent[], after: number, response: ServerResponse): void {
    let last = after;
    this.attach(response);
    this.prime(after);
    for (const event of events) {
      if (event.sequence > last) this.write(this.text(event));
      last = Math.max(last, event.sequence);
    }
    this.sequence = Math.max(this.sequence, last);
    this.flush();
  }

  /** An event on the wire. */
  protected text({ sequence, frame }: StoredEvent): string {
    return this.log ? `id: ${this.log.id}-${sequence}\ndata: ${frame}\n\n` : `data: ${frame}\n\n`;
  }

  private record(event: StoredEvent): void {
    if (this.log === undefined) return;
    const { key, store, report } = this.log;
    try {
      const stored = store.append(key, event);
      if (stored) this.stored = stored.catch(report);
    } catch (error) {
      report(error);
    }
  }

  /** Writes with whatever else is written in this tick. */
  protected write(text: string): void {
    if (this.response === undefined) return;
    this.pending += text;
    if (this.pending.length >= FLUSH_SIZE) return this.flush();
    if (this.scheduled || this.response.writableNeedDrain) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      if (this.pending !== '') this.flush();
    });
  }

  private disconnect(): void {
    const { response, pending } = this;
    this.detach();
    if (response === undefined) return;
    if (!response.destroyed) this.settings.ending.add(response);
    response.end(pending);
  }

  private detach(): void {
    this.response = undefined;
    this.pending = '';
    this.settings.open.delete(this);
  }
}
