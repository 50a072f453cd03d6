/** An event of a stream, as stored for a client that reconnects. */
export interface StoredEvent {
  /** Position in the stream, starting at 1. */
  readonly sequence: number;
  /** The JSON-RPC message. */
  readonly frame: string;
}

/** Consecutive events of one stream that were sent together. */
export interface EventBatch {
  /** Position of the first event. */
  readonly first: number;
  /** Number of events. */
  readonly count: number;
  /** The events in wire format. `eventsOf` parses them. */
  readonly text: string;
}

/**
 * Stores the events of streams for clients that lose their connection. Each key names one stream of one session and
 * can't be guessed. Implement this on a shared store to let clients reconnect to another process.
 */
export interface EventStore {
  /** Stores one event. Called in sequence order. */
  append(key: string, event: StoredEvent): void | Promise<void>;
  /** Stores several events at once. If implemented, it is called instead of `append`: a handler may send thousands. */
  appendBatch?(key: string, batch: EventBatch): void | Promise<void>;
  /** Returns the stored events after position `after`, in order, or undefined if the stream is unknown. */
  read(key: string, after: number): readonly StoredEvent[] | undefined | Promise<readonly StoredEvent[] | undefined>;
}

// without the `m` flag: for it U+2028, which is valid inside JSON, starts a new line
const DATA = /(?:^|\n)data: ([^\n]+)/g;

/**
 * Splits a batch into its events.
 * @example eventsOf({ first: 7, count: 1, text: 'data: {"id":1}' }) // [{ sequence: 7, frame: '{"id":1}' }]
 */
export function eventsOf({ first, text }: EventBatch): StoredEvent[] {
  return Array.from(text.matchAll(DATA), ([, frame = ''], index) => ({ sequence: first + index, frame }));
}

const batchOf = ({ sequence, frame }: StoredEvent): EventBatch => ({
  first: sequence,
  count: 1,
  text: `data: ${frame}`,
});

/** Limits of a `MemoryEventStore`. */
export interface MemoryEventStoreOptions {
  /** Cap on the events of all streams together. By default 10,000. */
  readonly maxEvents?: number;
  /** Cap on the size of all streams together, in UTF-16 code units of the wire format. By default 32 Mi. */
  readonly maxSize?: number;
  /** Milliseconds to keep a stream after its last event. By default 5 minutes. */
  readonly maxAgeMs?: number;
}

interface KeptStream {
  readonly key: string;
  /** Not split into events: a few large objects cost less memory than many small ones. */
  readonly batches: EventBatch[];
  events: number;
  size: number;
  touchedAt: number;
}

/** Milliseconds between sweeps for expired streams. */
const TRIM_MS = 1000;

/** Stores events in the memory of this process. At a limit, it evicts the streams that have been quiet for longest. */
export class MemoryEventStore implements EventStore {
  // in eviction order: a stream moves to the end with each event
  private readonly streams = new Map<string, KeptStream>();
  /** The stream at the end of the map. A busy stream is already there and need not be moved for each event. */
  private newest: KeptStream | undefined;
  private readonly maxEvents: number;
  private readonly maxSize: number;
  private readonly maxAgeMs: number;
  private events = 0;
  private size = 0;
  /** Time of the next sweep for expired streams; `read` sweeps too. */
  private nextTrimAt = 0;

  constructor({ maxEvents = 10_000, maxSize = 33_554_432, maxAgeMs = 300_000 }: MemoryEventStoreOptions = {}) {
    this.maxEvents = maxEvents;
    this.maxSize = maxSize;
    this.maxAgeMs = maxAgeMs;
  }

  append(key: string, event: StoredEvent): void {
    this.appendBatch(key, batchOf(event));
  }

  appendBatch(key: string, batch: EventBatch): void {
    const now = Date.now();
    const stream = this.newest?.key === key ? this.newest : this.moveToEnd(key);
    stream.batches.push(batch);
    stream.touchedAt = now;
    this.count(stream, batch, 1);
    if (now >= this.nextTrimAt || this.isFull) this.trim(now);
  }

  read(key: string, after: number): readonly StoredEvent[] | undefined {
    this.trim(Date.now());
    const stream = this.streams.get(key);
    return stream?.batches.flatMap(eventsOf).filter(({ sequence }) => sequence > after);
  }

  private moveToEnd(key: string): KeptStream {
    const kept = this.streams.get(key);
    const stream = kept ?? { key, batches: [], events: 0, size: 0, touchedAt: 0 };
    this.streams.delete(key);
    this.streams.set(key, stream);
    return (this.newest = stream);
  }

  private get isFull(): boolean {
    return this.events > this.maxEvents || this.size > this.maxSize;
  }

  private trim(now: number): void {
    this.nextTrimAt = now + Math.min(this.maxAgeMs, TRIM_MS);
    for (const [key, stream] of this.streams) {
      const full = this.isFull;
      if (!full && now - stream.touchedAt <= this.maxAgeMs) return;
      if (full && this.streams.size === 1) return this.shorten(stream);
      this.streams.delete(key);
      if (stream === this.newest) this.newest = undefined;
      this.events -= stream.events;
      this.size -= stream.size;
    }
  }

  /** Drops the oldest events of a stream that exceeds the limits by itself. */
  private shorten(stream: KeptStream): void {
    while (this.isFull) {
      const oldest = stream.batches.shift();
      if (oldest === undefined) return;
      this.count(stream, oldest, -1);
      if (oldest.count === 1) continue;
      const each = eventsOf(oldest).map(batchOf);
      stream.batches.unshift(...each);
      for (const batch of each) this.count(stream, batch, 1);
    }
  }

  private count(stream: KeptStream, { count, text }: EventBatch, sign: 1 | -1): void {
    stream.events += sign * count;
    stream.size += sign * text.length;
    this.events += sign * count;
    this.size += sign * text.length;
  }
}
