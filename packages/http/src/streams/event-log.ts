import { isPromise } from '@decorum/core/internal';

import type { StoreCalls } from '../sessions/store-calls.js';
import { batchOf, type EventBatch, type EventStore, eventsOf, type StoredEvent } from './event-store.js';

/** Ends an event. Events are built with the end of the previous one in front, which creates fewer string pieces. */
export const BLANK_LINE = '\n\n';

/**
 * Events as they are sent.
 * @param events each with a blank line in front
 */
export function toSent(events: string): string {
  // `slice` makes a flat string; otherwise V8 would keep every part that the messages were concatenated from
  return (events + BLANK_LINE).slice(BLANK_LINE.length);
}

/** The parts of a session that its stored streams share. */
export interface LoggedSession {
  /** The first half of the keys of its streams. Another one once its caller has changed. */
  readonly logKey: string;
  /** Whether other processes may serve it, or a principal has adopted it: its client may know streams of before. */
  readonly mayHaveMoved: boolean;
  /** Whether other processes may serve it. */
  readonly isShared: boolean;
  /** Identifies this process in the ids of events; undefined if no other process can be asked for a stream. */
  readonly node: string | undefined;
  /** Whether the client supports events without data. */
  readonly primes: boolean;
}

/** Where the streams of an endpoint are stored. */
export interface LogParts {
  readonly store: EventStore;
  /** Calls that requests wait for. */
  readonly stores: StoreCalls;
  /** Calls that nobody waits for. They have a cap of their own. */
  readonly appends: StoreCalls;
  /** The process that sends the events; by default this one. */
  readonly node?: string | undefined;
}

/** The stored events of one stream. */
export class EventLog {
  /** Called with events that weren't stored, because another process has stored others at their position. */
  onConflict: ((batch: EventBatch) => void) | undefined;
  /** Key of the stream in the store. Created on demand, because most streams send nothing. */
  private key: string | undefined;
  /** See `LoggedSession`. */
  readonly sessionKey: string;
  private start: string | undefined;
  /** Settles when all events are stored; undefined if they are. */
  private storing: Promise<unknown> | undefined;

  /** @param id unique within the session, and valid as part of an event id */
  constructor(
    readonly id: string,
    private readonly session: LoggedSession,
    private readonly parts: LogParts,
  ) {
    this.sessionKey = session.logKey;
  }

  /** Whether the client supports events without data. */
  get primes(): boolean {
    return this.session.primes;
  }

  /** Whether the client may know this stream even if the store doesn't. A stream that has sent nothing isn't stored. */
  mayBeUnknown(after: number): boolean {
    const { mayHaveMoved, isShared } = this.session;
    return this.id.startsWith('g') ? mayHaveMoved : isShared && after === 0;
  }

  /** Start of each event, up to its position. */
  get prefix(): string {
    const { id } = this;
    const { node = this.session.node } = this.parts;
    // `join` makes a flat string; V8 would keep a concatenated one as a tree, which is slower to send
    return (this.start ??= [BLANK_LINE, 'id: ', id, ...(node === undefined ? [] : ['.', node]), '-'].join(''));
  }

  /** An event without data, which tells a client its position. */
  primingEvent(position: number): string {
    return `${this.prefix}${position}\ndata: `;
  }

  /** Settles when all events are stored, or won't be; undefined if none is on its way. */
  get stored(): Promise<unknown> | undefined {
    return this.storing;
  }

  append(batch: EventBatch): void {
    const { store } = this.parts;
    const key = this.storeKey;
    if (store.appendBatch) return this.keep('events.appendBatch', batch, () => store.appendBatch?.(key, batch));
    for (const event of eventsOf(batch)) this.keep('events.append', batchOf(event), () => store.append(key, event));
  }

  /**
   * Reads events after a position, including all that have been appended. Returns undefined for an unknown stream.
   * @throws {HttpError} 503 if the store fails
   */
  async read(after: number, limit: number): Promise<readonly StoredEvent[] | undefined> {
    const { store, stores } = this.parts;
    await this.storing;
    return await stores.run('events.read', () => store.read(this.storeKey, after, limit));
  }

  private get storeKey(): string {
    return (this.key ??= `${this.sessionKey}/${this.id}`);
  }

  private keep(name: string, batch: EventBatch, append: () => ReturnType<EventStore['append']>): void {
    const check = (isStored: boolean | void) => void (isStored === false && this.onConflict?.(batch));
    try {
      const stored = this.parts.appends.run(name, append);
      if (isPromise(stored)) void this.wait(stored.then(check, () => {}));
      else check(stored);
    } catch {
      // the error is reported
    }
  }

  private async wait(stored: Promise<void>): Promise<void> {
    const { storing } = this;
    const all = storing === undefined ? stored : Promise.all([storing, stored]);
    this.storing = all;
    await all;
    if (this.storing === all) this.storing = undefined;
  }
}
