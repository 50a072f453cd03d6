import type { Principal, RequestId } from '@decorum/core';
import type { Frame, Session } from '@decorum/core/transport';

import { HttpLimitError } from '../endpoint/http-error.js';
import { streamId } from '../fast/stream-id.js';
import { batchOf } from '../streams/event-store.js';
import { EventLog, type LoggedSession } from '../streams/event-log.js';
import { type Mover, MovingStream } from '../streams/moving-stream.js';
import { PastStream } from '../streams/past-stream.js';
import { EventStream } from '../streams/stream.js';
import type { SessionSettings } from './session-settings.js';

/** The session that streams belong to. */
interface StreamedSession extends LoggedSession {
  readonly id: string;
  readonly state: Session;
  /** Told when a reader is gone. */
  recheck(): void;
}

/** The streams of a session in this process. */
export class SessionStreams implements Mover {
  /** The one stream of an HTTP+SSE session. */
  sole: EventStream | undefined;
  /** Oldest first. The array is created with the first stream, because most sessions never have one. */
  private all: EventStream[] | undefined;

  constructor(
    private readonly session: StreamedSession,
    private readonly settings: SessionSettings,
  ) {}

  /** Whether a client reads one of them. */
  get attached(): boolean {
    return this.all?.some(({ attached }) => attached) === true;
  }

  /**
   * Opens a stream for messages that belong to no request.
   * @throws {HttpError} 429
   */
  open(): EventStream {
    this.freeSlot();
    return this.add(this.standalone(`g${streamId()}`));
  }

  /**
   * Opens the stream of a request.
   * @param id undefined for a batch
   */
  openFor(id: RequestId | undefined): EventStream {
    const stream = new EventStream(this.settings.streams, 'p', this.logOf(`p${streamId()}`));
    // another process needs it if this one dies
    if (this.session.node !== undefined)
      stream.log?.append(batchOf({ sequence: 0, frame: JSON.stringify(id ?? null) }));
    return this.add(stream);
  }

  /**
   * The stream that a client resumes. If its request has already ended, the stream can only be replayed from the store,
   * and counts like a stream that belongs to no request. A GET stream of another process moves here.
   * @param id stream id, as in the ids of its events
   * @param node the process that has sent the last event, if its id says so
   * @throws {HttpError} 429
   */
  lost(id: string, node: string | undefined): EventStream {
    const known = this.find(id);
    if (known !== undefined) return known;
    this.freeSlot();
    return this.add(id.startsWith('g') ? this.standalone(id, true) : this.past(id, node));
  }

  /** Removes an ended stream, once its events are stored, unless a client is still resuming it. */
  close(stream: EventStream): void {
    if (stream.attached) return;
    const stored = stream.log?.stored;
    if (stored === undefined) this.remove(stream);
    else void stored.then(() => stream.attached || this.remove(stream));
  }

  /** Ends the streams that belong to no request. */
  endStandalone(): void {
    for (const stream of this.all?.filter(({ kind }) => kind === 'g') ?? []) {
      stream.end();
      this.close(stream);
    }
  }

  /** Ends all streams except those of requests, which end with the response. */
  end(): void {
    this.sole?.end();
    this.endStandalone();
  }

  /**
   * Disconnects readers, which may resume with a newer token. Responses to POSTs stay open.
   * @param ends the readers to disconnect; all by default
   */
  expire(ends: (reader: Principal | undefined) => boolean = () => true): void {
    const { events, retryMs } = this.settings;
    const isRead = (stream: EventStream) => (stream.kind === 'g' || stream.resumed) && ends(stream.reader);
    for (const stream of this.all?.filter(isRead) ?? []) {
      stream.pause(retryMs);
      if (events !== false) continue;
      stream.end();
      this.close(stream);
    }
  }

  /**
   * Handles the question of another process for a stream. Gives up a GET stream.
   * @returns whether this process had the GET stream and has stored all its messages; or, for the stream of a request,
   *   whether it still runs the request
   */
  async giveUp(id: string): Promise<boolean> {
    const stream = this.find(id);
    if (stream === undefined) return false;
    if (!(stream instanceof MovingStream)) {
      if (!stream.ended) return true;
      // the other process looks for the response once more
      await stream.log?.stored;
      return false;
    }
    if (stream.isMoving) return false;
    this.leave(stream);
    await stream.log.stored;
    return !stream.lacksSome;
  }

  askFor(stream: string, node: string | undefined): boolean | Promise<boolean> {
    const { letters } = this.settings;
    const { id, node: own } = this.session;
    if (letters === undefined || own === undefined || node === undefined) return false;
    return letters.ask({ kind: 'adopted', session: id, stream }, node);
  }

  moved({ log }: MovingStream, lossless: boolean): void {
    const { counts, kernel, letters } = this.settings;
    const { id, node, state, isShared } = this.session;
    if (isShared) counts.adopted += 1;
    if (node === undefined || lossless) return;
    // a process that nobody has named may have it
    letters?.tell({ kind: 'adopted', session: id, stream: log.id });
    kernel.catchUp(state);
  }

  conflicted(stream: MovingStream): void {
    this.settings.counts.conflicts += 1;
    if (!stream.attached) this.leave(stream);
  }

  /**
   * Sends a message that belongs to no request on a connected stream. Without one, the newest stream keeps it.
   * @param isOnlyHere whether no other process has the message. Then a stream in one of them may get it
   */
  push(frame: Frame, isOnlyHere = false): void {
    const { target } = this;
    const isElsewhere = isOnlyHere && !target?.attached && this.settings.letters !== undefined && this.session.isShared;
    if (isElsewhere) void this.pushElsewhere(frame);
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
      if (await letters?.ask({ kind: 'push', session: this.session.id, frame })) return;
    } catch {
      // the error is reported
    }
    this.target?.send(frame);
  }

  private get target(): EventStream | undefined {
    let target = this.sole;
    for (const stream of this.all ?? []) {
      if (stream.kind !== 'g' || stream.ended) continue;
      target = stream;
      if (stream.attached) break;
    }
    return target;
  }

  /** A stream that a client can resume here. */
  private find(id: string): EventStream | undefined {
    const { logKey } = this.session;
    return this.all?.find(
      ({ log, kind, ended }) => log?.id === id && log.sessionKey === logKey && !(kind === 'g' && ended),
    );
  }

  private add(stream: EventStream): EventStream {
    stream.holder = this.session;
    // most sessions have one stream, and `push` would allocate room for many
    if (this.all === undefined) this.all = [stream];
    else this.all.push(stream);
    return stream;
  }

  private remove(stream: EventStream): void {
    const at = this.all?.indexOf(stream) ?? -1;
    if (at !== -1) this.all?.splice(at, 1);
  }

  /** Ends a stream that goes on in another process. Its reader, if it is still there, follows. */
  private leave(stream: EventStream): void {
    stream.pause(this.settings.retryMs);
    stream.end();
    this.remove(stream);
  }

  private standalone(id: string, isLost = false): EventStream {
    const { streams } = this.settings;
    const log = this.logOf(id);
    if (log === undefined) return new EventStream(streams, 'g');
    const stream = new MovingStream(streams, log, this);
    if (isLost) stream.hold();
    return stream;
  }

  private past(id: string, node: string | undefined): EventStream {
    const { streams } = this.settings;
    const own = this.session.node;
    // its events keep their ids, which name the process that runs the request
    const log = this.logOf(id, own && node);
    if (log === undefined) return new EventStream(streams, 'p');
    return new PastStream(streams, log, own === undefined ? undefined : () => this.askFor(id, node));
  }

  private logOf(id: string, node?: string): EventLog | undefined {
    const { events: store, stores, appends } = this.settings;
    return store ? new EventLog(id, this.session, { store, stores, appends, node }) : undefined;
  }

  private freeSlot(): void {
    const { maxStreams } = this.settings;
    const streams = this.all?.filter(({ kind, ended }) => kind === 'g' || ended) ?? [];
    let count = streams.length;
    // ended streams are kept only while a client is resuming them; the others can be resumed until their slot is needed
    for (const stream of streams.toSorted((a, b) => Number(b.ended) - Number(a.ended))) {
      if (stream.attached || (!stream.ended && count < maxStreams)) continue;
      this.close(stream);
      count -= 1;
    }
    if (count >= maxStreams) throw new HttpLimitError('maxStreams', 429, 'The session has too many open streams.');
  }
}
