/** An event of a stream, as it is kept for a client that comes back. */
export interface StoredEvent {
  /** Position in its stream, from 1. */
  readonly sequence: number;
  /** The JSON-RPC message. */
  readonly frame: string;
}

/**
 * Keeps the events of streams for clients that lose their connection. Keys name one stream of one session and cannot
 * be guessed. Implement it over a shared store so that clients can come back to another process.
 */
export interface EventStore {
  /** Keeps an event. Called in the order of the sequence. */
  append(key: string, event: StoredEvent): void | Promise<void>;
  /** The kept events after a position, in order; undefined when nothing is known of the stream. */
  read(key: string, after: number): readonly StoredEvent[] | undefined | Promise<readonly StoredEvent[] | undefined>;
}

/** How much a `MemoryEventStore` keeps. */
export interface MemoryEventStoreOptions {
  /** Of all streams together. By default 10,000. */
  readonly maxEvents?: number;
  /** Of all streams together, as UTF-16 code units of the messages. By default 32 Mi. */
  readonly maxSize?: number;
  /** Milliseconds after the last event of a stream. By default 5 minutes. */
  readonly maxAgeMs?: number;
}

interface KeptStream {
  readonly events: StoredEvent[];
  size: number;
  touchedAt: number;
}

/** Keeps events in this process. At a limit, the streams that have been quiet for longest go first. */
export class MemoryEventStore implements EventStore {
  // quietest first: a stream moves to the end with each event
  private readonly streams = new Map<string, KeptStream>();
  private readonly maxEvents: number;
  private readonly maxSize: number;
  private readonly maxAgeMs: number;
  private events = 0;
  private size = 0;

  constructor({ maxEvents = 10_000, maxSize = 33_554_432, maxAgeMs = 300_000 }: MemoryEventStoreOptions = {}) {
    this.maxEvents = maxEvents;
    this.maxSize = maxSize;
    this.maxAgeMs = maxAgeMs;
  }

  append(key: string, event: StoredEvent): void {
    const now = Date.now();
    const stream = this.streams.get(key) ?? { events: [], size: 0, touchedAt: now };
    stream.events.push(event);
    stream.size += event.frame.length;
    stream.touchedAt = now;
    this.streams.delete(key);
    this.streams.set(key, stream);
    this.events += 1;
    this.size += event.frame.length;
    this.trim(now);
  }

  read(key: string, after: number): readonly StoredEvent[] | undefined {
    this.trim(Date.now());
    return this.streams.get(key)?.events.filter(({ sequence }) => sequence > after);
  }

  private trim(now: number): void {
    for (const [key, stream] of this.streams) {
      const full = this.events > this.maxEvents || this.size > this.maxSize;
      if (!full && now - stream.touchedAt <= this.maxAgeMs) return;
      if (full && this.streams.size === 1) return this.shorten(stream);
      this.streams.delete(key);
      this.events -= stream.events.length;
      this.size -= stream.size;
    }
  }

  /** The only stream is too long by itself: its oldest events go. */
  private shorten(stream: KeptStream): void {
    while (this.events > this.maxEvents || this.size > this.maxSize) {
      const length = stream.events.shift()?.frame.length ?? 0;
      stream.size -= length;
      this.size -= length;
      this.events -= 1;
    }
  }
}
