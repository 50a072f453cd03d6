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
  /** Whether the backlog consists of several answers. */
  readonly several?: boolean;
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
}

/** Part of the limit up to which messages may be buffered that can be dropped, and to which cutting off frees it. */
const RESERVE_FROM = 7 / 8;

/** The readers of an endpoint that are behind, and what they have not taken. */
export class SlowReaders {
  /** Bytes that readers have not taken. A plain field, because it is read for each message. */
  unsent = 0;
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
    const behind = known ?? { held, unsent: 0, left: 0, since: 0 };
    if (known === undefined) this.behind.set(reader, behind);
    behind.held = held;
    this.count(reader, behind);
    if (this.unsent > this.limits.maxTotalBufferedBytes) this.shed();
  }

  /** Removes a reader that has caught up or has disconnected. */
  forget(reader: Reader): void {
    this.unsent -= this.behind.get(reader)?.unsent ?? 0;
    this.behind.delete(reader);
  }

  /** Cuts off the readers that have taken nothing for too long. */
  sweep(): void {
    const now = Date.now();
    for (const [reader, behind] of this.behind) {
      const { left } = reader;
      this.count(reader, behind);
      if (left === 0 || left !== behind.left) {
        behind.left = left;
        behind.since = now;
        if (behind.unsent === 0) this.forget(reader);
      } else if (now - behind.since >= this.limits.readerTimeoutMs) this.cutOff(reader, 'readerTimeoutMs');
    }
  }

  private count(reader: Reader, behind: Behind): void {
    const unsent = reader.backlog + behind.held;
    this.unsent += unsent - behind.unsent;
    behind.unsent = unsent;
  }

  /** Cuts off those with the largest backlogs. If there is only one, it gets its answer, however large that is. */
  private shed(): void {
    for (const [reader, behind] of this.behind) this.count(reader, behind);
    if (this.unsent <= this.limits.maxTotalBufferedBytes) return;
    const largestFirst = [...this.behind].sort(([, a], [, b]) => b.unsent - a.unsent);
    for (const [reader] of largestFirst) {
      if (this.behind.size === 1 && reader.several !== true) return;
      this.cutOff(reader, 'maxTotalBufferedBytes');
      // less than the limit, because sorting for each further message would be too expensive
      if (this.unsent <= this.limits.maxTotalBufferedBytes * RESERVE_FROM) return;
    }
  }

  private cutOff(reader: Reader, limit: keyof Limits): void {
    this.hit({ limit });
    this.forget(reader);
    reader.destroy();
  }
}
