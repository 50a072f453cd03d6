import { randomUUID } from 'node:crypto';

import type { Principal } from '@decorum/core';
import {
  andThen,
  isPromise,
  isObject,
  type Kernel,
  ownerOf,
  revisionOf,
  type SessionRecord,
} from '@decorum/core/transport';

import type { Sender } from './caller.js';
import { HttpSession, type NewSession, type SessionSettings, ttlOf } from './session.js';
import { type SessionGroup, SessionQuotas } from './session-quotas.js';
import type { KeptSession } from './session-store.js';

/** The sessions of an endpoint. */
export class Sessions {
  private readonly byId = new Map<string, HttpSession>();
  private readonly quotas: SessionQuotas;
  private readonly settings: SessionSettings;

  constructor(
    private readonly kernel: Kernel,
    settings: Omit<SessionSettings, 'quotas' | 'kernel'>,
  ) {
    this.quotas = new SessionQuotas(settings, (session) => this.end(session as HttpSession));
    this.settings = { ...settings, kernel, quotas: this.quotas };
  }

  /**
   * Starts a session. At a limit, evicts another session (see `SessionQuotas.makeRoom`).
   * @param shared whether other processes may serve the session, if there is a session store
   * @throws {HttpError} 429 if the caller has too many sessions, 503 if there are too many and none can be evicted
   */
  open(sender: Sender, shared: boolean): HttpSession {
    return this.add({ id: randomUUID(), principal: sender.principal, shared }, sender);
  }

  /**
   * Finds a session by id, if it belongs to the principal. A session of another process is restored from the store.
   * @throws {HttpError} 429 or 503 if there are too many sessions
   */
  find(id: string, sender: Sender): HttpSession | undefined | Promise<HttpSession | undefined> {
    const { sessionStore: store } = this.settings;
    if (store === undefined) return this.local(id, sender.principal);
    const record = store.get(id);
    const kept = isPromise(record) ? this.settings.pending.until(record) : record;
    return andThen(kept, (found) => this.restore(id, found, sender));
  }

  /** Finds a session of this process by id, if it belongs to the principal. */
  local(id: string, principal: Principal | undefined): HttpSession | undefined {
    const session = this.byId.get(id);
    if (session === undefined || session.owner !== (principal && ownerOf(principal))) return undefined;
    session.used = true;
    if (principal !== undefined) session.see(principal);
    if (!session.isProtected) use(session, principal === undefined ? this.quotas.anonymous : this.quotas.signedIn);
    return session;
  }

  /** Stores the record of a session for other processes. */
  share({ state }: HttpSession): void | Promise<void> {
    return this.settings.sessionStore?.set(state.record as KeptSession, ttlOf(this.settings));
  }

  /** Ends a session in this process: cancels its requests and ends its streams. */
  end(session: HttpSession): void {
    if (this.byId.delete(session.id)) this.quotas.remove(session);
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
      session.recheck();
      const { record } = session.state;
      if (session.used || session.connected) {
        record.usedAt = now;
        session.used = false;
        this.touch(session.id);
      } else if (now - record.usedAt > this.settings.sessionIdleMs) this.end(session);
    }
  }

  /** Ends the streams of sessions whose tokens have all expired. */
  expire(): void {
    const now = Date.now();
    for (const session of this.byId.values()) {
      if (session.expiresAt === undefined || session.expiresAt > now) continue;
      if (session.endsWithStream) this.end(session);
      else session.expire();
    }
  }

  private add(origin: NewSession, sender: Sender): HttpSession {
    this.quotas.makeRoom(sender);
    const session = new HttpSession(this.settings, origin);
    if (sender.principal !== undefined) session.see(sender.principal);
    this.byId.set(session.id, session);
    this.quotas.add(session, sender);
    return session;
  }

  private restore(id: string, record: SessionRecord | null | undefined, sender: Sender): HttpSession | undefined {
    const { principal } = sender;
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
    if (ownerOf(record.principal) !== ownerOf(principal)) return undefined;
    return this.add({ record, shared: true }, sender);
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
}

/**
 * Whether a record from a store is usable. Many stores return null for a missing key, and another version of the server
 * may have stored a revision that this one doesn't know. A record with an empty subject belongs to nobody.
 */
function isUsable(record: SessionRecord | null | undefined, id: string): record is SessionRecord {
  if (!isObject(record) || record.id !== id || record.principal?.subject === '') return false;
  return revisionOf(record.revision)?.sessions === true;
}

/** Moves a session to the end of both its eviction lists. Not in `lru.ts`, because it runs for every request. */
function use(session: HttpSession, all: SessionGroup): void {
  session.previous.next = session.next;
  session.next.previous = session.previous;
  session.previous = all.previous;
  session.next = all;
  session.previous.next = session;
  all.previous = session;
  const { own } = session;
  if (own === undefined) return;
  session.previousOwn.nextOwn = session.nextOwn;
  session.nextOwn.previousOwn = session.previousOwn;
  session.previousOwn = own.previousOwn;
  session.nextOwn = own;
  session.previousOwn.nextOwn = session;
  own.previousOwn = session;
}
