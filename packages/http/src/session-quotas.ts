import type { LimitHit } from '@decorum/core';

import { callerOf, type Sender } from './caller.js';
import { LimitError } from './http-error.js';
import { LruList, LruNode } from './lru.js';

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
export interface CountedSession {
  readonly id: string;
  /** Whether a client is connected. */
  readonly connected: boolean;
  place: SessionPlace | undefined;
  /** Calls `place.setConnected(false)` when no client is connected any more. */
  recheck(): void;
}

/** Sessions that are counted together: those of one caller, of all anonymous callers, or of all principals. */
class SessionGroup {
  size = 0;
  /** The candidates for eviction. Some may be connected; they are moved when eviction comes to them. */
  readonly idle = new LruList<CountedSession>();
  /** Sessions that eviction has found connected. They go back to `idle` when they no longer are. */
  readonly connected = new LruList<CountedSession>();

  /** @param caller see `callerOf`; undefined for a group of many callers */
  constructor(readonly caller?: string) {}
}

/** The place of a session in its groups. */
export class SessionPlace {
  /** Whether the session is in the `connected` lists. */
  isConnected = false;
  /** The node in the list of `all`; `also` is the one in the list of `own`. */
  readonly node: LruNode<CountedSession>;

  /**
   * @param all the group of all anonymous callers or of all principals
   * @param own the group of the caller; undefined if no quota applies to it
   */
  constructor(
    session: CountedSession,
    private readonly all: SessionGroup,
    readonly own: SessionGroup | undefined,
  ) {
    this.node = new LruNode(session, own && new LruNode(session));
    all.size += 1;
    if (own !== undefined) own.size += 1;
    this.setConnected(false);
  }

  /** Moves the session out of the way of eviction, or back. */
  setConnected(isConnected: boolean): void {
    this.isConnected = isConnected;
    const list = isConnected ? 'connected' : 'idle';
    this.node.moveTo(this.all[list]);
    if (this.own !== undefined) this.node.also?.moveTo(this.own[list]);
  }

  /** Takes the session out of its groups. */
  leave(): void {
    this.node.remove();
    this.node.also?.remove();
    this.all.size -= 1;
    if (this.own !== undefined) this.own.size -= 1;
  }
}

/** Counts the sessions of an endpoint, and decides which one makes room for another. */
export class SessionQuotas {
  private readonly anonymous = new SessionGroup();
  private readonly signedIn = new SessionGroup();
  private readonly callers = new Map<string, SessionGroup>();

  /** @param end ends a session, which removes it here */
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
    const victim = isOver ? this.idlest(own) : this.leastEntitled(principal !== undefined);
    if (victim !== undefined) {
      this.end(victim);
      return this.limits.hit({ limit, principal, remoteAddress });
    }
    if (isOver) throw new LimitError(limit, 429, 'You have too many open sessions. End one, or try again later.');
    throw new LimitError(limit, 503, 'There are too many sessions. Try again later.');
  }

  /** Counts a new session. */
  add(session: CountedSession, sender: Sender): void {
    const caller = callerOf(sender);
    let own = caller === undefined ? undefined : this.callers.get(caller);
    if (own === undefined && caller !== undefined) this.callers.set(caller, (own = new SessionGroup(caller)));
    session.place = new SessionPlace(session, sender.principal ? this.signedIn : this.anonymous, own);
  }

  /** Stops counting a session. */
  remove(session: CountedSession): void {
    const { place } = session;
    session.place = undefined;
    place?.leave();
    const { size, caller } = place?.own ?? {};
    if (size === 0 && caller !== undefined) this.callers.delete(caller);
  }

  /** The session that makes room at the cap of all. */
  private leastEntitled(forPrincipal: boolean): CountedSession | undefined {
    const idle = this.idlest(this.anonymous);
    if (idle !== undefined || !forPrincipal) return idle;
    return this.anonymous.connected.oldest ?? this.idlest(this.signedIn);
  }

  /** The idle session of a group that was used least recently. Connected ones that it passes over are moved aside. */
  private idlest({ idle }: SessionGroup): CountedSession | undefined {
    for (let session = idle.oldest; session !== undefined; session = idle.oldest) {
      if (!session.connected) return session;
      session.place?.setConnected(true);
      session.recheck();
    }
    return undefined;
  }
}
