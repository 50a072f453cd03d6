interface Entry<T> {
  readonly value: T;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Caches results for tokens. It holds digests, never tokens. At the cap, the oldest entry is evicted. */
export class TokenCache<T> {
  private readonly entries = new Map<string, Entry<T>>();

  constructor(private readonly max = 10_000) {}

  /** The result for a token, unless it has expired. */
  get(digest: string, now: number): T | undefined {
    const entry = this.entries.get(digest);
    if (entry === undefined) return undefined;
    if (now < entry.until) return entry.value;
    this.entries.delete(digest);
    return undefined;
  }

  /** Removes all results that have expired. */
  dropExpired(now: number): void {
    for (const [digest, { until }] of this.entries) if (now >= until) this.entries.delete(digest);
  }

  set(digest: string, value: T, until: number): void {
    this.entries.delete(digest);
    if (this.entries.size >= this.max) {
      const [oldest] = this.entries.keys();
      this.entries.delete(oldest as string);
    }
    this.entries.set(digest, { value, until });
  }
}
