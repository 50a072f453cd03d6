/** Minimum time between two attempts, so that failures and unknown keys can't make the server flood an issuer. */
export const SPACING_MS = 30_000;

/** How long a value stays in use if all attempts to replace it fail. */
const KEEP_MS = 24 * 60 * 60 * 1000;

/** Dependencies of a `Kept` value. */
export interface KeptParts<T> {
  /** Fetches the value. */
  load(): Promise<T>;
  /** Called with each new value and its predecessor. */
  replaced?(value: T, previous: T | undefined): void;
  now(): number;
  /** Age at which the value should be fetched again. */
  readonly freshMs: number;
}

/**
 * A value fetched from an issuer. It is fetched with one request at a time, at most every 30 seconds. If fetching
 * fails, the last value stays in use for up to 24 hours.
 */
export class Kept<T> {
  private value: T | undefined;
  private loadedAt = Number.NEGATIVE_INFINITY;
  private triedAt = Number.NEGATIVE_INFINITY;
  private pending: Promise<void> | undefined;
  /** Why the last attempt failed; undefined if it succeeded. */
  failure: unknown;

  constructor(private readonly parts: KeptParts<T>) {}

  /** The value, unless it is too old to be trusted. */
  get current(): T | undefined {
    return this.since(this.loadedAt) < KEEP_MS ? this.value : undefined;
  }

  /** Whether the value is too recent to be fetched again. */
  get isFresh(): boolean {
    return this.since(this.loadedAt) < this.parts.freshMs;
  }

  /** Marks the value as stale: it is fetched again at the next opportunity. */
  expire(): void {
    this.loadedAt = Math.min(this.loadedAt, this.parts.now() - this.parts.freshMs);
  }

  /** Fetches the value, unless the last attempt was too recent. Never rejects. */
  async refresh(): Promise<void> {
    if (this.pending === undefined) {
      if (this.since(this.triedAt) < SPACING_MS) return;
      this.triedAt = this.parts.now();
      this.pending = this.attempt().finally(() => (this.pending = undefined));
    }
    await this.pending;
  }

  /** The current value. A stale value is fetched again first, or in the background if the last attempt failed. */
  async get(): Promise<T | undefined> {
    if (!this.isFresh) {
      const refreshed = this.refresh();
      if (this.current === undefined || this.failure === undefined) await refreshed;
    }
    return this.current;
  }

  private async attempt(): Promise<void> {
    try {
      const value = await this.parts.load();
      const previous = this.value;
      this.value = value;
      this.loadedAt = this.parts.now();
      this.failure = undefined;
      this.parts.replaced?.(value, previous);
    } catch (error) {
      this.failure = error;
    }
  }

  /** Milliseconds since a time. If the clock was set back, the time counts as long ago. */
  private since(time: number): number {
    const elapsed = this.parts.now() - time;
    return elapsed < 0 ? Number.POSITIVE_INFINITY : elapsed;
  }
}
