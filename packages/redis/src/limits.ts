import { createHash } from 'node:crypto';

import type { RateLimiter } from '@decorum/core';
import { requireOptions, startupError } from '@decorum/core/plugin';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';

import type { Link } from './link.js';
import { Script } from './script.js';

/** Options of a limiter. */
export interface LimitOptions {
  /** How many calls are allowed. */
  readonly points: number;
  /** Seconds for which they are allowed. */
  readonly duration: number;
  /** Sets this limiter apart from others of the same server. Defaults to `calls`. */
  readonly name?: string;
}

const MAX = 2_147_483_647;

const missingLimit = (option: string) =>
  startupError('DECORUM_INVALID_OPTION', 'limits', option, 'is missing. Write `limits({ points: 60, duration: 60 })`');

/**
 * A limiter whose counts all processes share. While Redis is away, each process counts for itself.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function limiterOf(link: Link, options: LimitOptions): RateLimiter {
  requireOptions('limits', options, { points: [1, MAX], duration: [1, MAX], name: 'string' });
  const { points, duration, name = 'calls' } = options;
  const missing = Object.entries({ points, duration }).find(([, value]) => value === undefined)?.[0];
  if (missing !== undefined) throw missingLimit(missing);
  let script: Script | undefined;
  const storeClient = {
    defineCommand: (_: string, { lua }: { readonly lua: string }) => {
      script = new Script(lua);
    },
    rlflxIncr: ([key = '', ...args]: readonly string[]) =>
      link.script(script as Script, [link.key('r', `${name}:${key}`)], args),
  };
  const limiter = new RateLimiterRedis({
    storeClient,
    keyPrefix: '',
    points,
    duration,
    insuranceLimiter: new RateLimiterMemory({ points, duration }),
  });
  // a key may name a user
  return { consume: (key) => limiter.consume(createHash('sha256').update(key).digest('base64url')) };
}
