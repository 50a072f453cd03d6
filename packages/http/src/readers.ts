import { setImmediate } from 'node:timers';

import type { LimitHit } from '@decorum/core';

import type { EndpointLimits } from './limits.js';

/** Bytes that a response may leave unread without being counted. Same as the default buffer of Node's sockets. */
export const UNCOUNTED_BYTES = 16_384;

/** The receiving end of a response or a connection. */
export interface Reader {
  /** Bytes that it has not taken. */
  readonly backlog: number;
  /** Changes whenever it takes something. 0 while it has nothing to take. */
  readonly left: number;
  /** Drops the connection. */
  destroy(): void;
}

type Limits = Required<Pick<EndpointLimits, 'maxTotalBufferedBytes' | 'readerTimeoutMs'>>;

/** A reader that is behind. */
interface Behind {
  /** Bytes that wait outside of the connection. */
  held: number;
  /** `held` and the backlog, as last counted. */
  unsent: number;
  /** `Reader.left` at the last sweep. */
  left: number;
  /** Time of the sweep since which it has taken nothing. */
  since: number;
  /** Its connection has been dropped, and holds the bytes until it is closed. */
  isLeaving: boolean;
}

/** Part of the limit up to which messages may be buffered that can be dropped, and to which cutting off frees it. */
const RESERVE_FROM = 7 / 8;

/** The readers of an endpoint that are behind, and what they have not taken. */
export class SlowReaders {
  /** Bytes that readers have not taken. A plain field, because it is read for each message. */
  unsent = 0;
  /** The part of `unsent` whose connections have been dropped and are not closed yet. */
  leaving = 0;
  private readonly behind = new Map<Reader, Behind>();

  constructor(
    private readonly limits: Limits,
    private readonly hit: (hit: LimitHit) => void,
  ) {}

  /** Whether a message that a slow reader can do without has to be dropped, to leave room for others. */
  isFull(size: number): boolean {
    return this.unsent + size > this.limits.maxTotalBufferedBytes * RESERVE_FROM;
  }

  /**
   * Counts what a reader has not taken, and cuts off readers while it is too much.
   * @param held bytes for this reader that wait outside of the connection
   */
  note(reader: Reader, held = 0): void {
    const known = this.behind.get(reader);
    const behind = known ?? { held, unsent: 0, left: 0, since: 0, isLeaving: false };
    if (known === undefined) this.behind.set(reader, behind);
    behind.held = held;
    this.count(reader, behind);
    if (this.unsent - this.leaving > this.limits.maxTotalBufferedBytes) this.shed();
  }

  /** Removes a reader that has caught up or has disconnected. */
  forget(reader: Reader): void {
    const behind = this.behind.get(reader);
    if (behind === undefined) return;
    this.behind.delete(reader);
    this.unsent -= behind.unsent;
    if (behind.isLeaving) this.leaving -= behind.unsent;
  }

  /** Resolves when the connections that were dropped are closed, so that a burst of resumes can't outrun them. */
  async settled(): Promise<void> {
    while (this.leaving > 0) await new Promise(setImmediate);
  }

  /** Cuts off the readers that have taken nothing for too long. */
  sweep(): void {
    const now = Date.now();
    for (const [reader, behind] of this.behind) {
      const { left } = reader;
      this.count(reader, behind);
      // a dropped connection closes within a few turns of the event loop, unless the host is broken
      if (behind.isLeaving) this.forget(reader);
      else if (left === 0 || left !== behind.left) {
        behind.left = left;
        behind.since = now;
        if (behind.unsent === 0) this.forget(reader);
      } else if (now - behind.since >= this.limits.readerTimeoutMs) this.cutOff(reader, behind, 'readerTimeoutMs');
    }
  }

  private count(reader: Reader, behind: Behind): void {
    if (behind.isLeaving) return;
    const unsent = reader.backlog + behind.held;
    this.unsent += unsent - behind.unsent;
    behind.unsent = unsent;
  }

  /** Cuts off those with the largest backlogs. If there is only one, it gets its answer, however large that is. */
  private shed(): void {
    const { maxTotalBufferedBytes: max } = this.limits;
    for (const [reader, behind] of this.behind) this.count(reader, behind);
    if (this.unsent - this.leaving <= max) return;
    const staying = [...this.behind].filter(([, { isLeaving }]) => !isLeaving);
    staying.sort(([, a], [, b]) => a.unsent - b.unsent);
    // less than the limit, because sorting for each further message would be too expensive
    while (this.unsent - this.leaving > max * RESERVE_FROM) {
      const [reader, behind] = staying.pop() as [Reader, Behind];
      if (staying.length === 0) return;
      this.cutOff(reader, behind, 'maxTotalBufferedBytes');
    }
  }

  private cutOff(reader: Reader, behind: Behind, limit: keyof Limits): void {
    if (behind.isLeaving) return;
    behind.isLeaving = true;
    this.leaving += behind.unsent;
    this.hit({ limit });
    reader.destroy();
  }
}
