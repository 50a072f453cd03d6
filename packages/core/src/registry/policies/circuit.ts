import { EventEmitter } from 'node:events';

import type { BreakerOptions } from '../../metadata/policy-options.js';
import { ToolError } from '../../protocol/errors.js';
import { notRun } from './failures.js';
import { type CircuitBreaker, loadCircuitBreaker } from './libraries.cjs';

/** Parts of the window, each of which is forgotten as a whole. */
const BUCKETS = 10;

const DONE = Promise.resolve();

/** Tells the operator of a change. */
type Tell = (message: string) => void;

/** A call that is let through to find out whether the member works again. */
export interface Trial {
  readonly beganAt: number;
}

/**
 * The circuit breaker of a member. Opossum counts and decides. Calls don't run inside of it: its `fire` makes every call
 * asynchronous, counts calls that are cancelled, and lets no call through any more once a trial doesn't end.
 */
export class Circuit {
  private readonly breaker: CircuitBreaker;
  /** Ends the oldest bucket. Opossum would use an interval instead, which runs even if there are no calls. */
  private readonly buckets = new EventEmitter();
  private readonly windowMs: number;
  private readonly resetMs: number;
  private bucketEndsAt = 0;
  private reopensAt = 0;
  private trial: Trial | undefined;

  constructor(options: BreakerOptions, tell: Tell) {
    const { errorThresholdPercentage = 50, volumeThreshold = 5, windowMs = 10_000, resetMs = 30_000 } = options;
    this.windowMs = windowMs;
    this.resetMs = resetMs;
    const Breaker = loadCircuitBreaker();
    this.breaker = new Breaker(
      // throws instead of rejecting, so that the next call finds the circuit open
      (isFailure) => {
        if (isFailure) throw new Error('The call failed.');
        return DONE;
      },
      {
        timeout: false,
        errorThresholdPercentage,
        volumeThreshold,
        rollingCountTimeout: windowMs,
        rollingCountBuckets: BUCKETS,
        rollingPercentilesEnabled: false,
        enableSnapshots: false,
        resetTimeout: resetMs,
        rotateBucketController: this.buckets,
      },
    );
    this.breaker.on('open', () => {
      this.reopensAt = Date.now() + resetMs;
      this.trial = undefined;
      tell(`keeps failing. Its calls fail at once for ${resetMs} ms`);
    });
    this.breaker.on('halfOpen', () => tell('is tried again with the next call'));
    this.breaker.on('close', () => {
      // what failed before says nothing now
      this.forget(BUCKETS);
      tell('works again');
    });
  }

  /**
   * Lets a call through.
   * @returns the trial, if it is one
   * @throws {ToolError} if the circuit is open, or if another call is the trial
   */
  admit(): Trial | undefined {
    const { closed, opened } = this.breaker;
    if (closed) return undefined;
    const now = Date.now();
    if (opened) throw unavailable(this.reopensAt - now);
    const { trial } = this;
    // a trial that doesn't end must not keep the circuit open for ever
    if (trial && now < trial.beganAt + this.resetMs) throw unavailable(trial.beganAt + this.resetMs - now);
    return (this.trial = { beganAt: now });
  }

  /**
   * Records how a call ended.
   * @param trial what `admit` returned
   * @param isFailure undefined if it says nothing
   */
  record(trial: Trial | undefined, isFailure: boolean | undefined): void {
    const { breaker } = this;
    if (trial !== undefined && trial === this.trial) this.trial = undefined;
    if (isFailure === undefined) return;
    if (breaker.closed) {
      this.rotate();
      breaker.fire(isFailure).catch(() => {});
      // calls that began before the circuit opened are too late
    } else if (trial === undefined || breaker.opened) return;
    else if (isFailure) breaker.open();
    else breaker.close();
  }

  /** Forgets the buckets that are over. */
  private rotate(): void {
    const now = Date.now();
    const bucketMs = this.windowMs / BUCKETS;
    const over = Math.floor((now - this.bucketEndsAt) / bucketMs) + 1;
    if (over <= 0) return;
    this.forget(Math.min(over, BUCKETS));
    this.bucketEndsAt = over > BUCKETS ? now + bucketMs : this.bucketEndsAt + over * bucketMs;
  }

  private forget(buckets: number): void {
    for (let each = 0; each < buckets; each++) this.buckets.emit('rotate');
  }
}

const unavailable = (ms: number) =>
  notRun(new ToolError(`Unavailable: this failed too often. Try again in ${Math.max(1, Math.ceil(ms / 1000))} s.`));
