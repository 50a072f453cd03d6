import type { ReachedLimit } from '@decorum/core';

import { callerOf, type Sender } from '../endpoint/caller.js';
import { HttpLimitError } from '../endpoint/http-error.js';
import type { LimitName } from '../endpoint/limits.js';
import { Linked, moveToEnd, unlink } from '../fast/lru.js';

/** Caps on the sessions of an endpoint. */
export interface SessionLimits {
  /** Cap on concurrent sessions. */
  readonly maxSessions: number;
  /** Cap on the concurrent sessions of anonymous callers with the same address. */
  readonly maxSessionsPerAddress: number;
  /** Cap on the concurrent sessions of one principal. */
  readonly maxSessionsPerPrincipal: number;
  /** Reports a limit that a client has reached. */
  readonly hit: (hit: ReachedLimit) => void;
}

/** The part of a session that quotas use. */
export abstract class CountedSession extends Linked {
  /** The sessions of the same caller; undefined if no quota applies to the caller. */
  own: SessionGroup | undefined;
  /** Whether eviction found the session connected. Eviction then skips it until `release`. */
  isProtected = false;
  /** Whether its caller is anonymous. */
  abstract get anonymous(): boolean;
  /** Whether a client is connected. */
  abstract get connected(): boolean;
  /** Calls `release` as soon as no client is connected. */
  abstract recheck(): void;
}

/** Sessions that are counted together, and the list of those that can be evicted. `next` is evicted first. */
export class SessionGroup extends Linked {
  size = 0;

  /** @param caller see `callerOf`; undefined for a group of many callers */
  constructor(readonly caller?: string) {
    super();
  }
}

/** Counts the sessions of an endpoint, and chooses which session to evict. Every step takes constant time. */
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
   * Makes room for a session. A caller at its quota loses one of its own idle sessions. At the cap on all sessions,
   * those of anonymous callers are evicted first: for a principal, even while they are connected. An anonymous caller
   * never displaces a principal.
   * @throws {HttpLimitError} 429 at the caller's quota, 503 at the cap on all sessions
   */
  makeRoom(sender: Sender): void {
    // a caller that loses a session of its own has made room
    if (this.makeOwnRoom(sender) || this.anonymous.size + this.signedIn.size < this.limits.maxSessions) return;
    const evicted = this.leastEntitled(sender.principal !== undefined);
    if (evicted === undefined) {
      throw new HttpLimitError('maxSessions', 503, 'There are too many sessions. Try again later.');
    }
    this.evict(evicted, 'maxSessions', sender);
  }

  /**
   * Counts the session of an anonymous caller as one of the principal that adopts it.
   * @param bind gives the session its principal
   * @throws {HttpLimitError} 429 at the principal's quota
   */
  adopt(session: CountedSession, sender: Sender, bind: () => void): void {
    this.makeOwnRoom(sender);
    this.remove(session);
    bind();
    this.add(session, sender);
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
    unlink(session);
    this.groupOf(session).size -= 1;
    if (own === undefined) return;
    own.size -= 1;
    if (own.size === 0) this.callers.delete(own.caller as string);
  }

  /** Makes a session evictable, after all others. */
  release(session: CountedSession): void {
    session.isProtected = false;
    moveToEnd(session, this.groupOf(session), session.own);
  }

  /** @returns whether the caller was at its quota, and has lost a session of its own */
  private makeOwnRoom(sender: Sender): boolean {
    const quota = sender.principal ? 'maxSessionsPerPrincipal' : 'maxSessionsPerAddress';
    const own = this.callers.get(callerOf(sender) ?? '');
    if (own === undefined || own.size < this.limits[quota]) return false;
    const evicted = this.idlest(own, 'nextOwn');
    if (evicted === undefined) {
      throw new HttpLimitError(quota, 429, 'You have too many open sessions. End one, or try again later.');
    }
    this.evict(evicted, quota, sender);
    return true;
  }

  private evict(session: CountedSession, limit: LimitName, sender: Sender): void {
    this.end(session);
    const { principal, remoteAddress } = sender;
    this.limits.hit({ limit, principal, remoteAddress });
  }

  private protect(session: CountedSession): void {
    session.isProtected = true;
    unlink(session);
    if (session.anonymous) moveToEnd(session, this.connected, undefined);
    session.recheck();
  }

  private groupOf(session: CountedSession): SessionGroup {
    return session.anonymous ? this.anonymous : this.signedIn;
  }

  /** The session to evict at the cap on all sessions. */
  private leastEntitled(forPrincipal: boolean): CountedSession | undefined {
    const idle = this.idlest(this.anonymous, 'next');
    if (idle !== undefined || !forPrincipal) return idle;
    const { next } = this.connected;
    return next === this.connected ? this.idlest(this.signedIn, 'next') : (next as CountedSession);
  }

  /** The least recently used idle session of a group. Protects the connected sessions before it. */
  private idlest(group: SessionGroup, next: 'next' | 'nextOwn'): CountedSession | undefined {
    while (group[next] !== group) {
      const session = group[next] as CountedSession;
      if (!session.connected) return session;
      this.protect(session);
    }
    return undefined;
  }
}
