/** How long failures count, and how long a key is then full. */
export const WINDOW_MS = 15 * 60_000;

/** How many failures a key may have, and how many keys are remembered. */
export interface FailureLimits {
  readonly limit: number;
  readonly maxKeys: number;
}

/**
 * The failures of each key within the last 15 minutes. A key with as many failures as allowed is full for 15 minutes.
 *
 * Floods can't use up the memory, nor make this forget anything useful to them: full keys are always kept, and while
 * others are being forgotten, each new key starts with as many failures as any of those had. If nothing but full keys
 * are left, new keys are full, too.
 */
export class Failures {
  /** The key whose last failure is the oldest comes first. */
  private readonly open = new Map<string, number[]>();
  private readonly full = new Map<string, number[]>();
  private forgotten = { count: 0, last: Number.NEGATIVE_INFINITY };

  constructor(private readonly limits: FailureLimits) {}

  /** How many failures of a key count. */
  count(key: string, now: number): number {
    return this.timesOf(key, now).length;
  }

  /** The milliseconds for which a key is full; 0 if it isn't. */
  fullFor(key: string, now: number): number {
    const times = this.timesOf(key, now);
    return times.length < this.limits.limit ? 0 : (times.at(-1) as number) + WINDOW_MS - now;
  }

  /** Counts a failure, unless the key is full. */
  add(key: string, now: number): void {
    const times = this.timesOf(key, now);
    if (times.length >= this.limits.limit) return;
    this.keep(key, [...times, now]);
    this.forgetOldest();
  }

  /** Takes back a failure that was counted at a time. */
  takeBack(key: string, time: number): void {
    const times = this.open.get(key) ?? this.full.get(key) ?? [];
    const at = times.lastIndexOf(time);
    if (at !== -1) this.keep(key, times.toSpliced(at, 1));
  }

  /** Forgets all failures of a key. */
  clear(key: string): void {
    this.open.delete(key);
    this.full.delete(key);
  }

  private keep(key: string, times: number[]): void {
    this.clear(key);
    if (times.length > 0) (times.length < this.limits.limit ? this.open : this.full).set(key, times);
  }

  private timesOf(key: string, now: number): readonly number[] {
    this.forgetExpired(now);
    const isRecent = (time: number) => time > now - WINDOW_MS;
    const full = this.full.get(key);
    // the clock may have been set back, so keys need not expire in order
    if (full !== undefined && isRecent(full.at(-1) as number)) return full;
    const open = this.open.get(key);
    if (open !== undefined) return open.filter(isRecent);
    if (this.full.size >= this.limits.maxKeys) return this.earliestFull();
    const { count, last } = this.forgotten;
    return isRecent(last) ? Array<number>(count).fill(last) : [];
  }

  private earliestFull(): readonly number[] {
    const [times = []] = this.full.values();
    return times;
  }

  private forgetExpired(now: number): void {
    for (const keys of [this.open, this.full]) {
      for (const [key, times] of keys) {
        if ((times.at(-1) as number) > now - WINDOW_MS) break;
        keys.delete(key);
      }
    }
  }

  private forgetOldest(): void {
    const [oldest] = this.open;
    if (oldest === undefined || this.open.size + this.full.size <= this.limits.maxKeys) return;
    const [key, times] = oldest;
    this.open.delete(key);
    const { count, last } = this.forgotten;
    const time = times.at(-1) as number;
    this.forgotten = { count: Math.max(times.length, last > time - WINDOW_MS ? count : 0), last: Math.max(last, time) };
  }
}
