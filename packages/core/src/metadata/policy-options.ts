import type { OptionTypes } from '@decorum/schema/internal';

import type { AccessCaller } from '../protocol/access-caller.js';
import type { Principal, TransportInfo } from '../protocol/wire.js';

/** How many calls of a member run at once. */
export interface ConcurrencyOptions {
  /** Calls that run at once, of all callers. */
  readonly max?: number;
  /** Calls that run at once of one caller: a user, or else a session, an address, or everybody. */
  readonly perCaller?: number;
  /** Calls that wait for their turn. Beyond these, calls are refused. Defaults to 100. */
  readonly queue?: number;
}

/** When a member is called again. */
export interface RetryOptions {
  /** How often it is called again, at most: 1 to 10. */
  readonly times: number;
  /** Whether to call it again after this error. Defaults to every error that isn't meant for clients. */
  readonly on?: (error: unknown) => boolean;
  /** Milliseconds: the first pause is a random part of it, and each later one may be twice as long. Defaults to 200. */
  readonly baseMs?: number;
  /** Milliseconds that a pause takes at most. Defaults to 10,000. */
  readonly maxMs?: number;
}

/** When a member that keeps failing is no longer called. */
export interface BreakerOptions {
  /** The breaker opens when more than this percentage of calls have failed: 1 to 99. Defaults to 50. */
  readonly errorThresholdPercentage?: number;
  /** Calls within the window before the breaker may open. Defaults to 5. */
  readonly volumeThreshold?: number;
  /** Milliseconds within which calls are counted: up to 10 minutes. Defaults to 10,000. */
  readonly windowMs?: number;
  /** Milliseconds after which one call may try again. Defaults to 30,000. */
  readonly resetMs?: number;
  /**
   * Whether an error counts as a failure. Time limits always do. Defaults to every error that isn't meant for clients.
   */
  readonly on?: (error: unknown) => boolean;
}

/** What `vary` is told of a call: a part of its `Context`, or all of it if the parameter is declared as one. */
export interface VaryContext extends AccessCaller {
  readonly principal: Principal | undefined;
  readonly transport: TransportInfo;
}

/** How long results are kept. */
export interface MemoizeOptions {
  /** How long: milliseconds, or a number with a unit, such as `'30s'`, `'5m'` or `'1h'`. */
  readonly ttl: number | string;
  /** What else the result depends on, besides the arguments, the caller and the caller's scopes. */
  vary?(context: VaryContext): string;
  /** Results that are kept. The one that was used longest ago goes first. Defaults to 1,000. */
  readonly maxEntries?: number;
  /** Bytes of the results that are kept. Defaults to 16 MiB. */
  readonly maxBytes?: number;
}

/** Options of all members for time and load. `false` switches off what `@Defaults` or the server has set. */
export interface PolicyOptions {
  /**
   * Milliseconds that a call may take, up to a day, with waiting for its turn and all attempts, but without questions to
   * the client. Then `ctx.signal` aborts, and the client gets an error. Defaults to the server's `timeoutMs`.
   */
  readonly timeoutMs?: number | false;
  /** Calls that run at once. Further ones wait. Defaults to no limit. */
  readonly concurrency?: number | ConcurrencyOptions | false;
  /** Calls the member again if it fails. Only for tools with `readOnlyHint` or `idempotentHint`, and other members. */
  readonly retry?: RetryOptions | false;
  /** Stops calling the member for a while if it keeps failing. */
  readonly breaker?: BreakerOptions | boolean;
  /** Keeps results for a time. Only for tools with `readOnlyHint`, and for other members. */
  readonly memoize?: string | number | MemoizeOptions | false;
}

/** The types of the options. Their values are checked where the member is compiled. */
export const POLICIES = {
  timeoutMs: true,
  concurrency: true,
  retry: true,
  breaker: true,
  memoize: true,
} satisfies OptionTypes<PolicyOptions>;
