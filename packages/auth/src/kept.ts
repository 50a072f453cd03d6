import { retryAfterOf } from './fetch-json.js';

/** Minimum time between two attempts after a success, so that unknown keys can't make the server flood an issuer. */
const SPACING_MS = 5000;

/** Waiting time after the first failure. It doubles with each further failure, up to the maximum. */
const BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 30_000;

/** Cap on the attempts in a minute, for an issuer that fails every now and then. */
const MAX_PER_MINUTE = 12;
const MINUTE_MS = 60_000;

/** How long requests wait for a successor of a stale value. */
const PATIENCE_MS = 1000;

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

/** An attempt to fetch the value. */
interface Attempt {
  readonly ended: Promise<void>;
  /** Resolves when the attempt has ended, or takes too long to wait for it. */
  readonly patience: Promise<void>;
}

/**
 * A value fetched from an issuer. It is fetched with one request at a time, at most every 5 seconds, and again sooner
 * after a failure. While fetching fails or takes long, the last value stays in use, for up to 24 hours.
 */
export class Kept<T> {
  private value: T | undefined;
  private loadedAt = Number.NEGATIVE_INFINITY;
  /** When the last attempts began, oldest first. */
  private begun: number[] = [];
  private failures = 0;
  /** The time that has to pass since `restingSince` before the next attempt. */
  private restMs = 0;
  private restingSince = Number.NEGATIVE_INFINITY;
  private pending: Attempt | undefined;
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
    await this.begin()?.ended;
  }

  /**
   * The current value. A stale value is fetched again first, or in the background if the issuer takes long or has failed
   * before.
   */
  async get(): Promise<T | undefined> {
    if (!this.isFresh) {
      const attempt = this.begin();
      if (this.current === undefined) await attempt?.ended;
      else if (this.failure === undefined) await attempt?.patience;
    }
    return this.current;
  }

  private begin(): Attempt | undefined {
    if (this.pending !== undefined) return this.pending;
    this.begun = this.begun.filter((time) => this.since(time) < MINUTE_MS);
    if (this.since(this.restingSince) < this.restMs || this.begun.length >= MAX_PER_MINUTE) return undefined;
    this.begun.push(this.parts.now());
    let timer: NodeJS.Timeout | undefined;
    const ended = this.attempt().finally(() => {
      this.pending = undefined;
      clearTimeout(timer);
    });
    const tooLong = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS).unref()));
    return (this.pending = { ended, patience: Promise.race([ended, tooLong]) });
  }

  private async attempt(): Promise<void> {
    const { parts } = this;
    const begun = parts.now();
    try {
      const value = await parts.load();
      const previous = this.value;
      this.value = value;
      this.loadedAt = parts.now();
      this.failure = undefined;
      this.failures = 0;
      this.rest(begun, SPACING_MS);
      parts.replaced?.(value, previous);
    } catch (error) {
      this.failure = error;
      const now = parts.now();
      const backoff = Math.max(BACKOFF_MS * 2 ** this.failures, retryAfterOf(error, now));
      this.failures += 1;
      this.rest(now, Math.min(backoff, MAX_BACKOFF_MS));
    }
  }

  private rest(since: number, ms: number): void {
    this.restingSince = since;
    this.restMs = ms;
  }

  /** Milliseconds since a time. If the clock was set back, the time counts as long ago. */
  private since(time: number): number {
    const elapsed = this.parts.now() - time;
    return elapsed < 0 ? Number.POSITIVE_INFINITY : elapsed;
  }
}
