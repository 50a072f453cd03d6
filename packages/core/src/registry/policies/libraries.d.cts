import type { EventEmitter } from 'node:events';

/** A circuit breaker of opossum, with what is used of it. */
export interface CircuitBreaker extends EventEmitter {
  readonly closed: boolean;
  readonly opened: boolean;
  open(): void;
  close(): void;
  /** Runs the action, and counts how it ends. */
  fire(isFailure: boolean): Promise<void>;
}

/** Options of a circuit breaker, with what is used of them. */
export interface CircuitBreakerOptions {
  readonly timeout: false;
  readonly errorThresholdPercentage: number;
  readonly volumeThreshold: number;
  readonly rollingCountTimeout: number;
  readonly rollingCountBuckets: number;
  readonly rollingPercentilesEnabled: false;
  readonly enableSnapshots: false;
  readonly resetTimeout: number;
  readonly rotateBucketController: EventEmitter;
}

/** Loads opossum. A server without `breaker` never does. */
export declare function loadCircuitBreaker(): new (
  action: (isFailure: boolean) => Promise<void>,
  options: CircuitBreakerOptions,
) => CircuitBreaker;

/** Loads lru-cache. A server without `memoize` never does. */
export declare function loadLruCache(): typeof import('lru-cache').LRUCache;
