import { ownerOf } from '@decorum/core/internal';
import type {
  ClusterCounts,
  Frame,
  JsonRpcNotification,
  JsonRpcResponse,
  Kernel,
  Session,
  SessionLink,
  SessionOrigin,
  SessionRecord,
  Wire,
} from '@decorum/core/transport';
import type { ReachedLimit, Principal, TransportInfo } from '@decorum/core';

import type { Letters } from '../cluster/letters.js';
import type { Sender } from '../endpoint/caller.js';
import { type HttpError, HttpLimitError } from '../endpoint/http-error.js';
import type { Report, StoreCalls } from './store-calls.js';
import type { EventStore } from '../streams/event-store.js';
import { CountedSession, type SessionLimits, type SessionQuotas } from './session-quotas.js';
import { RecordWriter } from './record-writer.js';
import type { KeptSession, SessionStore } from './session-store.js';
import { EventLog, type LoggedSession } from '../streams/event-log.js';
import { streamId } from '../fast/stream-id.js';
import { ContinuedStream } from '../streams/continued-stream.js';
import { EventStream } from '../streams/stream.js';
import type { StreamParts } from '../streams/stream-parts.js';

/** Settings shared by all sessions of an endpoint. */
export interface SessionSettings extends SessionLimits {
  readonly kernel: Kernel;
  readonly streams: StreamParts;
  /** Stores events for clients that reconnect. `false` makes streams non-resumable. */
  readonly events: EventStore | false;
  /** Milliseconds until a client reconnects to a paused stream. */
  readonly retryMs: number;
  /** Shares records with other processes; undefined if sessions live only in this one. */
  readonly sessionStore: SessionStore | undefined;
  /** Reaches the parts of sessions in other processes; undefined without a courier. */
  readonly letters: Letters | undefined;
  readonly counts: ClusterCounts;
  /** Counts the sessions. */
  readonly quotas: SessionQuotas;
  /** Milliseconds until a session without a connected client ends. */
  readonly sessionIdleMs: number;
  /** Milliseconds between sweeps for idle sessions. */
  readonly keepAliveMs: number;
  /** Cap on streams of one session, not counting those of its requests in flight. */
  readonly maxStreams: number;
  /** Calls the stores. */
  readonly stores: StoreCalls;
  /** The error for an anonymous caller of a session that belongs to a principal. */
  readonly unauthorized: () => HttpError;
  /** Checks the subscriptions of a session for the principal that has adopted it. */
  readonly recheck: (session: Session, sender: Sender) => Promise<void>;
  /** Reports errors from the stores. */
  readonly report: Report;
  /** Reports a limit that a client has reached. */
  readonly hit: (hit: ReachedLimit) => void;
}

/** Kind of a stream: `g` (GET) carries messages that belong to no request, `p` (POST) those of one request. */
export type StreamKind = 'g' | 'p';

/** A session to be created. */
export interface NewSession extends SessionOrigin {
  /** Whether other processes may serve it, if there is a session store. */
  readonly shared: boolean;
}

/** Milliseconds for which a process trusts what it knows of a stored record, because letters may be lost. */
const CURRENT_MS = 2000;

/** The id of a question, with the process that waits for its answer. */
const QUESTION_ID = /^s(\w{1,16})\.\d+$/;

/** The live part of a session: its streams. Everything else is in its record, which can be stored. */
export class HttpSession extends CountedSession implements SessionLink, LoggedSession {
  readonly state: Session;
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
  /** When the stored record was last read or written, in milliseconds since 1970. */
  private checkedAt = 0;
  /** Created with the first change, because most sessions have none. */
  private writer: RecordWriter | undefined;
  /** Whether a principal has adopted the session, and no stream has announced yet what that changes. */
  private isUnannounced: boolean;
  /** Oldest first. The array is created with the first stream, because most sessions never have one. */
  private streams: EventStream[] | undefined;
  /** The one stream of an HTTP+SSE session. */
  private soleStream: EventStream | undefined;

  constructor(
    private readonly settings: SessionSettings,
    origin: NewSession,
  ) {
    super();
    const { kernel, sessionStore: store } = settings;
    const isKept = store !== undefined && origin.shared;
    const { principal } = origin.record ?? origin;
    this.owner = principal && ownerOf(principal);
    this.save = isKept ? (change) => this.writerTo(store).save(change) : undefined;
    this.expiresAt = principal ? 0 : undefined;
    this.isUnannounced = origin.record?.adopted === true;
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
    if (Date.now() - this.checkedAt >= CURRENT_MS) return false;
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
      this.endStandaloneStreams();
    }
    return true;
  }

  /** Passes on the answer to a question of another process, or a cancellation. */
  forward(message: JsonRpcResponse | JsonRpcNotification): boolean | Promise<boolean> {
    const { letters } = this.settings;
    if (letters === undefined || !this.isShared) return true;
    const letter = { kind: 'message', session: this.id, message } as const;
    if ('method' in message) {
      letters.tell(letter);
      return true;
    }
    const [, node] = QUESTION_ID.exec(String(message.id)) ?? [];
    // a late answer to a question of this process, or none at all
    if (node === undefined || node === letters.node) return true;
    return letters.ask(letter, node);
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

  get report(): SessionSettings['report'] {
    return this.settings.report;
  }

  get anonymous(): boolean {
    return this.state.record.principal === undefined;
  }

  /** Whether a client reads a stream or waits for a response. A call whose client has disconnected doesn't count. */
  get connected(): boolean {
    if (this.soleStream !== undefined) return this.soleStream.attached && this.state.initialized;
    return this.streams?.some(({ attached }) => attached) === true || this.awaited !== undefined;
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
    this.endStandaloneStreams();
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

  /**
   * Disconnects the readers of its streams. They may resume with a newer token. Responses to POSTs stay open.
   * @param ends the readers to disconnect; all by default
   */
  expire(ends: (reader: Principal | undefined) => boolean = () => true): void {
    const { events, retryMs } = this.settings;
    const isRead = (stream: EventStream) => (stream.kind === 'g' || stream.resumed) && ends(stream.reader);
    for (const stream of this.streams?.filter(isRead) ?? []) {
      stream.pause(retryMs);
      if (events !== false) continue;
      stream.end();
      this.closeStream(stream);
    }
  }

  /** Whether the session ends with its stream. */
  get endsWithStream(): boolean {
    return this.soleStream !== undefined;
  }

  /** Lets the session be evicted again when its last client is gone. */
  recheck(): void {
    if (!this.isProtected) return;
    if (!this.connected) return this.settings.quotas.release(this);
    // this runs again when a request ends or a reader leaves, so one disconnect callback at a time is enough
    this.awaited?.onDisconnect?.(() => this.recheck());
  }

  /**
   * Opens a stream.
   * @throws {HttpError} 429
   */
  openStream(kind: StreamKind): EventStream {
    if (kind === 'g') this.freeStreamSlot();
    const stream = this.streamOf(kind + streamId());
    // most sessions have one stream, and `push` would allocate room for many
    if (this.streams === undefined) this.streams = [stream];
    else this.streams.push(stream);
    return stream;
  }

  /**
   * The stream that a client resumes. If its request has already ended, the stream can only be replayed from the store,
   * and counts like a stream that belongs to no request. A GET stream of another process continues here.
   * @param id stream id, as in the ids of its events
   * @throws {HttpError} 429
   */
  lostStream(id: string): EventStream {
    const known = this.streams?.find(({ log }) => log?.id === id && log.sessionKey === this.logKey);
    if (known !== undefined) return known;
    this.freeStreamSlot();
    const lost = id.startsWith('g') ? this.continuedStream(id) : this.streamOf(id);
    if (lost.kind === 'p') lost.endBefore();
    (this.streams ??= []).push(lost);
    return lost;
  }

  /** Lets another process continue a GET stream. Returns whether this process had the stream, and gave it up. */
  giveUp(_id: string): boolean | Promise<boolean> {
    return false;
  }

  /** Makes `stream` the only stream of the session, for HTTP+SSE. */
  useSoleStream(stream: EventStream): void {
    this.soleStream = stream;
  }

  /** Removes an ended stream, unless a client is still resuming it. */
  closeStream(stream: EventStream): void {
    if (stream.attached) return;
    const at = this.streams?.indexOf(stream) ?? -1;
    if (at !== -1) this.streams?.splice(at, 1);
  }

  /** Ends the streams that belong to no request. */
  endStandaloneStreams(): void {
    for (const stream of this.standaloneStreams()) {
      stream.end();
      this.closeStream(stream);
    }
  }

  /** Ends all streams except those of requests, which end with the response. */
  close(): void {
    this.soleStream?.end();
    this.endStandaloneStreams();
  }

  private standaloneStreams(): EventStream[] {
    return this.streams?.filter(({ kind }) => kind === 'g') ?? [];
  }

  private streamOf(id: string): EventStream {
    const { events: store, streams } = this.settings;
    const kind = id.startsWith('g') ? 'g' : 'p';
    const log = store ? new EventLog(id, this, store) : undefined;
    const stream = new EventStream(streams, kind, log);
    stream.holder = this;
    return stream;
  }

  private continuedStream(id: string): EventStream {
    const { events: store, streams } = this.settings;
    if (!store) return this.streamOf(id);
    const [log, earlier] = [`g${streamId()}`, id].map((each) => new EventLog(each, this, store));
    const stream = new ContinuedStream(streams, log as EventLog, earlier as EventLog);
    stream.holder = this;
    return stream;
  }

  /**
   * Sends a message that belongs to no request on a connected stream. Without one, the newest stream keeps it.
   * @param isOnlyHere whether no other process has the message. Then a stream in one of them may get it
   */
  push(frame: Frame, isOnlyHere = false): void {
    const target = this.target;
    if (isOnlyHere && !target?.attached && this.settings.letters && this.isShared) void this.pushElsewhere(frame);
    else target?.send(frame);
  }

  /** Sends a message of another process, if a client reads a stream here. Returns whether one does. */
  pushHere(frame: Frame): boolean {
    const { target } = this;
    if (!target?.attached) return false;
    target.send(frame);
    return true;
  }

  private async pushElsewhere(frame: Frame): Promise<void> {
    const { letters } = this.settings;
    try {
      if (await letters?.ask({ kind: 'push', session: this.id, frame })) return;
    } catch {
      // the error is reported
    }
    this.target?.send(frame);
  }

  private get target(): EventStream | undefined {
    let target = this.soleStream;
    for (const stream of this.streams ?? []) {
      if (stream.kind !== 'g' || stream.ended) continue;
      target = stream;
      if (stream.attached) break;
    }
    return target;
  }

  private writerTo(store: SessionStore): RecordWriter {
    const { settings, state } = this;
    return (this.writer ??= new RecordWriter(state, { ...settings, store, ttlMs: ttlOf(settings) }));
  }

  private freeStreamSlot(): void {
    const { maxStreams } = this.settings;
    const streams = this.streams?.filter(({ kind, ended }) => kind === 'g' || ended) ?? [];
    let count = streams.length;
    // ended streams are kept only while a client is resuming them; the others can be resumed until their slot is needed
    for (const stream of streams.toSorted((a, b) => Number(b.ended) - Number(a.ended))) {
      if (stream.attached || (!stream.ended && count < maxStreams)) continue;
      this.closeStream(stream);
      count -= 1;
    }
    if (count >= maxStreams) throw new HttpLimitError('maxStreams', 429, 'The session has too many open streams.');
  }
}

/** Milliseconds to store a record: longer than `sessionIdleMs`, because a record is touched only when a sweep runs. */
export function ttlOf({ sessionIdleMs, keepAliveMs }: SessionSettings): number {
  return sessionIdleMs + 2 * keepAliveMs;
}
