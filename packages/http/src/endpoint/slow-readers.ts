import { setImmediate } from 'node:timers';

import type { ReachedLimit } from '@decorum/core';

import type { EndpointLimits } from './limits.js';

/** Responses with up to this many unread bytes aren't counted. Same as the default buffer size of Node's sockets. */
export const UNCOUNTED_BYTES = 16_384;

/** The receiving end of a response or a connection. */
export interface Reader {
  /** Bytes that the reader has not taken yet. */
  readonly backlog: number;
  /** A number that changes whenever the reader takes something. 0 while it has nothing to take. */
  readonly left: number;
  /** Drops the connection. */
  destroy(): void;
}

type Limits = Required<Pick<EndpointLimits, 'maxTotalBufferedBytes' | 'readerTimeoutMs'>>;

/** A reader that is behind. */
interface Behind {
  /** Bytes that wait outside the connection. */
  held: number;
  /** `held` plus the backlog, as last counted. */
  unsent: number;
  /** `Reader.left` at the last sweep. */
  left: number;
  /** Time of the last sweep that found progress. */
  since: number;
  /** Whether the connection has been dropped. It holds the bytes until it closes. */
  isLeaving: boolean;
}

/** Fraction of the limit above which droppable messages are dropped, and down to which readers are cut off. */
const RESERVE_FROM = 7 / 8;

/** The slow readers of an endpoint, and the bytes that they have not taken yet. */
export class SlowReaders {
  /** Bytes that readers have not taken. A plain field, because it is read for each message. */
  unsent = 0;
  /** The part of `unsent` that belongs to dropped connections that have not closed yet. */
  leaving = 0;
  private readonly behind = new Map<Reader, Behind>();

  constructor(
    private readonly limits: Limits,
    private readonly hit: (hit: ReachedLimit) => void,
  ) {}

  /** Whether a droppable message for a slow reader has to be dropped, to leave room for others. */
  isFull(size: number): boolean {
    return this.unsent + size > this.limits.maxTotalBufferedBytes * RESERVE_FROM;
  }

  /**
   * Counts the bytes that a reader has not taken yet, and cuts off readers if the total is too large.
   * @param held bytes for this reader that wait outside the connection
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

  /** Resolves when all dropped connections have closed, so that resumes can't buffer faster than memory is freed. */
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

  /** Cuts off the readers with the largest backlogs, but never the last one: a single answer may be of any size. */
  private shed(): void {
    const { maxTotalBufferedBytes: max } = this.limits;
    for (const [reader, behind] of this.behind) this.count(reader, behind);
    if (this.unsent - this.leaving <= max) return;
    const staying = [...this.behind].filter(([, { isLeaving }]) => !isLeaving);
    staying.sort(([, a], [, b]) => a.unsent - b.unsent);
    // frees more than necessary, because sorting again for each message would be too expensive
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
