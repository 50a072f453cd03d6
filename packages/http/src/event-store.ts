/** An event of a stream, as it is kept for a client that comes back. */
export interface StoredEvent {
  /** Position in its stream, from 1. */
  readonly sequence: number;
  /** The JSON-RPC message. */
  readonly frame: string;
}

/** Events of one stream that were sent together. */
export interface EventBatch {
  /** Position of the first one; the others follow without a gap. */
  readonly first: number;
  /** How many there are. */
  readonly count: number;
  /** The events as they were sent: `eventsOf` takes them apart. */
  readonly text: string;
}

/**
 * Keeps the events of streams for clients that lose their connection. Keys name one stream of one session and cannot
 * be guessed. Implement it over a shared store so that clients can come back to another process.
 */
export interface EventStore {
  /** Keeps an event. Called in the order of the sequence. */
  append(key: string, event: StoredEvent): void | Promise<void>;
  /** Keeps several events at once. Called in place of `append`, where a store has it: a handler may send thousands. */
  appendBatch?(key: string, batch: EventBatch): void | Promise<void>;
  /** The kept events after a position, in order; undefined when nothing is known of the stream. */
  read(key: string, after: number): readonly StoredEvent[] | undefined | Promise<readonly StoredEvent[] | undefined>;
}

// not by lines as `m` sees them: JSON may have U+2028, which begins one
const DATA = /(?:^|\n)data: ([^\n]+)/g;

/**
 * The events of a batch, each by itself.
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

/** How much a `MemoryEventStore` keeps. */
export interface MemoryEventStoreOptions {
  /** Of all streams together. By default 10,000. */
  readonly maxEvents?: number;
  /** Of all streams together, as UTF-16 code units of the events as they are sent. By default 32 Mi. */
  readonly maxSize?: number;
  /** Milliseconds after the last event of a stream. By default 5 minutes. */
  readonly maxAgeMs?: number;
}

interface KeptStream {
  readonly key: string;
  /** As they came: a few large things are easier to keep than many small ones. */
  readonly batches: EventBatch[];
  events: number;
  size: number;
  touchedAt: number;
}

/** Milliseconds between looks for streams that have been quiet for too long. */
const TRIM_MS = 1000;

/** Keeps events in this process. At a limit, the streams that have been quiet for longest go first. */
export class MemoryEventStore implements EventStore {
  // quietest first: a stream moves to the end with each event
  private readonly streams = new Map<string, KeptStream>();
  /** The one at the end: a stream that sends a lot need not be moved for each event. */
  private newest: KeptStream | undefined;
  private readonly maxEvents: number;
  private readonly maxSize: number;
  private readonly maxAgeMs: number;
  private events = 0;
  private size = 0;
  /** When to look for streams that have been quiet for too long, unless somebody reads before. */
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

  /** The only stream is too long by itself: its oldest events go. */
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
