import { Engine, type RedisEngine } from './engine.js';
import { type RedisEngineOptions, type RedisTarget, requireTarget, settingsOf } from './options.js';

/**
 * Lets several processes serve the same clients over Redis. It connects when the server starts, which doesn't wait for it.
 * @param target a URL, options of ioredis, or a client or cluster client of ioredis. A client is copied: it stays yours
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { redis } from '@decorum/redis';
 *
 * new McpServer({ name: 'shop', version: '1.0.0', cluster: redis('redis://localhost:6379') });
 * ```
 */
export function redis(target: RedisTarget, options: RedisEngineOptions = {}): RedisEngine {
  requireTarget(target);
  return new Engine(target, settingsOf(options));
}
