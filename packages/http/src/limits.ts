import type { OptionTypes } from '@decorum/core/transport';

/** Limits of an endpoint on what clients send, open and leave unread. */
export interface EndpointLimits {
  /** Maximum size of a request body, in bytes. By default 1 MiB. */
  readonly bodyLimit?: number;
  /** Milliseconds within which a request body must arrive. By default 20 seconds. May time out up to 25% late. */
  readonly bodyTimeoutMs?: number;
  /** Cap on concurrent sessions. By default 10,000. */
  readonly maxSessions?: number;
  /** Milliseconds until a session without requests in flight or open streams ends. By default 30 minutes. */
  readonly sessionIdleMs?: number;
  /** Cap on concurrent streams of one session, not counting those of its requests. By default 8. */
  readonly maxStreams?: number;
  /**
   * Bytes to buffer for a slow reader before progress and log messages are dropped. List and resource changes may take
   * up as much again; repeated changes are coalesced. An HTTP+SSE session ends once 16 times this limit is buffered,
   * because all its responses share one stream. By default 1 MiB.
   */
  readonly maxBufferedBytes?: number;
}

/** Limits of `listen`. */
export interface ListenLimits extends EndpointLimits {
  /**
   * Milliseconds within which a client must send a request. By default 20 seconds. May time out up to 25% late. Also
   * the default of `bodyTimeoutMs`.
   */
  readonly requestTimeoutMs?: number;
}

/** The name of a limit. */
export type LimitName = keyof ListenLimits;

/** The longest delay that a Node.js timer supports. */
export const MAX_TIMER_MS = 2_147_483_647;

/** Values of an endpoint's limits by default. */
export const DEFAULT_LIMITS: Required<EndpointLimits> = {
  bodyLimit: 1_048_576,
  bodyTimeoutMs: 20_000,
  maxSessions: 10_000,
  sessionIdleMs: 1_800_000,
  maxStreams: 8,
  maxBufferedBytes: 1_048_576,
};

/** Smallest and largest value of each limit. */
export const LIMIT_RANGES: OptionTypes<EndpointLimits> = {
  bodyLimit: [1, Number.MAX_SAFE_INTEGER],
  bodyTimeoutMs: [1, MAX_TIMER_MS],
  maxSessions: [1, 10_000_000],
  sessionIdleMs: [1, Number.MAX_SAFE_INTEGER],
  maxStreams: [1, 1000],
  maxBufferedBytes: [1, Number.MAX_SAFE_INTEGER],
};
