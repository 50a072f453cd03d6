import type { Principal } from '@decorum/core';
import type { Frame } from '@decorum/core/transport';

import { HttpLimitError } from '../endpoint/http-error.js';
import { streamId } from '../fast/stream-id.js';
import { ContinuedStream } from '../streams/continued-stream.js';
import { EventLog, type LoggedSession } from '../streams/event-log.js';
import { EventStream } from '../streams/stream.js';
import type { SessionSettings } from './session-settings.js';

/** Kind of a stream: `g` (GET) carries messages that belong to no request, `p` (POST) those of one request. */
export type StreamKind = 'g' | 'p';

/** The session that streams belong to. */
interface StreamedSession extends LoggedSession {
  readonly id: string;
  /** Told when a reader is gone. */
  recheck(): void;
}

/** The streams of a session in this process. */
export class SessionStreams {
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
   * Opens a stream.
   * @throws {HttpError} 429
   */
  open(kind: StreamKind): EventStream {
    if (kind === 'g') this.freeSlot();
    const stream = this.streamOf(kind + streamId());
    // most sessions have one stream, and `push` would allocate room for many
    if (this.all === undefined) this.all = [stream];
    else this.all.push(stream);
    return stream;
  }

  /**
   * The stream that a client resumes. If its request has already ended, the stream can only be replayed from the store,
   * and counts like a stream that belongs to no request. A GET stream of another process continues here.
   * @param id stream id, as in the ids of its events
   * @throws {HttpError} 429
   */
  lost(id: string): EventStream {
    const { logKey } = this.session;
    const known = this.all?.find(({ log }) => log?.id === id && log.sessionKey === logKey);
    if (known !== undefined) return known;
    this.freeSlot();
    const lost = id.startsWith('g') ? this.continued(id) : this.streamOf(id);
    if (lost.kind === 'p') lost.endBefore();
    (this.all ??= []).push(lost);
    return lost;
  }

  /** Removes an ended stream, unless a client is still resuming it. */
  close(stream: EventStream): void {
    if (stream.attached) return;
    const at = this.all?.indexOf(stream) ?? -1;
    if (at !== -1) this.all?.splice(at, 1);
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

  /** Lets another process continue a GET stream. Returns whether this process had the stream, and gave it up. */
  giveUp(_id: string): boolean | Promise<boolean> {
    return false;
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

  private streamOf(id: string): EventStream {
    const { events: store, streams } = this.settings;
    const kind = id.startsWith('g') ? 'g' : 'p';
    const log = store ? new EventLog(id, this.session, store) : undefined;
    const stream = new EventStream(streams, kind, log);
    stream.holder = this.session;
    return stream;
  }

  private continued(id: string): EventStream {
    const { events: store, streams } = this.settings;
    if (!store) return this.streamOf(id);
    const [log, earlier] = [`g${streamId()}`, id].map((each) => new EventLog(each, this.session, store));
    const stream = new ContinuedStream(streams, log as EventLog, earlier as EventLog);
    stream.holder = this.session;
    return stream;
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
