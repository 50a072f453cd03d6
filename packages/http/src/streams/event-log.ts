import { isPromise } from '@decorum/core/internal';

import { failureOf, type Report } from '../sessions/store-calls.js';
import { type EventBatch, type EventStore, eventsOf, type StoredEvent } from './event-store.js';

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
  /** Whether the client supports events without data. */
  readonly primes: boolean;
  /** Reports errors from the store. */
  readonly report: Report;
}

/** The stored events of one stream. */
export class EventLog {
  /** Key of the stream in the store. Created on demand, because most streams send nothing. */
  private key: string | undefined;
  /** See `LoggedSession`. */
  readonly sessionKey: string;
  private start: string | undefined;
  /** Settles when the last event is stored. */
  private stored: Promise<void> | undefined;

  /** @param id unique within the session, and valid as part of an event id */
  constructor(
    readonly id: string,
    private readonly session: LoggedSession,
    private readonly store: EventStore,
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
    // `join` makes a flat string; V8 would keep a concatenated one as a tree, which is slower to send
    return (this.start ??= [BLANK_LINE, 'id: ', this.id, '-'].join(''));
  }

  /** An event without data, which tells a client its position. */
  primingEvent(position: number): string {
    return `${this.prefix}${position}\ndata: `;
  }

  append(batch: EventBatch): void {
    const { store } = this;
    const key = this.storeKey;
    if (store.appendBatch) return this.keep('events.appendBatch', () => store.appendBatch?.(key, batch));
    for (const event of eventsOf(batch)) this.keep('events.append', () => store.append(key, event));
  }

  /** Reads events after a position, including all that have been appended. Returns undefined for an unknown stream. */
  async read(after: number, limit: number): Promise<readonly StoredEvent[] | undefined> {
    await this.stored;
    return await this.store.read(this.storeKey, after, limit);
  }

  /** Reports an error of `read`. */
  report(error: unknown): void {
    this.session.report(error, failureOf('events.read'));
  }

  private get storeKey(): string {
    return (this.key ??= `${this.sessionKey}/${this.id}`);
  }

  private keep(name: string, append: () => ReturnType<EventStore['append']>): void {
    const report = (error: unknown) => this.session.report(error, failureOf(name));
    try {
      const stored = append();
      if (isPromise(stored)) this.stored = stored.then(() => {}, report);
    } catch (error) {
      report(error);
    }
  }
}
