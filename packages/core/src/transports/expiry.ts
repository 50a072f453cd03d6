import type { Principal } from '../protocol/wire.js';

/** A smaller number must be in seconds, like the `exp` of a token. */
const MIN_EXPIRY = 100_000_000_000;

/** Whether a value can be the `expiresAt` of a principal: milliseconds since 1970, or undefined for never. */
export function isExpiry(value: unknown): value is number | undefined {
  return value === undefined || (typeof value === 'number' && value >= MIN_EXPIRY);
}

/** The longest delay of a timer. */
const MAX_DELAY_MS = 2_147_483_647;

/** Watches the credentials of a connection that has one caller for its whole life. */
export class Expiry {
  private isOver = false;
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param at when the credentials expire, in milliseconds since 1970
   * @param expire called once when they have expired
   */
  private constructor(
    private readonly at: number,
    private readonly expire: () => void,
  ) {
    this.wait();
  }

  /** Starts to watch. Undefined if the credentials never expire. */
  static of(principal: Principal | undefined, expire: () => void): Expiry | undefined {
    return principal?.expiresAt === undefined ? undefined : new Expiry(principal.expiresAt, expire);
  }

  /** Whether the credentials have expired. Looks at the clock, because timers stand still while a machine sleeps. */
  hasPassed(): boolean {
    if (!this.isOver && Date.now() >= this.at) {
      this.isOver = true;
      this.stop();
      this.expire();
    }
    return this.isOver;
  }

  /** Stops watching. */
  stop(): void {
    clearTimeout(this.timer);
  }

  private wait(): void {
    const ms = Math.min(Math.max(0, this.at - Date.now()), MAX_DELAY_MS);
    this.timer = setTimeout(() => void (this.hasPassed() || this.wait()), ms).unref();
  }
}
