import type { UpstreamClock } from './clock.js';

/** Milliseconds within which the first retry comes. */
const FIRST_MS = 1000;

const LONGEST_MS = 30_000;

/** Decides when to try an upstream again that could not be reached. */
export class Backoff {
  private failures = 0;
  private failedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly clock: UpstreamClock) {}

  /** Whether a caller may try at once. Without callers, the upstream is tried less and less often. */
  get mayTry(): boolean {
    return this.clock.now() - this.failedAt >= FIRST_MS;
  }

  /** Milliseconds to wait before the next try: within a second at first, up to 30 seconds later, and never quite alike. */
  get delayMs(): number {
    const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, this.failures - 1));
    return longest * (0.5 + this.clock.random() / 2);
  }

  failed(): void {
    this.failures += 1;
    this.failedAt = this.clock.now();
  }

  succeeded(): void {
    this.failures = 0;
    this.failedAt = Number.NEGATIVE_INFINITY;
  }
}
