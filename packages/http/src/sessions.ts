import { randomBytes, randomUUID } from 'node:crypto';

import type { Principal } from '@decorum/core';
import type { Kernel, Session } from '@decorum/core/transport';

import { Refusal } from './refusal.js';
import type { EventStore } from './replay.js';
import { EventStream, type StreamSettings } from './stream.js';

/** What sessions need of their endpoint. */
export interface SessionSettings {
  readonly streams: StreamSettings;
  /** Where streams are kept for clients that come back; without one they cannot. */
  readonly events: EventStore | false;
  /** Sessions at the same time. */
  readonly maxSessions: number;
  /** Milliseconds without a request under way or an open stream, after which a session ends. */
  readonly sessionIdleMs: number;
  /** Streams of one session, beside those of its requests. */
  readonly maxStreams: number;
  /** Takes the errors of the store. */
  readonly report: (error: unknown) => void;
}

/** What a stream is for: `g` for messages that belong to no request, `p` for those of one POST. */
export type StreamKind = 'g' | 'p';

/** A session and its streams. */
export class HttpSession {
  readonly id = randomUUID();
  readonly state: Session;
  usedAt = Date.now();
  private readonly streams = new Map<string, EventStream>();
  /** Those among the streams that belong to no request, oldest first. */
  private readonly listening = new Set<EventStream>();
  private only: EventStream | undefined;

  constructor(
    kernel: Kernel,
    readonly principal: Principal | undefined,
    private readonly settings: SessionSettings,
  ) {
    this.state = kernel.openSession({ id: this.id, principal, push: (frame) => this.push(frame) });
  }

  /** Whether a request is under way or someone reads. */
  get busy(): boolean {
    if (this.state.calls.size > 0) return true;
    if (this.only?.attached) return this.state.initialized;
    for (const { attached } of this.listening) if (attached) return true;
    return false;
  }

  /**
   * Begins a stream.
   * @throws {Refusal} 429
   */
  openStream(kind: StreamKind, id = kind + randomBytes(12).toString('base64url')): EventStream {
    if (kind === 'g') this.makeRoom();
    const stream = this.streamOf(id);
    this.streams.set(id, stream);
    if (kind === 'g') this.listening.add(stream);
    return stream;
  }

  /**
   * The stream that a client comes back to. That of a request which has ended can only be read again.
   * @param id as in the ids of its events
   */
  lostStream(id: string): EventStream {
    const running = this.streams.get(id);
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
    this.listening.delete(stream);
    for (const [id, known] of this.streams) if (known === stream) this.streams.delete(id);
  }

  /** Ends the streams that belong to no request. */
  hangUp(): void {
    for (const stream of this.listening) {
      stream.end();
      this.closeStream(stream);
    }
  }

  /** Ends all streams. */
  close(): void {
    this.only?.end();
    for (const stream of this.streams.values()) stream.end();
    this.streams.clear();
    this.listening.clear();
  }

  private streamOf(id: string): EventStream {
    const { events: store, streams, report } = this.settings;
    const primes = this.state.revision.primesStreams;
    return new EventStream(streams, store ? { id, key: `${this.id}/${id}`, store, primes, report } : undefined);
  }

  /** A message that belongs to no request goes to one reader, or waits for the one who was there last. */
  private push(frame: string): void {
    let target = this.only;
    for (const stream of this.listening) {
      target = stream;
      if (stream.attached) break;
    }
    target?.send(frame);
  }

  private makeRoom(): void {
    for (const stream of this.listening) {
      if (this.listening.size < this.settings.maxStreams) return;
      if (!stream.attached) this.closeStream(stream);
    }
    if (this.listening.size >= this.settings.maxStreams)
      throw new Refusal(429, 'The session has too many open streams.');
  }
}

/** The answer to an id that is unknown; that it belongs to somebody else is not told. */
export function noSession(): Refusal {
  return new Refusal(404, 'There is no such session.');
}

/** All sessions of an endpoint. */
export class Sessions {
  private readonly byId = new Map<string, HttpSession>();

  constructor(
    private readonly kernel: Kernel,
    private readonly settings: SessionSettings,
  ) {}

  /**
   * Begins a session. When there are too many, the one that has been idle for longest ends.
   * @throws {Refusal} 503 when none is idle
   */
  open(principal: Principal | undefined): HttpSession {
    if (this.byId.size >= this.settings.maxSessions) this.evict();
    const session = new HttpSession(this.kernel, principal, this.settings);
    this.byId.set(session.id, session);
    return session;
  }

  /** The session of that id, if it belongs to the principal. */
  find(id: string, principal: Principal | undefined): HttpSession | undefined {
    const session = this.byId.get(id);
    if (session === undefined || session.principal?.subject !== principal?.subject) return undefined;
    session.usedAt = Date.now();
    return session;
  }

  /** Ends a session: gives up its requests and ends its streams. */
  end(session: HttpSession): void {
    this.byId.delete(session.id);
    this.kernel.closeSession(session.state);
    session.close();
  }

  /** Ends all streams that belong to no request. */
  hangUp(): void {
    for (const session of this.byId.values()) session.hangUp();
  }

  /** Ends all sessions. */
  endAll(): void {
    for (const session of this.byId.values()) this.end(session);
  }

  /** Ends the sessions that have been idle for too long. */
  sweep(): void {
    const now = Date.now();
    for (const session of this.byId.values()) {
      if (session.busy) session.usedAt = now;
      else if (now - session.usedAt > this.settings.sessionIdleMs) this.end(session);
    }
  }

  private evict(): void {
    let idle: HttpSession | undefined;
    for (const session of this.byId.values()) {
      if (!session.busy && (idle === undefined || session.usedAt < idle.usedAt)) idle = session;
    }
    if (idle === undefined) throw new Refusal(503, 'There are too many sessions.');
    this.end(idle);
  }
}
