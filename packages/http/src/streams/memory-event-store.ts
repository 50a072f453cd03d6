import { type OptionTypes, requireOptions } from '@decorum/core/plugin';

import { batchOf, type EventBatch, type EventStore, eventsOf, type StoredEvent } from './event-store.js';

/** Limits of a `MemoryEventStore`. */
export interface MemoryEventStoreOptions {
  /** Cap on the events of all streams together. By default 10,000. */
  readonly maxEvents?: number;
  /** Cap on the size of all streams together, in UTF-16 code units of the wire format. By default 32 Mi. */
  readonly maxSize?: number;
  /** Milliseconds to keep a stream after its last event. By default 5 minutes. */
  readonly maxAgeMs?: number;
}

const OPTIONS: OptionTypes<MemoryEventStoreOptions> = {
  maxEvents: [1, Number.MAX_SAFE_INTEGER],
  maxSize: [1, Number.MAX_SAFE_INTEGER],
  maxAgeMs: [1, Number.MAX_SAFE_INTEGER],
};

/** Number and size of events. */
interface Amount {
  events: number;
  size: number;
}

interface KeptStream extends Amount {
  readonly key: string;
  readonly session: KeptSession;
  /** Not split into events: a few large objects cost less memory than many small ones. */
  readonly batches: EventBatch[];
  touchedAt: number;
}

interface KeptSession extends Amount {
  readonly id: string;
  /** In eviction order: a stream moves to the end with each event. */
  readonly streams: Map<string, KeptStream>;
  /** Increases by one when the amount doubles. */
  rank: number;
}

/** Milliseconds between sweeps for expired streams. */
const TRIM_MS = 1000;

/** The session that a key belongs to. */
const sessionOf = (key: string): string => key.slice(0, Math.max(0, key.lastIndexOf('/')));

/** The first entry of a map, which is the oldest. */
const oldestOf = <T>(map: ReadonlyMap<string, T>): T | undefined => map.values().next().value;

/**
 * Stores events in the memory of this process. At a limit, the session that has just stored an event loses its oldest
 * events. If another session holds clearly more, that session loses events instead. So no session can push out the
 * events of a smaller one.
 * @example
 * ```ts
 * await listen(server, { port: 3000, events: new MemoryEventStore({ maxAgeMs: 60_000 }) });
 * ```
 */
export class MemoryEventStore implements EventStore {
  // in order of their last event
  private readonly sessions = new Map<string, KeptSession>();
  /** The sessions by rank. Within a rank, the sessions that have had it for longest come first. */
  private readonly ranks: Map<string, KeptSession>[] = Array.from({ length: 33 }, () => new Map());
  /** The stream of the last event. Saves moving a busy stream for each event. */
  private newest: KeptStream | undefined;
  private readonly maxEvents: number;
  private readonly maxSize: number;
  private readonly maxAgeMs: number;
  private readonly total: Amount = { events: 0, size: 0 };
  /** Time of the next sweep for expired streams; `read` sweeps too. */
  private nextTrimAt = 0;

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
  constructor(options: MemoryEventStoreOptions = {}) {
    requireOptions('MemoryEventStore', options, OPTIONS);
    const { maxEvents = 10_000, maxSize = 33_554_432, maxAgeMs = 300_000 } = options;
    this.maxEvents = maxEvents;
    this.maxSize = maxSize;
    this.maxAgeMs = maxAgeMs;
  }

  append(key: string, event: StoredEvent): boolean {
    return this.appendBatch(key, batchOf(event));
  }

  appendBatch(key: string, batch: EventBatch): boolean {
    const now = Date.now();
    const last = this.streamOf(key)?.batches.at(-1);
    if (last !== undefined && batch.first < last.first + last.count) return false;
    const stream = this.newest?.key === key ? this.newest : this.moveToEnd(key, now);
    stream.batches.push(batch);
    stream.touchedAt = now;
    this.count(stream, batch, 1);
    if (now >= this.nextTrimAt) this.trim(now);
    while (this.isFull) this.evict(stream.session);
    return true;
  }

  read(key: string, after: number, limit = Number.POSITIVE_INFINITY): readonly StoredEvent[] | undefined {
    this.trim(Date.now());
    const batches = this.streamOf(key)?.batches;
    if (batches === undefined) return undefined;
    const found: StoredEvent[] = [];
    // returns whole batches, because a batch can only be split as a whole
    for (let at = indexAfter(batches, after); at < batches.length && found.length < limit; at += 1) {
      for (const event of eventsOf(batches[at] as EventBatch)) if (event.sequence > after) found.push(event);
    }
    return found;
  }

  private streamOf(key: string): KeptStream | undefined {
    return this.newest?.key === key ? this.newest : this.sessions.get(sessionOf(key))?.streams.get(key);
  }

  private moveToEnd(key: string, now: number): KeptStream {
    const id = sessionOf(key);
    for (const old of this.sessions.get(id)?.streams.values() ?? []) {
      if (!this.isExpired(old, now)) break;
      this.drop(old);
    }
    const session = this.sessions.get(id) ?? {
      id,
      streams: new Map<string, KeptStream>(),
      events: 0,
      size: 0,
      rank: 0,
    };
    this.sessions.delete(id);
    this.sessions.set(id, session);
    const { streams } = session;
    const stream = streams.get(key) ?? { key, session, batches: [], events: 0, size: 0, touchedAt: now };
    streams.delete(key);
    streams.set(key, stream);
    return (this.newest = stream);
  }

  private get isFull(): boolean {
    return this.total.events > this.maxEvents || this.total.size > this.maxSize;
  }

  private isExpired({ touchedAt }: KeptStream, now: number): boolean {
    return now - touchedAt > this.maxAgeMs;
  }

  private trim(now: number): void {
    this.nextTrimAt = now + Math.min(this.maxAgeMs, TRIM_MS);
    for (const { streams } of this.sessions.values()) {
      for (const stream of streams.values()) {
        if (!this.isExpired(stream, now)) break;
        this.drop(stream);
      }
      if (streams.size > 0) return;
    }
  }

  /** Makes some room, at the expense of a session with a higher rank than `writer`, or else of `writer` itself. */
  private evict(writer: KeptSession): void {
    const largest = this.ranks.findLast(({ size }) => size > 0) ?? new Map<string, KeptSession>();
    const { streams } = largest.has(writer.id) ? writer : (oldestOf(largest) ?? writer);
    const stream = oldestOf(streams) as KeptStream;
    if (streams.size > 1) this.drop(stream);
    else this.shorten(stream);
  }

  /** Drops the oldest batch of a stream, or the oldest event of the last batch. */
  private shorten(stream: KeptStream): void {
    const { batches } = stream;
    const oldest = batches.shift() as EventBatch;
    this.count(stream, oldest, -1);
    if (batches.length > 0) return;
    const [, ...rest] = eventsOf(oldest).map(batchOf);
    if (rest.length === 0) return this.drop(stream);
    batches.push(...rest);
    for (const batch of rest) this.count(stream, batch, 1);
  }

  private drop(stream: KeptStream): void {
    const { key, session, events, size } = stream;
    session.streams.delete(key);
    if (stream === this.newest) this.newest = undefined;
    this.add(session, -events, -size);
    if (session.streams.size > 0) return;
    this.sessions.delete(session.id);
    this.ranks[session.rank]?.delete(session.id);
  }

  private count(stream: KeptStream, { count, text }: EventBatch, sign: 1 | -1): void {
    stream.events += sign * count;
    stream.size += sign * text.length;
    this.add(stream.session, sign * count, sign * text.length);
  }

  private add(session: KeptSession, events: number, size: number): void {
    session.events += events;
    session.size += size;
    this.total.events += events;
    this.total.size += size;
    const share = Math.min(1, session.size / this.maxSize) + Math.min(1, session.events / this.maxEvents);
    const rank = 32 - Math.clz32(share * 0x1000_0000);
    if (rank === session.rank && this.ranks[rank]?.has(session.id)) return;
    this.ranks[session.rank]?.delete(session.id);
    this.ranks[rank]?.set(session.id, session);
    session.rank = rank;
  }
}

/** Index of the first batch with an event after a position. */
function indexAfter(batches: readonly EventBatch[], position: number): number {
  let [low, high] = [0, batches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { first, count } = batches[middle] as EventBatch;
    if (first + count - 1 > position) high = middle;
    else low = middle + 1;
  }
  return low;
}
