export { redis } from './redis.js';
export type { RedisEngine } from './engine.js';
export type { EventLimits, RedisEngineOptions, RedisTarget } from './options.js';
export type { Lease, Leases } from './leases.js';
export type { LimitOptions } from './limits.js';
