import { type EventLog, toSent } from './event-log.js';
import type { StoredEvent } from './event-store.js';
import type { Sink } from '../endpoint/http-context.js';
import type { SlowReaders } from '../endpoint/slow-readers.js';

/** Number of events to read at a time. */
export const PAGE = 100;

/** Characters per write. */
const WRITE_SIZE = 16_384;

/** Pages of up to this many characters aren't kept while their reader is slow. They are read again later. */
const REREAD_SIZE = 262_144;

/** A stream whose readers may have missed events. */
export interface CatchUpSource {
  /** The position of its last event. Infinite if only the store knows. */
  readonly sequence: number;
  readonly log?: EventLog | undefined;
  /** Reads events from the store. */
  read(after: number, limit: number): Promise<readonly StoredEvent[] | undefined>;
  /** Called when the reader has been sent everything. */
  caughtUp(sink: Sink): void;
}

/**
 * Sends a reader the events that it has missed, as fast as it takes them. While the reader is slow, a page is kept only
 * if it is too expensive to read again.
 */
export class CatchUp {
  private page: readonly StoredEvent[] = [];
  private pageSize = 0;
  /** Index of the next event in `page`. */
  private next = 0;
  private waiting = false;
  private stopped = false;

  /** @param position of the last event that the reader has received */
  constructor(
    private readonly stream: CatchUpSource,
    readonly sink: Sink,
    private position: number,
  ) {}

  /** Sends a page of events, and then all that follow. */
  send(page: readonly StoredEvent[], readers: SlowReaders): void {
    this.page = page.filter(({ sequence }) => sequence > this.position);
    this.pageSize = page.reduce((size, { frame }) => size + frame.length, 0);
    this.next = 0;
    this.pump(readers);
  }

  /** Continues after the reader was slow. */
  drained(readers: SlowReaders): void {
    if (this.waiting) this.pump(readers);
  }

  /** Called when the reader is gone, or no longer gets its events from the store. */
  stop(): void {
    this.stopped = true;
    this.clear();
  }

  private pump(readers: SlowReaders): void {
    const { sink } = this;
    this.waiting = false;
    while (!sink.slow) {
      if (this.stopped || sink.closed) return;
      if (this.next === this.page.length) return void this.readOn(readers);
      sink.write(this.take());
    }
    this.waiting = true;
    if (this.pageSize <= REREAD_SIZE) this.clear();
    readers.note(sink, this.pageSize);
  }

  private take(): string {
    const { page, stream } = this;
    let text = '';
    while (this.next < page.length && text.length < WRITE_SIZE) {
      const { sequence, frame } = page[this.next] as StoredEvent;
      text += `${stream.log?.prefix}${sequence}\ndata: ${frame}`;
      this.position = sequence;
      this.next += 1;
    }
    return toSent(text);
  }

  private clear(): void {
    this.page = [];
    this.pageSize = 0;
    this.next = 0;
  }

  private async readOn(readers: SlowReaders): Promise<void> {
    const { stream, sink, position } = this;
    this.clear();
    if (position >= stream.sequence) return stream.caughtUp(sink);
    try {
      const { sequence } = stream;
      const page = (await stream.read(position, PAGE)) ?? [];
      if (this.stopped) return;
      const isNewer = page.some((event) => event.sequence > position);
      // without newer events, stop here: the store may have lost them
      if (isNewer || stream.sequence > sequence) this.send(page, readers);
      else stream.caughtUp(sink);
    } catch {
      // the error is reported
      sink.destroy();
    }
  }
}
