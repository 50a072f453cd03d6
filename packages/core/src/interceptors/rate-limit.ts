import { type Call, type Interceptor, requireCalled } from '../kernel/interceptors.js';
import { startupError, ToolError } from '../protocol/errors.js';
import { isObject } from '../protocol/jsonrpc.js';
import { type OptionTypes, requireKnown } from '../protocol/option-names.js';

/** What counts calls: the limiters of `rate-limiter-flexible` fit. */
export interface RateLimiter {
  /**
   * Takes one call from what a key has left. Rejects with an object that has `msBeforeNext` (milliseconds) when nothing
   * is left, and with an `Error` when it cannot tell.
   */
  consume(key: string): Promise<unknown>;
}

/** Options of `rateLimit`. */
export interface RateLimitOptions {
  /**
   * What a call counts for; undefined where it does not count. By default `user:` and the principal's subject, else
   * `session:` and its id, else `address:` and the remote address, else one key for all.
   */
  readonly of?: (call: Call) => string | undefined;
}

/** With its kind before it: a subject may be called like somebody's session or address. */
function keyOf({ ctx: { principal, sessionId, transport } }: Call): string {
  if (principal?.subject !== undefined) return `user:${principal.subject}`;
  if (sessionId !== undefined) return `session:${sessionId}`;
  return transport.remoteAddress === undefined ? 'everybody' : `address:${transport.remoteAddress}`;
}

/**
 * Limits how often tools, prompts, resources and completions are called. Over the limit, the caller reads in how many
 * seconds to try again. When the limiter itself fails, calls are refused, and the error is reported.
 *
 * In stateless revisions every round of a call counts, not only its first. The server remembers nothing of a call between
 * its rounds, and a client can send the same round again and again: if it did not count, that would be a way around the
 * limit.
 * @param limiter for example a `RateLimiterMemory` or `RateLimiterRedis` of `rate-limiter-flexible`
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a limiter without `consume`, and an `of` that is not a function
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
  requireKnown('rateLimit', options, { of: 'function' } satisfies OptionTypes<RateLimitOptions>);
  const { of = keyOf } = options;
  if (typeof (limiter as Partial<RateLimiter> | undefined)?.consume !== 'function') {
    throw startupError(
      'DECORUM_INVALID_OPTION',
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

async function consume(limiter: RateLimiter, key: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refusal) {
    const wait = isObject(refusal) && !(refusal instanceof Error) ? refusal['msBeforeNext'] : undefined;
    // whatever it was, a failure of the limiter is none of the client's business
    if (typeof wait !== 'number') throw new Error('The rate limiter failed.', { cause: refusal });
    throw new ToolError(`Too many calls. Try again in ${Math.max(1, Math.ceil(wait / 1000))} s.`);
  }
}
