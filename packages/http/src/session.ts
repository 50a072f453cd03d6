import { randomBytes } from 'node:crypto';

import type { Frame, Kernel, Session, SessionRecord } from '@decorum/core/transport';
import type { Principal } from '@decorum/core';

import type { PendingCallbacks } from './pending-callbacks.js';
import { HttpError } from './http-error.js';
import type { EventStore } from './event-store.js';
import type { KeptSession, SessionStore } from './session-store.js';
import { EventStream, type StreamSettings } from './stream.js';

/** What sessions need of their endpoint. */
export interface SessionSettings {
  readonly streams: StreamSettings;
  /** Where streams are kept for clients that come back; without one they cannot. */
  readonly events: EventStore | false;
  /** Where records are kept for other processes; undefined where sessions live in this one only. */
  readonly sessionStore: SessionStore | undefined;
  /** Sessions at the same time. */
  readonly maxSessions: number;
  /** Milliseconds without a request in flight or an open stream, after which a session ends. */
  readonly sessionIdleMs: number;
  /** Milliseconds between looks for idle sessions. */
  readonly keepAliveMs: number;
  /** Streams of one session, beside those of its requests. */
  readonly maxStreams: number;
  /** Requests that wait for a store. */
  readonly pending: PendingCallbacks;
  /** Takes the errors of the stores. */
  readonly report: (error: unknown) => void;
}

/** What a stream is for: `g` for messages that belong to no request, `p` for those of one POST. */
export type StreamKind = 'g' | 'p';

/** How a session begins: with a client that is about to send `initialize`, or with a record from elsewhere. */
export type SessionOrigin =
  | { readonly id: string; readonly principal: Principal | undefined; readonly shared: boolean }
  | { readonly record: SessionRecord };

/** The live half of a session: its streams, and where to push to. The other half is its record. */
export class HttpSession {
  readonly state: Session;
  /** A request has come since the last look at all sessions. */
  used = true;
  /** Tells which session was used last: the higher one. */
  turn = 0;
  /** Oldest first. Made with the first stream: most sessions never have one. */
  private streams: EventStream[] | undefined;
  private only: EventStream | undefined;

  constructor(
    private readonly kernel: Kernel,
    private readonly settings: SessionSettings,
    origin: SessionOrigin,
  ) {
    const { sessionStore: store } = settings;
    const push = (frame: Frame) => this.push(frame);
    const isKept = store !== undefined && ('record' in origin || origin.shared);
    this.state = kernel.openSession({
      ...origin,
      push,
      ...(isKept && { save: (record: SessionRecord) => store.set(record as KeptSession, ttlOf(settings)) }),
    });
  }

  get id(): string {
    return this.state.record.id as string;
  }

  /** Whether a request is in flight or someone reads. */
  get busy(): boolean {
    if (this.kernel.inFlight.isBusy(this.state)) return true;
    if (this.only?.attached) return this.state.initialized;
    return this.streams?.some(({ kind, attached }) => kind === 'g' && attached) === true;
  }

  /**
   * Begins a stream.
   * @throws {HttpError} 429
   */
  openStream(kind: StreamKind): EventStream {
    if (kind === 'g') this.makeRoom();
    const stream = this.streamOf(kind + streamId());
    // nearly all have one: an array that is pushed to has room for many
    if (this.streams === undefined) this.streams = [stream];
    else this.streams.push(stream);
    return stream;
  }

  /**
   * The stream that a client comes back to. That of a request which has ended can only be read again.
   * @param id as in the ids of its events
   */
  lostStream(id: string): EventStream {
    const running = this.streams?.find((stream) => stream.log?.id === id);
    if (running !== undefined) return running;
    const ended = this.streamOf(id);
    ended.end();
    return ended;
  }

  /** Has everything on one stream, which lasts as long as the session. */
  bind(stream: EventStream): void {
    this.only = stream;
  }

  /** Forgets a stream. */
  closeStream(stream: EventStream): void {
    const at = this.streams?.indexOf(stream) ?? -1;
    if (at !== -1) this.streams?.splice(at, 1);
  }

  /** Ends the streams that belong to no request. */
  hangUp(): void {
    for (const stream of this.listening()) {
      stream.end();
      this.closeStream(stream);
    }
  }

  /** Ends all streams but those of requests, which end with the answer to their request. */
  close(): void {
    this.only?.end();
    this.hangUp();
  }

  private listening(): EventStream[] {
    return this.streams?.filter(({ kind }) => kind === 'g') ?? [];
  }

  private streamOf(id: string): EventStream {
    const { events: store, streams, report } = this.settings;
    const kind = id.startsWith('g') ? 'g' : 'p';
    const primes = this.state.revision.primesStreams;
    return new EventStream(streams, kind, store ? { id, session: this.id, store, primes, report } : undefined);
  }

  /** A message that belongs to no request goes to one reader, or waits for the one who was there last. */
  private push(frame: Frame): void {
    let target = this.only;
    for (const stream of this.streams ?? []) {
      if (stream.kind !== 'g') continue;
      target = stream;
      if (stream.attached) break;
    }
    target?.send(frame);
  }

  private makeRoom(): void {
    const { maxStreams } = this.settings;
    const listening = this.listening();
    let count = listening.length;
    for (const stream of listening) {
      if (count < maxStreams) return;
      if (stream.attached) continue;
      this.closeStream(stream);
      count -= 1;
    }
    if (count >= maxStreams) throw new HttpError(429, 'The session has too many open streams.');
  }
}

/** Milliseconds that a store keeps a record: it hears of the use of sessions only when idle ones are looked for. */
export function ttlOf({ sessionIdleMs, keepAliveMs }: SessionSettings): number {
  return sessionIdleMs + 2 * keepAliveMs;
}

const ID_BYTES = 12;
let random = Buffer.alloc(0);
let at = 0;

/** 96 random bits. Drawn for many streams at once, because each draw costs more than the bytes. */
function streamId(): string {
  if (at === random.length) {
    random = randomBytes(128 * ID_BYTES);
    at = 0;
  }
  return random.toString('base64url', at, (at += ID_BYTES));
}
