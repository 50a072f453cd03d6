import { randomUUID } from 'node:crypto';

import { McpError, type Principal } from '@decorum/core';
import { andThen, ownerOf } from '@decorum/core/internal';
import type { Kernel, SessionRecord } from '@decorum/core/transport';

import type { Letter } from '../cluster/courier.js';
import type { Sender } from '../endpoint/caller.js';
import { moveToEnd } from '../fast/lru.js';
import { HttpSession, type NewSession } from './session.js';
import { SessionQuotas } from './session-quotas.js';
import { storeOwner } from './record-owner.js';
import { type SessionSettings, ttlOf } from './session-settings.js';
import { isUsable, type KeptSession, recordIn, type SessionStore } from './session-store.js';

type Found = HttpSession | undefined | Promise<HttpSession | undefined>;

/** A sender with credentials. */
interface SignedIn extends Sender {
  readonly principal: Principal;
}

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
   * Finds a session by id, if it belongs to the principal, or if it is anonymous: its first principal adopts it. A
   * session of another process is restored from the store.
   * @throws {HttpError} 401 for an anonymous caller, if the session belongs to a principal; 429 or 503 if there are too
   *   many sessions; 503 if the store fails
   */
  find(id: string, sender: Sender): Found {
    const { sessionStore: store, stores } = this.settings;
    if (store !== undefined) {
      if (this.byId.get(id)?.isCurrent(sender.principal)) return this.local(id, sender.principal);
      const kept = stores.run('sessionStore.get', () => recordIn(store, id));
      return andThen(kept, (found) => this.restore(id, found, sender));
    }
    const { principal } = sender;
    const session = principal && this.byId.get(id);
    if (session === undefined || session.owner !== undefined) return this.local(id, principal);
    return this.adopt(session, sender as SignedIn);
  }

  /**
   * Finds a session of this process by id, if it belongs to the principal.
   * @throws {HttpError} 401 for an anonymous caller, if the session belongs to a principal
   */
  local(id: string, principal: Principal | undefined): HttpSession | undefined {
    const session = this.byId.get(id);
    if (session === undefined) return undefined;
    if (session.owner !== (principal && ownerOf(principal))) return this.refuse(session, principal);
    session.used = true;
    if (principal !== undefined) session.see(principal);
    const group = principal === undefined ? this.quotas.anonymous : this.quotas.signedIn;
    // the session that was used last is at the end already
    if (!session.isProtected && group.previous !== session) moveToEnd(session, group, session.own);
    return session;
  }

  /**
   * The session of a request, if it still belongs to the caller. A principal may have adopted it while the request was
   * waiting.
   * @throws {HttpError} 401
   */
  stillOwned(session: HttpSession | undefined, { principal }: Sender): HttpSession | undefined {
    return session && session.owner !== ownerOf(principal) ? this.refuse(session, principal) : session;
  }

  /**
   * Stores the record of a session for other processes.
   * @throws {HttpError} 503 if the store fails
   */
  share(session: HttpSession): void | Promise<void> {
    const { sessionStore: store, stores } = this.settings;
    if (store === undefined) return;
    const record = session.state.record as KeptSession;
    record.version = 1;
    const stored = stores.run('sessionStore.set', () => store.set(record, ttlOf(this.settings)));
    return andThen(stored, () => session.noteCurrent());
  }

  /**
   * Ends a session in this process: cancels its requests and ends its streams.
   * @param isOver whether no other process goes on with it
   */
  end(session: HttpSession, isOver = this.settings.sessionStore === undefined): void {
    if (this.byId.delete(session.id)) this.quotas.remove(session);
    this.kernel.closeSession(session.state);
    session.close();
    if (isOver) void this.kernel.forgetSession(session.state, false);
  }

  /**
   * Ends a session in all processes.
   * @throws {HttpError} 503 if the store fails
   */
  delete(session: HttpSession): void | Promise<void> {
    const { id } = session;
    const { sessionStore: store, stores, letters } = this.settings;
    this.end(session, store === undefined);
    if (store !== undefined) void this.kernel.forgetSession(session.state, true);
    if (store === undefined) return;
    return andThen(
      stores.run('sessionStore.delete', () => store.delete(id)),
      () => letters?.tell({ kind: 'ended', session: id }),
    );
  }

  /** Handles a letter of another process. Returns whether this process took it. */
  take(letter: Letter): boolean | Promise<boolean> {
    const live = this.byId.get(letter.session);
    if (live === undefined || !live.isShared) return false;
    switch (letter.kind) {
      case 'message':
        if ('method' in letter.message) return this.kernel.cancelRequest(live.state, letter.message.params);
        return live.take(letter.message);
      case 'changed':
        return live.changed(letter.record);
      case 'ended':
        this.end(live);
        return true;
      case 'adopted':
        return live.streams.giveUp(letter.stream);
      case 'push':
        return live.streams.pushHere(letter.frame);
    }
  }

  /** Ends all streams that belong to no request. */
  endStandaloneStreams(): void {
    for (const session of this.byId.values()) session.streams.endStandalone();
  }

  /** Ends all sessions in this process. */
  endAll(): void {
    // at the end of the process: what is kept beyond it expires
    for (const session of this.byId.values()) this.end(session, false);
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
        session.touch(now);
      } else if (now - record.usedAt > this.settings.sessionIdleMs) this.end(session);
    }
  }

  /** Ends the streams of sessions whose tokens have all expired. */
  expire(): void {
    const now = Date.now();
    for (const session of this.byId.values()) {
      if (session.expiresAt === undefined || session.expiresAt > now) continue;
      if (session.endsWithStream) this.end(session);
      else session.streams.expire();
    }
  }

  /** Ends the streams of callers whose credentials have been revoked. */
  revoke(isRevoked: (principal: Principal) => boolean): void {
    const ends = (caller: Principal | undefined) => caller !== undefined && isRevoked(caller);
    for (const session of this.byId.values()) {
      if (!session.endsWithStream) session.streams.expire(ends);
      else if (ends(session.state.record.principal)) this.end(session);
    }
  }

  private add(origin: NewSession, sender: Sender): HttpSession {
    this.quotas.makeRoom(sender);
    const session = new HttpSession(this.settings, origin);
    if (sender.principal !== undefined) session.see(sender.principal);
    this.byId.set(session.id, session);
    this.quotas.add(session, session.anonymous ? senderAs(undefined, sender) : sender);
    return session;
  }

  /** Refuses a session to a caller that it doesn't belong to. */
  private refuse(session: HttpSession, principal: Principal | undefined): undefined {
    if (principal === undefined) throw this.settings.unauthorized();
    // HTTP+SSE: the responses would go to the stream that was opened anonymously, so nobody can adopt the session
    if (session.owner === undefined) this.end(session);
    return undefined;
  }

  /** Gives an anonymous session its first principal, so that a client that signs in keeps its session. */
  private adopt(session: HttpSession, sender: SignedIn): Found {
    if (session.endsWithStream) return this.refuse(session, sender.principal);
    this.bind(session, sender);
    session.used = true;
    return this.claim(session, sender);
  }

  private bind(session: HttpSession, sender: SignedIn): void {
    this.quotas.adopt(session, sender, () => session.adopt(sender.principal));
    session.see(sender.principal);
  }

  /** Stores the principal of an adopted session for other processes, unless one of them was first. */
  private claim(session: HttpSession, sender: SignedIn): Found {
    const { sessionStore: store } = this.settings;
    if (store !== undefined) return this.claimIn(store, session, sender);
    this.recheck(session, sender);
    return session;
  }

  private async claimIn(store: SessionStore, session: HttpSession, sender: SignedIn): Promise<HttpSession | undefined> {
    if (!(await storeOwner(session, { ...this.settings, store, ttlMs: ttlOf(this.settings) }))) {
      this.end(session);
      return undefined;
    }
    this.recheck(session, sender);
    return session;
  }

  private recheck({ state }: HttpSession, sender: SignedIn): void {
    const { recheck, report } = this.settings;
    void recheck(state, sender).catch((error: unknown) => {
      // an error of the store is already reported
      if (!(error instanceof McpError && error.kind === 'unavailable')) report(error);
    });
  }

  private restore(id: string, record: SessionRecord | null | undefined, sender: Sender): Found {
    const { principal } = sender;
    const live = this.byId.get(id);
    if (!isUsable(record, id)) {
      // another process has ended it
      if (live) this.end(live);
      return undefined;
    }
    const { principal: owner } = record;
    if (live && owner && live.owner === undefined) {
      // the process in which the principal has signed in checks the subscriptions
      live.state.record.subscriptions = [];
      this.bind(live, senderAs(owner, sender));
    } else if (live && owner && live.owner !== ownerOf(owner)) {
      // two principals have adopted it at once, and the other one was first
      this.end(live);
      return this.restore(id, record, sender);
    }
    // not from a record that was read before a principal adopted the session: its subscriptions are unchecked
    if (live?.owner === ownerOf(owner)) live?.refresh(record);
    if (owner && ownerOf(owner) !== ownerOf(principal)) {
      if (principal === undefined) throw this.settings.unauthorized();
      return undefined;
    }
    const session = live ?? this.add({ record, shared: true }, sender);
    session.noteCurrent();
    if (principal !== undefined && session.owner === undefined) return this.adopt(session, sender as SignedIn);
    const found = this.local(id, principal);
    // the store doesn't know yet who has adopted it
    return found?.owner !== undefined && owner === undefined ? this.claim(found, sender as SignedIn) : found;
  }
}

/** The same sender, as another principal. */
const senderAs = <P extends Principal | undefined>(principal: P, { headers, remoteAddress }: Sender) => ({
  headers,
  remoteAddress,
  principal,
});
