import { withDefaults } from '@decorum/core/internal';
import type { OptionTypes } from '@decorum/core/plugin';

import { startupError } from '../errors.js';

/** Limits of an endpoint on what clients send, open and leave unread. */
export interface EndpointLimits {
  /** Maximum size of a request body, in bytes. By default 1 MiB. */
  readonly bodyLimit?: number;
  /** Milliseconds for a request body to arrive. The timeout may fire up to 25% late. By default 20 seconds. */
  readonly bodyTimeoutMs?: number;
  /**
   * Cap on the total bytes of request bodies that are still arriving, or whose requests are unanswered. A body that
   * arrives in one chunk and is answered immediately doesn't count. Once its request is being handled, a body of up to
   * 4 KiB doesn't count either. Must be at least `bodyLimit`. By default 64 MiB or 16 × `bodyLimit`, whichever is
   * greater.
   */
  readonly maxUnfinishedBytes?: number;
  /**
   * The same cap for the bodies from one address. Must be at least `bodyLimit`. By default 16 MiB or 4 × `bodyLimit`,
   * whichever is greater.
   */
  readonly maxUnfinishedBytesPerAddress?: number;
  /** Cap on concurrent sessions. By default 10,000. */
  readonly maxSessions?: number;
  /**
   * Cap on the concurrent sessions of anonymous callers with the same address. IPv6 addresses with the same first 64
   * bits count as one. At the cap, the session that has been idle for longest ends. If none is idle, the caller gets a
   * 429. By default 1000.
   */
  readonly maxSessionsPerAddress?: number;
  /**
   * Cap on the concurrent sessions of one principal. At the cap, the session that has been idle for longest ends. If
   * none is idle, the caller gets a 429. By default 1000.
   */
  readonly maxSessionsPerPrincipal?: number;
  /** Milliseconds until a session without a connected client ends. By default 30 minutes. */
  readonly sessionIdleMs?: number;
  /** Cap on concurrent streams of one session, not counting those of its requests in flight. By default 8. */
  readonly maxStreams?: number;
  /**
   * Bytes to buffer for a slow reader before progress and log messages are dropped. List and resource changes may take
   * up the same amount again; repeated changes are coalesced. An HTTP+SSE session ends once 16 times this limit is
   * buffered, because all its responses share one stream. By default 1 MiB.
   */
  readonly maxBufferedBytes?: number;
  /**
   * Bytes to buffer for all readers together. Near the limit, slow readers get no more progress and log messages.
   * Beyond it, the readers with the largest backlogs are disconnected. By default 64 MiB.
   */
  readonly maxTotalBufferedBytes?: number;
  /**
   * Milliseconds after which a slow reader that reads nothing is disconnected. Checked every `keepAliveMs`. By default
   * 1 minute.
   */
  readonly readerTimeoutMs?: number;
  /** Cap on the calls that wait for a store. Beyond it, requests that need one get a 503 at once. By default 10,000. */
  readonly maxStoreCalls?: number;
  /** Cap on concurrent `subscriptions/listen` requests. By default 1,024. */
  readonly maxListenStreams?: number;
  /** Cap on concurrent `subscriptions/listen` requests of one remote address. By default 512. */
  readonly maxListenStreamsPerAddress?: number;
}

/** Limits of `listen`. */
export interface ListenLimits extends EndpointLimits {
  /**
   * Milliseconds for a client to send a request. The timeout may fire up to 25% late. By default 20 seconds. Also the
   * default of `bodyTimeoutMs`.
   */
  readonly requestTimeoutMs?: number;
  /** Cap on the connections from one remote address. By default 4,000. */
  readonly maxConnectionsPerAddress?: number;
}

/** The name of a limit. */
export type LimitName = keyof ListenLimits;

/** The longest delay that a Node.js timer supports. */
export const MAX_TIMER_MS = 2_147_483_647;

/** Default limits of an endpoint. */
const DEFAULT_LIMITS: Required<EndpointLimits> = {
  bodyLimit: 1_048_576,
  bodyTimeoutMs: 20_000,
  maxUnfinishedBytes: 67_108_864,
  maxUnfinishedBytesPerAddress: 16_777_216,
  maxSessions: 10_000,
  maxSessionsPerAddress: 1000,
  maxSessionsPerPrincipal: 1000,
  sessionIdleMs: 1_800_000,
  maxStreams: 8,
  maxBufferedBytes: 1_048_576,
  maxTotalBufferedBytes: 67_108_864,
  readerTimeoutMs: 60_000,
  maxStoreCalls: 10_000,
  maxListenStreams: 1024,
  maxListenStreamsPerAddress: 512,
};

/** Smallest and largest value of each limit. */
export const LIMIT_RANGES: OptionTypes<EndpointLimits> = {
  bodyLimit: [1, Number.MAX_SAFE_INTEGER],
  bodyTimeoutMs: [1, MAX_TIMER_MS],
  maxUnfinishedBytes: [1, Number.MAX_SAFE_INTEGER],
  maxUnfinishedBytesPerAddress: [1, Number.MAX_SAFE_INTEGER],
  maxSessions: [1, 10_000_000],
  maxSessionsPerAddress: [1, 10_000_000],
  maxSessionsPerPrincipal: [1, 10_000_000],
  sessionIdleMs: [1, Number.MAX_SAFE_INTEGER],
  maxStreams: [1, 1000],
  maxBufferedBytes: [1, Number.MAX_SAFE_INTEGER],
  maxTotalBufferedBytes: [1, Number.MAX_SAFE_INTEGER],
  readerTimeoutMs: [1, Number.MAX_SAFE_INTEGER],
  maxStoreCalls: [1, Number.MAX_SAFE_INTEGER],
  maxListenStreams: [1, Number.MAX_SAFE_INTEGER],
  maxListenStreamsPerAddress: [1, Number.MAX_SAFE_INTEGER],
};

/** Defaults of the limits that only `listen` has. */
export const LISTEN_LIMITS = { requestTimeoutMs: 20_000, maxConnectionsPerAddress: 4000 } as const;

/** Milliseconds between looks at requests that may be overdue. */
export const checkingInterval = (requestTimeoutMs: number): number => Math.ceil(requestTimeoutMs / 4);

/** Smallest and largest value of each limit of `listen`. */
export const LISTEN_RANGES: OptionTypes<ListenLimits> = {
  ...LIMIT_RANGES,
  requestTimeoutMs: [1, MAX_TIMER_MS],
  maxConnectionsPerAddress: [1, 10_000_000],
};

/**
 * Applies the defaults. The default caps on unfinished bodies grow with `bodyLimit`.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if a cap on unfinished bodies is below `bodyLimit`
 */
export function resolveLimits(given: EndpointLimits = {}): Required<EndpointLimits> {
  const { bodyLimit = DEFAULT_LIMITS.bodyLimit } = given;
  const unfinished = {
    maxUnfinishedBytes: Math.max(DEFAULT_LIMITS.maxUnfinishedBytes, 16 * bodyLimit),
    maxUnfinishedBytesPerAddress: Math.max(DEFAULT_LIMITS.maxUnfinishedBytesPerAddress, 4 * bodyLimit),
  };
  const limits = withDefaults({ ...DEFAULT_LIMITS, ...unfinished }, given);
  for (const name of Object.keys(unfinished) as (keyof typeof unfinished)[]) {
    if (limits[name] >= bodyLimit) continue;
    const problem = `is ${limits[name]}, but must be at least \`bodyLimit\`, which is ${bodyLimit}`;
    throw startupError('DECORUM_INVALID_OPTION', 'limits', name, problem);
  }
  return limits;
}
