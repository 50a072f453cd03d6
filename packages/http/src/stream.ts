import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

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
  /** Bytes that may wait for a slow reader before notifications to it are dropped. */
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

/** How `protocol/jsonrpc.ts` begins a notification: what has no id has its method here. */
const NOTIFICATION = '{"jsonrpc":"2.0","method":';

/** Whether a frame is a notification, which may get lost. */
export function isNotification(frame: string): boolean {
  return frame.startsWith(NOTIFICATION);
}

const ignore = () => {};

/**
 * Messages for a client in order, as server-sent events (https://html.spec.whatwg.org/#server-sent-events), and the
 * connection that reads them, which may be gone for a while where the stream has a log.
 */
export class EventStream {
  private response: ServerResponse | undefined;
  private pending = '';
  private scheduled = false;
  private over = false;
  private sequence = 0;
  /** Settles when the store has the last event. */
  private stored: Promise<void> | undefined;
  /** Events that are sent while the store is being read. */
  private tail: StoredEvent[] | undefined;

  constructor(
    private readonly settings: StreamSettings,
    readonly log?: StreamLog,
  ) {}

  /** Whether someone reads. */
  get attached(): boolean {
    return this.response !== undefined;
  }

  /** Gives the stream a reader, in place of the one it has. */
  attach(response: ServerResponse): void {
    this.response?.end();
    this.response = response;
    this.pending = '';
    this.settings.open.add(this);
    response.on('error', ignore);
    response.once('close', () => {
      if (this.response === response) this.detach();
    });
    if (response.destroyed) this.detach();
  }

  /** Tells the reader where it is, so that it can come back even if nothing else reaches it. Where it can take that. */
  prime(position = 0): void {
    if (this.log?.primes) this.write(`id: ${this.log.id}-${position}\ndata: \n\n`);
  }

  /** Sends a message. Notifications are dropped while the reader is too slow. */
  send(frame: string): void {
    if (this.over) return;
    const { response } = this;
    if (response !== undefined && isNotification(frame)) {
      const waiting = this.pending.length + response.writableLength;
      if (waiting > this.settings.maxBufferedBytes) return;
    }
    this.sequence += 1;
    const event = { sequence: this.sequence, frame };
    this.record(event);
    this.tail?.push(event);
    this.write(this.text(event));
  }

  /** Sends what is waiting at once. */
  flush(): void {
    const { pending, response } = this;
    this.pending = '';
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

  /** Shows a quiet connection to be alive. */
  keepAlive(): void {
    if (this.response?.writableLength === 0 && this.pending === '') this.response.write(': keep-alive\n\n');
  }

  /**
   * Gives a reader what it has missed and then all that follows.
   * @param after the position that it knows
   * @param open begins its answer
   * @returns false when nothing is known of the stream
   */
  async resume(after: number, open: () => ServerResponse): Promise<boolean> {
    const { log } = this;
    if (log === undefined) return false;
    const tail: StoredEvent[] = (this.tail = []);
    try {
      await this.stored;
      const kept = await log.store.read(log.key, after);
      if (kept === undefined && this.over && tail.length === 0) return false;
      this.catchUp([...(kept ?? []), ...tail], after, open());
      return true;
    } finally {
      if (this.tail === tail) this.tail = undefined;
      if (this.over) this.disconnect();
    }
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
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      if (this.pending !== '') this.flush();
    });
  }

  private disconnect(): void {
    const { response, pending } = this;
    this.detach();
    response?.end(pending);
  }

  private detach(): void {
    this.response = undefined;
    this.pending = '';
    this.settings.open.delete(this);
  }
}
