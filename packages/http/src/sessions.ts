import { randomUUID } from 'node:crypto';

import type { Principal } from '@decorum/core';
import { andThen, isPromise, isObject, type Kernel, revisionOf, type SessionRecord } from '@decorum/core/transport';

import { LimitError } from './http-error.js';
import { HttpSession, type SessionSettings, ttlOf } from './session.js';
import type { KeptSession } from './session-store.js';

/** The sessions of an endpoint. */
export class Sessions {
  private readonly byId = new Map<string, HttpSession>();
  private uses = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly settings: SessionSettings,
  ) {}

  /**
   * Starts a session. At the cap, this evicts the session that has been idle for longest.
   * @param shared whether other processes may serve it, if there is a session store
   * @throws {HttpError} 503 if no session is idle
   */
  open(principal: Principal | undefined, shared: boolean): HttpSession {
    this.evictIdle(principal);
    return this.add(new HttpSession(this.kernel, this.settings, { id: randomUUID(), principal, shared }));
  }

  /**
   * Finds a session by id, if it belongs to the principal. A session of another process is restored from the store.
   * @throws {HttpError} 503 if there are too many sessions
   */
  find(id: string, principal: Principal | undefined): HttpSession | undefined | Promise<HttpSession | undefined> {
    const { sessionStore: store } = this.settings;
    if (store === undefined) return this.local(id, principal);
    const record = store.get(id);
    const kept = isPromise(record) ? this.settings.pending.until(record) : record;
    return andThen(kept, (found) => this.restore(id, found, principal));
  }

  /** Finds a session of this process by id, if it belongs to the principal. */
  local(id: string, principal: Principal | undefined): HttpSession | undefined {
    const session = this.byId.get(id);
    if (session === undefined || session.state.record.principal?.subject !== principal?.subject) return undefined;
    // a counter is cheaper than the time, and only the order matters
    session.used = true;
    session.lastUse = ++this.uses;
    return session;
  }

  /** Stores the record of a session for other processes. */
  share({ state }: HttpSession): void | Promise<void> {
    return this.settings.sessionStore?.set(state.record as KeptSession, ttlOf(this.settings));
  }

  /** Ends a session in this process: cancels its requests and ends its streams. */
  end(session: HttpSession): void {
    this.byId.delete(session.id);
    this.kernel.closeSession(session.state);
    session.close();
  }

  /** Ends a session in all processes. */
  delete(session: HttpSession): void | Promise<void> {
    this.end(session);
    return this.settings.sessionStore?.delete(session.id);
  }

  /** Ends all streams that belong to no request. */
  endStandaloneStreams(): void {
    for (const session of this.byId.values()) session.endStandaloneStreams();
  }

  /** Ends all sessions in this process. */
  endAll(): void {
    for (const session of this.byId.values()) this.end(session);
  }

  /** Ends the sessions that have been idle for too long. Their records stay in the store until they expire. */
  sweep(): void {
    const now = Date.now();
    for (const session of this.byId.values()) {
      const { record } = session.state;
      if (session.used || session.busy) {
        record.usedAt = now;
        session.used = false;
        this.touch(session.id);
      } else if (now - record.usedAt > this.settings.sessionIdleMs) this.end(session);
    }
  }

  private add(session: HttpSession): HttpSession {
    this.byId.set(session.id, session);
    session.lastUse = ++this.uses;
    return session;
  }

  private restore(
    id: string,
    record: SessionRecord | null | undefined,
    principal: Principal | undefined,
  ): HttpSession | undefined {
    const live = this.byId.get(id);
    if (!isUsable(record, id)) {
      // another process has ended it
      if (live) this.end(live);
      return undefined;
    }
    if (live) {
      live.state.refresh(record);
      return this.local(id, principal);
    }
    if (record.principal?.subject !== principal?.subject) return undefined;
    this.evictIdle(principal);
    return this.add(new HttpSession(this.kernel, this.settings, { record }));
  }

  private touch(id: string): void {
    const { sessionStore: store, report } = this.settings;
    if (store === undefined) return;
    try {
      Promise.resolve(store.touch(id, ttlOf(this.settings))).catch(report);
    } catch (error) {
      report(error);
    }
  }

  /** @param principal the caller that needs room for a session */
  private evictIdle(principal: Principal | undefined): void {
    if (this.byId.size < this.settings.maxSessions) return;
    let idle: HttpSession | undefined;
    for (const session of this.byId.values()) {
      if (!session.busy && (idle === undefined || session.lastUse < idle.lastUse)) idle = session;
    }
    if (idle === undefined) throw new LimitError('maxSessions', 503, 'There are too many sessions. Try again later.');
    this.end(idle);
    this.settings.hit({ limit: 'maxSessions', principal });
  }
}

/**
 * Whether a store has returned a usable record. Another version of the server may have written it with a revision that
 * is unknown here, and many stores return null for a missing key.
 */
function isUsable(record: SessionRecord | null | undefined, id: string): record is SessionRecord {
  return isObject(record) && record.id === id && revisionOf(record.revision)?.sessions === true;
}
