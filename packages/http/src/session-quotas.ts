import { overloaded, tooMany } from './http-error.js';
import { LruList, LruNode } from './lru.js';

/** Caps on the sessions of an endpoint. */
export interface SessionLimits {
  /** Cap on concurrent sessions. */
  readonly maxSessions: number;
  /** Cap on the concurrent sessions of anonymous callers with the same address. */
  readonly maxSessionsPerAddress: number;
  /** Cap on the concurrent sessions of one principal. */
  readonly maxSessionsPerPrincipal: number;
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
   * @param caller see `callerOf`; undefined if no quota applies to it
   * @throws {HttpError} 429 at the quota of the caller, 503 at the cap of all
   */
  makeRoom(caller: string | undefined, isSignedIn: boolean): void {
    const { maxSessions, maxSessionsPerAddress, maxSessionsPerPrincipal } = this.limits;
    const { anonymous, signedIn } = this;
    const own = caller === undefined ? undefined : this.callers.get(caller);
    if (own !== undefined && own.size >= (isSignedIn ? maxSessionsPerPrincipal : maxSessionsPerAddress)) {
      if (this.evictIdle(own)) return;
      throw tooMany('You have too many open sessions. End one, or try again later.');
    }
    if (anonymous.size + signedIn.size < maxSessions || this.evictIdle(anonymous)) return;
    if (isSignedIn) {
      // eviction has just found all anonymous sessions connected
      const displaced = anonymous.connected.oldest;
      if (displaced !== undefined) return this.end(displaced);
      if (this.evictIdle(signedIn)) return;
    }
    throw overloaded('There are too many sessions. Try again later.');
  }

  /** Counts a new session. */
  add(session: CountedSession, caller: string | undefined, isSignedIn: boolean): void {
    let own = caller === undefined ? undefined : this.callers.get(caller);
    if (own === undefined && caller !== undefined) this.callers.set(caller, (own = new SessionGroup(caller)));
    session.place = new SessionPlace(session, isSignedIn ? this.signedIn : this.anonymous, own);
  }

  /** Stops counting a session. */
  remove(session: CountedSession): void {
    const { place } = session;
    session.place = undefined;
    place?.leave();
    const { size, caller } = place?.own ?? {};
    if (size === 0 && caller !== undefined) this.callers.delete(caller);
  }

  /** Ends the idle session of a group that was used least recently. Each session it passes over is moved aside. */
  private evictIdle({ idle }: SessionGroup): boolean {
    for (let session = idle.oldest; session !== undefined; session = idle.oldest) {
      if (!session.connected) {
        this.end(session);
        return true;
      }
      session.place?.setConnected(true);
      session.recheck();
    }
    return false;
  }
}
