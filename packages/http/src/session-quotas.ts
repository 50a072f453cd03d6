import type { LimitHit } from '@decorum/core';

import { callerOf, type Sender } from './caller.js';
import { LimitError } from './http-error.js';
import { ALL, append, Linked, OWN, unlink } from './lru.js';

/** Caps on the sessions of an endpoint. */
export interface SessionLimits {
  /** Cap on concurrent sessions. */
  readonly maxSessions: number;
  /** Cap on the concurrent sessions of anonymous callers with the same address. */
  readonly maxSessionsPerAddress: number;
  /** Cap on the concurrent sessions of one principal. */
  readonly maxSessionsPerPrincipal: number;
  /** Reports a limit that a client has reached. */
  readonly hit: (hit: LimitHit) => void;
}

/** A session, as far as it is counted. */
export abstract class CountedSession extends Linked {
  /** The sessions of the same caller; undefined if no quota applies to it. */
  own: SessionGroup | undefined;
  /** Whether eviction has found it connected, and passes it over until `release`. */
  isProtected = false;
  /** Whether its caller is anonymous. */
  abstract get anonymous(): boolean;
  /** Whether a client is connected. */
  abstract get connected(): boolean;
  /** Calls `release` as soon as no client is connected. */
  abstract recheck(): void;
}

/** Sessions that are counted together, and a list of those that can be evicted. The next is the first to be evicted. */
export class SessionGroup extends Linked {
  size = 0;

  /** @param caller see `callerOf`; undefined for a group of many callers */
  constructor(readonly caller?: string) {
    super();
  }
}

/** Counts the sessions of an endpoint, and decides which one makes room for another. Every step takes constant time. */
export class SessionQuotas {
  /** The sessions of anonymous callers. */
  readonly anonymous = new SessionGroup();
  /** The sessions of principals. */
  readonly signedIn = new SessionGroup();
  /** The protected sessions of anonymous callers. */
  private readonly connected = new Linked();
  private readonly callers = new Map<string, SessionGroup>();

  /** @param end ends a session, which calls `remove` */
  constructor(
    private readonly limits: SessionLimits,
    private readonly end: (session: CountedSession) => void,
  ) {}

  /**
   * Makes room for a session. A caller at its quota loses its own idle session. At the cap of all sessions, anonymous
   * callers go first: they never displace a principal, and make room for one even while they are connected.
   * @throws {LimitError} 429 at the quota of the caller, 503 at the cap of all
   */
  makeRoom(sender: Sender): void {
    const { principal, remoteAddress } = sender;
    const quota = principal ? 'maxSessionsPerPrincipal' : 'maxSessionsPerAddress';
    const own = this.callers.get(callerOf(sender) ?? '');
    const isOver = own !== undefined && own.size >= this.limits[quota];
    if (!isOver && this.anonymous.size + this.signedIn.size < this.limits.maxSessions) return;
    const limit = isOver ? quota : 'maxSessions';
    const evicted = isOver ? this.idlest(own, OWN.next) : this.leastEntitled(principal !== undefined);
    if (evicted !== undefined) {
      this.end(evicted);
      return this.limits.hit({ limit, principal, remoteAddress });
    }
    if (isOver) throw new LimitError(limit, 429, 'You have too many open sessions. End one, or try again later.');
    throw new LimitError(limit, 503, 'There are too many sessions. Try again later.');
  }

  /** Counts a new session. */
  add(session: CountedSession, sender: Sender): void {
    this.groupOf(session).size += 1;
    const caller = callerOf(sender);
    if (caller !== undefined) {
      const own = this.callers.get(caller) ?? new SessionGroup(caller);
      if (own.size === 0) this.callers.set(caller, own);
      own.size += 1;
      session.own = own;
    }
    this.release(session);
  }

  /** Stops counting a session. */
  remove(session: CountedSession): void {
    const { own } = session;
    session.isProtected = false;
    session.own = undefined;
    unlink(session, ALL);
    unlink(session, OWN);
    this.groupOf(session).size -= 1;
    if (own === undefined) return;
    own.size -= 1;
    if (own.size === 0) this.callers.delete(own.caller as string);
  }

  /** Lets a session be evicted, after all others. */
  release(session: CountedSession): void {
    session.isProtected = false;
    unlink(session, ALL);
    append(session, this.groupOf(session), ALL);
    if (session.own !== undefined) append(session, session.own, OWN);
  }

  private protect(session: CountedSession): void {
    session.isProtected = true;
    unlink(session, ALL);
    unlink(session, OWN);
    if (session.anonymous) append(session, this.connected, ALL);
    session.recheck();
  }

  private groupOf(session: CountedSession): SessionGroup {
    return session.anonymous ? this.anonymous : this.signedIn;
  }

  /** The session that makes room at the cap of all. */
  private leastEntitled(forPrincipal: boolean): CountedSession | undefined {
    const idle = this.idlest(this.anonymous, ALL.next);
    if (idle !== undefined || !forPrincipal) return idle;
    const { next } = this.connected;
    return next === this.connected ? this.idlest(this.signedIn, ALL.next) : (next as CountedSession);
  }

  /** The idle session of a group that was used least recently. Connected ones before it are protected from now on. */
  private idlest(group: SessionGroup, next: 'next' | 'nextOwn'): CountedSession | undefined {
    while (group[next] !== group) {
      const session = group[next] as CountedSession;
      if (!session.connected) return session;
      this.protect(session);
    }
    return undefined;
  }
}
