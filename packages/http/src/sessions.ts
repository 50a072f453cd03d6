import { randomUUID } from 'node:crypto';

import type { Principal } from '@decorum/core';
import { andThen, isPromise, isObject, type Kernel, revisionOf, type SessionRecord } from '@decorum/core/transport';

import { HttpError } from './http-error.js';
import { HttpSession, type SessionSettings, ttlOf } from './session.js';
import type { KeptSession } from './session-store.js';

/** All sessions of an endpoint. */
export class Sessions {
  private readonly byId = new Map<string, HttpSession>();
  private turns = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly settings: SessionSettings,
  ) {}

  /**
   * Begins a session. When there are too many, the one that has been idle for longest ends.
   * @param shared whether other processes can serve it, where a store is shared with them
   * @throws {HttpError} 503 when none is idle
   */
  open(principal: Principal | undefined, shared: boolean): HttpSession {
    return this.add(new HttpSession(this.kernel, this.settings, { id: this.freeId(), principal, shared }));
  }

  /**
   * The session of that id, if it belongs to the principal. One that other processes have begun comes to life here.
   * @throws {HttpError} 503 when there are too many
   */
  find(id: string, principal: Principal | undefined): HttpSession | undefined | Promise<HttpSession | undefined> {
    const { sessionStore: store } = this.settings;
    if (store === undefined) return this.local(id, principal);
    const record = store.get(id);
    const kept = isPromise(record) ? this.settings.pending.until(record) : record;
    return andThen(kept, (found) => this.revive(id, found, principal));
  }

  /** The session of that id, if it lives in this process and belongs to the principal. */
  local(id: string, principal: Principal | undefined): HttpSession | undefined {
    const session = this.byId.get(id);
    if (session === undefined || session.state.record.principal?.subject !== principal?.subject) return undefined;
    // without asking for the time: a clock of its own says as well which session was used last
    session.used = true;
    session.turn = ++this.turns;
    return session;
  }

  /** Has other processes know of a session. */
  share({ state }: HttpSession): void | Promise<void> {
    return this.settings.sessionStore?.set(state.record as KeptSession, ttlOf(this.settings));
  }

  /** Ends a session here: gives up its requests and ends its streams. */
  end(session: HttpSession): void {
    this.byId.delete(session.id);
    this.kernel.closeSession(session.state);
    session.close();
  }

  /** Ends a session everywhere. */
  delete(session: HttpSession): void | Promise<void> {
    this.end(session);
    return this.settings.sessionStore?.delete(session.id);
  }

  /** Ends all streams that belong to no request. */
  hangUp(): void {
    for (const session of this.byId.values()) session.hangUp();
  }

  /** Ends all sessions here. */
  endAll(): void {
    for (const session of this.byId.values()) this.end(session);
  }

  /** Ends the sessions that have been idle for too long. Those in a store go on there, until their time is over. */
  sweep(): void {
    const now = Date.now();
    for (const session of this.byId.values()) {
      const { record } = session.state;
      if (session.used || session.busy) {
        record.usedAt = now;
        session.used = false;
        this.keep(session.id);
      } else if (now - record.usedAt > this.settings.sessionIdleMs) this.end(session);
    }
  }

  private freeId(): string {
    this.makeRoom();
    return randomUUID();
  }

  private add(session: HttpSession): HttpSession {
    this.byId.set(session.id, session);
    session.turn = ++this.turns;
    return session;
  }

  private revive(
    id: string,
    record: SessionRecord | null | undefined,
    principal: Principal | undefined,
  ): HttpSession | undefined {
    const live = this.byId.get(id);
    if (!isUsable(record, id)) {
      // it has ended elsewhere
      if (live) this.end(live);
      return undefined;
    }
    if (live) {
      live.state.refresh(record);
      return this.local(id, principal);
    }
    if (record.principal?.subject !== principal?.subject) return undefined;
    this.makeRoom();
    return this.add(new HttpSession(this.kernel, this.settings, { record }));
  }

  private keep(id: string): void {
    const { sessionStore: store, report } = this.settings;
    if (store === undefined) return;
    try {
      Promise.resolve(store.touch(id, ttlOf(this.settings))).catch(report);
    } catch (error) {
      report(error);
    }
  }

  private makeRoom(): void {
    if (this.byId.size < this.settings.maxSessions) return;
    let idle: HttpSession | undefined;
    for (const session of this.byId.values()) {
      if (!session.busy && (idle === undefined || session.turn < idle.turn)) idle = session;
    }
    if (idle === undefined) throw new HttpError(503, 'There are too many sessions.');
    this.end(idle);
  }
}

/**
 * Whether a store has given the record of a session that can be served here. One that another version of the server has
 * written may name a revision that is unknown here; many stores say null for nothing.
 */
function isUsable(record: SessionRecord | null | undefined, id: string): record is SessionRecord {
  return isObject(record) && record.id === id && revisionOf(record.revision)?.sessions === true;
}
