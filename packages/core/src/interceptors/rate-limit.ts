import { invalidOption, isObject, type OptionTypes, requireOptions, within } from '@decorum/schema/internal';

import { type Call, type Interceptor, requireCalled } from '../kernel/interceptors.js';
import { ToolError } from '../protocol/errors.js';
import { withFailureCause } from '../protocol/failure-cause.js';
import { callerKey } from '../protocol/owner.js';

/** A limiter, such as one from `rate-limiter-flexible`. */
export interface RateLimiter {
  /**
   * Counts one call against a key's allowance. Rejects with an object that has `msBeforeNext` (milliseconds) when the
   * allowance is used up, and with an `Error` when the limiter fails.
   */
  consume(key: string): Promise<unknown>;
}

/** Options of `rateLimit`. */
export interface RateLimitOptions {
  /**
   * Returns the key that a call counts against, or undefined if the call doesn't count. Defaults to `user:` plus the
   * principal's issuer and subject, or else `session:` plus the session id, or else `address:` plus the remote address,
   * or else one key for everybody.
   */
  readonly of?: (call: Call) => string | undefined;
}

/**
 * Limits how often clients call tools, prompts, resources and completions. Over the limit, the caller is told how many
 * seconds to wait. If the limiter itself fails, or takes 3 seconds, calls are rejected and the error is reported.
 *
 * In stateless revisions, every round of a call counts. The server keeps no state between rounds, so it cannot tell a
 * new round from a repeated one. If only the first round counted, clients could bypass the limit by repeating a round.
 * @param limiter for example a `RateLimiterMemory` or `RateLimiterRedis` from `rate-limiter-flexible`
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if `limiter` has no `consume`, or if `of` is not a function
 * @example
 * ```ts
 * import { McpServer, rateLimit } from '@decorum/core';
 * import { RateLimiterMemory } from 'rate-limiter-flexible';
 *
 * const limiter = new RateLimiterMemory({ points: 60, duration: 60 });
 * const server = new McpServer({ name: 'shop', version: '1.0.0', interceptors: [rateLimit(limiter)] });
 * ```
 */
export function rateLimit(limiter: RateLimiter, options: RateLimitOptions = {}): Interceptor {
  requireCalled('rateLimit', limiter, 'rateLimit(limiter)');
  requireOptions('rateLimit', options, { of: 'function' } satisfies OptionTypes<RateLimitOptions>);
  const { of = ({ ctx }: Call) => callerKey(ctx) } = options;
  if (typeof (limiter as Partial<RateLimiter> | undefined)?.consume !== 'function') {
    throw invalidOption(
      'rateLimit',
      'limiter',
      'has no method `consume`. Write `rateLimit(new RateLimiterMemory({ points: 10, duration: 1 }))`, for example',
    );
  }
  return async function rateLimited(call, next) {
    const key = of(call);
    if (key !== undefined) await consume(limiter, key);
    return await next();
  };
}

/** Milliseconds within which the limiter must answer. */
const LIMITER_MS = 3000;

async function consume(limiter: RateLimiter, key: string): Promise<void> {
  try {
    await within(LIMITER_MS, 'limiter.consume does not answer.', () => limiter.consume(key));
  } catch (rejection) {
    const wait = isObject(rejection) && !(rejection instanceof Error) ? rejection['msBeforeNext'] : undefined;
    // the limiter's own error is internal: don't expose it to the client
    if (typeof wait !== 'number') throw new Error('The rate limiter failed.', { cause: rejection });
    const problem = `Too many calls. Try again in ${Math.max(1, Math.ceil(wait / 1000))} s.`;
    throw withFailureCause(new ToolError(problem), 'limit');
  }
}
