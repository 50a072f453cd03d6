import { ownerOf } from '@decorum/core/internal';
import type {
  Frame,
  JsonRpcNotification,
  JsonRpcResponse,
  Session,
  SessionLink,
  SessionOrigin,
  SessionRecord,
  Wire,
} from '@decorum/core/transport';
import type { Principal, TransportInfo } from '@decorum/core';

import type { LoggedSession } from '../streams/event-log.js';
import { RecordWriter } from './record-writer.js';
import { CountedSession } from './session-quotas.js';
import { type SessionSettings, touchMsOf, ttlOf } from './session-settings.js';
import { type KeptSession, recordIn, type SessionStore } from './session-store.js';
import { SessionStreams } from './session-streams.js';

/** A session to be created. */
export interface NewSession extends SessionOrigin {
  /** Whether other processes may serve it, if there is a session store. */
  readonly shared: boolean;
}

/** Milliseconds for which a process trusts what it knows of a stored record, because letters may be lost. */
const CURRENT_MS = 2000;

/** The id of a question, with the process that waits for its answer. */
const QUESTION_ID = /^s(\w{1,16})\.\d+$/;

/** The live part of a session. Everything else is in its record, which can be stored. */
export class HttpSession extends CountedSession implements SessionLink, LoggedSession {
  readonly state: Session;
  readonly streams: SessionStreams;
  /** See `ownerOf`; undefined for an anonymous caller. */
  owner: string | undefined;
  /** Saves the record for other processes; undefined if the session lives only in this one. */
  readonly save: SessionLink['save'];
  /** The latest request for a stream of notifications: access functions decide which of them it may get. */
  transport: TransportInfo | undefined;
  /** When the last of the caller's tokens expires; undefined for never. */
  expiresAt: number | undefined;
  /** Whether a request has arrived since the last sweep. */
  used = true;
  /** When the stored record was last touched here, in milliseconds since 1970. */
  private touchedAt = 0;
  /** Whether an answer is being settled that was passed on, and must not be passed on again. */
  private isTaking = false;
  /** When the stored record was last read or written, in milliseconds since 1970. */
  private checkedAt = 0;
  /** Created with the first change, because most sessions have none. */
  private writer: RecordWriter | undefined;
  /** Whether a principal has adopted the session, and no stream has announced yet what that changes. */
  private isUnannounced: boolean;

  constructor(
    private readonly settings: SessionSettings,
    origin: NewSession,
  ) {
    super();
    const { kernel, sessionStore: store } = settings;
    const isKept = store !== undefined && origin.shared;
    const { principal } = origin.record ?? origin;
    this.owner = principal && ownerOf(principal);
    this.save = isKept ? (change) => this.saveIn(store, change) : undefined;
    this.expiresAt = principal ? 0 : undefined;
    this.isUnannounced = origin.record?.adopted === true;
    this.streams = new SessionStreams(this, settings);
    this.state = kernel.openSession(origin, this);
  }

  get id(): string {
    return this.state.record.id as string;
  }

  get node(): string | undefined {
    return this.isShared ? this.settings.letters?.node : undefined;
  }

  /** Whether this process knows the stored record well enough, and the session belongs to the principal. */
  isCurrent(principal: Principal | undefined): boolean {
    const age = Date.now() - this.checkedAt;
    // less than 0 if the clock was set back
    if (age < 0 || age >= CURRENT_MS) return false;
    return this.owner === (principal && ownerOf(principal));
  }

  /** Notes that the stored record was read or written. Without letters, other processes don't tell of changes. */
  noteCurrent(): void {
    if (this.settings.letters !== undefined) this.checkedAt = Date.now();
  }

  /** Applies the stored record, but not one from before the last change here. */
  refresh(record: SessionRecord): void {
    if ((record.version ?? 0) < (this.state.record.version ?? 0)) return;
    this.state.refresh(record);
    this.writer?.reapply();
  }

  /** Applies a record that another process has stored. */
  changed(record: KeptSession): true {
    const owner = record.principal && ownerOf(record.principal);
    if (owner === this.owner) this.refresh(record);
    else {
      // a principal has adopted the session: the next request here finds out whether it is the same one
      this.checkedAt = 0;
      this.streams.endStandalone();
    }
    return true;
  }

  /** Passes on the answer to a question of another process, or a cancellation. */
  forward(message: JsonRpcResponse | JsonRpcNotification): boolean | Promise<boolean> {
    const { letters } = this.settings;
    if (letters === undefined || !this.isShared) return true;
    const letter = { kind: 'message', session: this.id, message } as const;
    if ('method' in message) {
      void letters.tell(letter);
      return true;
    }
    const [, node] = QUESTION_ID.exec(String(message.id)) ?? [];
    // a late answer, or none at all
    if (node === undefined || this.isTaking) return true;
    return node === letters.node ? letters.offer(letter).then(() => true) : letters.ask(letter, node);
  }

  /** Settles a question of this process with an answer that came to another one, or to another endpoint of this one. */
  take(answer: JsonRpcResponse): boolean | Promise<boolean> {
    this.isTaking = true;
    try {
      return this.state.settle(answer);
    } finally {
      this.isTaking = false;
    }
  }

  get logKey(): string {
    return this.state.record.adopted ? `${this.id}.adopted` : this.id;
  }

  get isShared(): boolean {
    return this.save !== undefined;
  }

  get mayHaveMoved(): boolean {
    return this.isShared || this.state.record.adopted === true;
  }

  get primes(): boolean {
    return this.state.revision.primesStreams;
  }

  get anonymous(): boolean {
    return this.state.record.principal === undefined;
  }

  /** Whether a client reads a stream or waits for a response. A call whose client has disconnected doesn't count. */
  get connected(): boolean {
    const { sole, attached } = this.streams;
    return sole === undefined ? attached || this.awaited !== undefined : sole.attached && this.state.initialized;
  }

  /** A request in flight whose client waits for the response. */
  private get awaited(): Wire | undefined {
    for (const { wire } of this.settings.kernel.inFlight.requestsOf(this.state)) if (wire.gone === false) return wire;
    return undefined;
  }

  /**
   * Binds the session to its first principal. The streams that an anonymous caller has opened end or, if they belong to
   * calls in flight, can't be resumed: nothing shows that the same client reads them.
   */
  adopt(principal: Principal): void {
    this.streams.endStandalone();
    this.state.adopt(principal);
    this.owner = ownerOf(principal);
    this.expiresAt = 0;
    this.isUnannounced = true;
  }

  /** Tells the client, on its first stream after a principal has adopted the session, to read the lists again. */
  announce(): void {
    if (!this.isUnannounced) return;
    this.isUnannounced = false;
    this.settings.kernel.adoptions.announce(this.state);
  }

  /** Notes when the token of a request expires. */
  see({ expiresAt }: Principal): void {
    if (this.expiresAt === undefined) return;
    if (expiresAt === undefined || expiresAt > this.expiresAt) this.expiresAt = expiresAt;
  }

  /** Whether the session ends with its stream. */
  get endsWithStream(): boolean {
    return this.streams.sole !== undefined;
  }

  /**
   * Extends the life of the record, now and then. Ends streams if the session has ended in another process, or if they
   * are anonymous and a principal has adopted the session there, and the letter was lost.
   */
  touch(now: number): void {
    const { sessionStore: store, letters, appends } = this.settings;
    if (store === undefined) return;
    const isDue = now - this.touchedAt >= touchMsOf(this.settings);
    if (isDue) this.touchedAt = now;
    else if (letters !== undefined) return;
    const check = async () => {
      if (isDue) await appends.run('sessionStore.touch', () => store.touch(this.id, ttlOf(this.settings)));
      if (!this.connected || this.save === undefined || !(isDue || this.anonymous)) return;
      const record = await appends.run('sessionStore.get', () => recordIn(store, this.id));
      const isGone = record === undefined || record === null;
      if (isGone || (this.anonymous && record.principal !== undefined)) this.streams.endStandalone();
    };
    // the error is reported
    check().catch(() => {});
  }

  /** Lets the session be evicted again when its last client is gone. */
  recheck(): void {
    if (!this.isProtected) return;
    if (!this.connected) return this.settings.quotas.release(this);
    // this runs again when a request ends or a reader leaves, so one disconnect callback at a time is enough
    this.awaited?.onDisconnect?.(() => this.recheck());
  }

  /** Ends all streams except those of requests, which end with the response. */
  close(): void {
    this.streams.end();
  }

  push(frame: Frame, isOnlyHere?: boolean): void {
    this.streams.push(frame, isOnlyHere);
  }

  private async saveIn(store: SessionStore, change: (record: SessionRecord) => void): Promise<void> {
    try {
      await this.writerTo(store).save(change);
    } catch (error) {
      // only this process has the change: the next request reads the stored record, so that it can be made again
      this.checkedAt = 0;
      throw error;
    }
  }

  private writerTo(store: SessionStore): RecordWriter {
    const { settings, state } = this;
    return (this.writer ??= new RecordWriter(state, { ...settings, store, ttlMs: ttlOf(settings) }));
  }
}
