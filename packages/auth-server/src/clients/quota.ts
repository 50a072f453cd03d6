import type { Clock } from '../platform.js';

/** Cap on the keys that a quota remembers. */
const MAX_KEYS = 10_000;

/** How often something may happen. */
export interface QuotaLimits {
  readonly limit: number;
  readonly windowMs: number;
}

/** Limits how often each key may do something within a sliding window. */
export class Quota {
  private readonly limits: QuotaLimits;
  private readonly clock: Pick<Clock, 'now'>;
  /** The times of each key within the window, the most recently used key last. */
  private readonly taken = new Map<string, number[]>();

  constructor(limits: QuotaLimits, clock: Pick<Clock, 'now'>) {
    this.limits = limits;
    this.clock = clock;
  }

  /** Counts one use. Returns 0, or the milliseconds until the key may be used again. */
  take(key: string): number {
    const now = this.clock.now();
    const times = (this.taken.get(key) ?? []).filter((time) => time > now - this.limits.windowMs);
    this.taken.delete(key);
    this.taken.set(key, times);
    const [first = now] = times;
    if (times.length >= this.limits.limit) return first + this.limits.windowMs - now;
    times.push(now);
    for (const oldest of this.taken.keys()) {
      if (this.taken.size <= MAX_KEYS) break;
      this.taken.delete(oldest);
    }
    return 0;
  }

  /** Takes back the last use of a key, because it came to nothing. */
  giveBack(key: string): void {
    this.taken.get(key)?.pop();
  }
}
