import type { Frame } from '@decorum/core/transport';

import type { Sink } from '../endpoint/http-context.js';
import { CatchUp, PAGE } from './catch-up.js';
import type { EventLog } from './event-log.js';
import { type EventBatch, eventsOf } from './event-store.js';
import { EventStream } from './stream.js';
import type { StreamParts } from './stream-parts.js';

/** Cap on the messages that wait while a stream looks for the end of its log. */
const MAX_HELD = 100;

/** What a stream that moves needs from its session. */
export interface Mover {
  /**
   * Asks the process that had the stream to give it up.
   * @param node the process, if the client has named it
   * @returns false if that process is dead, or no longer had it
   * @throws {HttpError} 503 if it doesn't answer
   */
  askFor(id: string, node: string | undefined): boolean | Promise<boolean>;
  /**
   * Called when the stream has moved here.
   * @param lossless whether its client has missed nothing, except what is stored
   */
  moved(stream: MovingStream, lossless: boolean): void;
  /** Called when another process has continued the stream. Ends it if nobody reads it here. */
  conflicted(stream: MovingStream): void;
}

/**
 * A GET stream. It moves to the process where its client resumes it, and goes on there with the same log. Two processes
 * may have it for a while: the store refuses events if another process was faster.
 */
export class MovingStream extends EventStream {
  /** Messages that wait until the end of the log is found. Undefined if it is known. */
  private held: Frame[] | undefined;
  /** Whether it has lost messages: too many had to wait, or the store has refused them after the end. */
  lacksSome = false;
  /** Events that the store has refused. */
  private refused: EventBatch[] = [];
  /** Settles when the end of the log is found. Resolves to false if there is no such log. */
  private search: Promise<boolean> | undefined;
  /** Whether the reader has been sent all that was stored when it was last read, but the log may go on. */
  private isWaiting = false;

  constructor(
    parts: StreamParts,
    override readonly log: EventLog,
    private readonly mover: Mover,
  ) {
    super(parts, 'g', log);
    log.onConflict = (batch) => this.refuse(batch);
  }

  /** Whether this process doesn't know the end of the log. */
  get isMoving(): boolean {
    return this.held !== undefined;
  }

  /** Marks a stream of which this process knows nothing. */
  hold(): void {
    this.held ??= [];
  }

  override send(frame: Frame): void {
    if (this.held === undefined || this.ended) super.send(frame);
    else if (this.held.length < MAX_HELD) this.held.push(frame);
    else this.lacksSome = true;
  }

  override async resume(after: number, open: () => Sink, node?: string): Promise<boolean> {
    // another process has continued it, and this one was not told
    if (after > this.sequence && this.log.mayBeUnknown(after)) this.hold();
    if (this.held !== undefined) {
      this.resuming += 1;
      try {
        if (!(await (this.search ??= this.move(after, node)))) return false;
      } finally {
        this.resuming -= 1;
      }
    }
    return await super.resume(after, open);
  }

  override caughtUp(sink: Sink): void {
    if (this.held === undefined) super.caughtUp(sink);
    else this.isWaiting = true;
  }

  private async move(after: number, node: string | undefined): Promise<boolean> {
    const { log, mover } = this;
    try {
      const isGivenUp = await mover.askFor(log.id, node);
      const end = await this.endAfter(after);
      if (end === undefined && !log.mayBeUnknown(after)) {
        this.end();
        return false;
      }
      this.goOn(end ?? after);
      mover.moved(this, isGivenUp && !this.lacksSome);
      this.lacksSome = false;
      return true;
    } catch (error) {
      // the next attempt starts afresh
      this.end();
      throw error;
    } finally {
      this.search = undefined;
    }
  }

  private refuse(batch: EventBatch): void {
    if (this.ended) {
      this.lacksSome = true;
      return;
    }
    this.mover.conflicted(this);
    if (!this.attached) return;
    this.refused.push(batch);
    if (this.held !== undefined) return;
    this.held = [];
    const position = batch.first - 1;
    const sink = this.takeOff();
    if (sink !== undefined) {
      this.catchUp = new CatchUp(this, sink, position);
      this.isWaiting = true;
    }
    this.search = this.rejoin(position);
    // its error is reported
    this.search.catch(() => {});
  }

  /** Finds the end of the log after a conflict. */
  private async rejoin(position: number): Promise<boolean> {
    try {
      this.goOn((await this.endAfter(position)) ?? position);
      return true;
    } catch (error) {
      this.catchUp?.sink.destroy();
      this.end();
      throw error;
    } finally {
      this.search = undefined;
    }
  }

  /** The position of the last stored event; undefined for an unknown log. */
  private async endAfter(position: number): Promise<number | undefined> {
    let end = position;
    for (;;) {
      const page = await this.log.read(end, PAGE);
      if (page === undefined && end === position) return undefined;
      const last = page?.at(-1)?.sequence ?? end;
      if (last <= end) return end;
      end = last;
    }
  }

  /** Goes on after the last stored event, with the events that were refused and those that have waited. */
  private goOn(end: number): void {
    const { held = [], refused } = this;
    this.sequence = Math.max(this.sequence, end);
    this.held = undefined;
    this.refused = [];
    for (const { frame } of refused.flatMap((batch) => eventsOf(batch))) super.send({ kind: 'notice', text: frame });
    for (const frame of held) super.send(frame);
    if (!this.isWaiting) return;
    this.isWaiting = false;
    this.catchUp?.send([], this.parts.readers);
  }
}
