import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';
import { Cluster, Redis, type RedisOptions } from 'ioredis';

/** Where Redis is: a URL, options of ioredis, or a client of it, which is copied and stays yours. */
export type RedisTarget = string | RedisOptions | Redis | Cluster;

/** Limits of the events that are kept of each stream. */
export interface EventLimits {
  /** Cap on the events of a stream. Defaults to 1,000. */
  readonly maxEvents?: number;
  /** Cap on the bytes of a stream, sealed. The last event is kept even if it is larger. Defaults to 1 Mi. */
  readonly maxBytes?: number;
  /** Milliseconds to keep a stream after its last event. Defaults to 5 minutes. */
  readonly maxAgeMs?: number;
}

/** Options of `redis`. */
export interface RedisEngineOptions {
  /** What all keys and channels begin with. Defaults to `decorum:`, the server's name and `:`. */
  readonly prefix?: string;
  /** Milliseconds after which a call to Redis fails. Defaults to 2,000. */
  readonly timeoutMs?: number;
  /** Limits of the events that are kept of each stream, for clients that reconnect. */
  readonly events?: EventLimits;
}

/** The options, with defaults. */
export interface Settings {
  readonly prefix: string | undefined;
  readonly timeoutMs: number;
  readonly events: Required<EventLimits>;
}

const COUNT = [1, Number.MAX_SAFE_INTEGER] as const;
const MAX_TIMER_MS = 2_147_483_647;

const EVENTS: OptionTypes<EventLimits> = { maxEvents: COUNT, maxBytes: COUNT, maxAgeMs: COUNT };

const OPTIONS: OptionTypes<RedisEngineOptions> = {
  prefix: 'string',
  timeoutMs: [1, MAX_TIMER_MS],
  events: { ...EVENTS },
};

const WRITE = "Write redis('redis://localhost:6379')";

/** The error for an invalid argument or option. */
export const invalid = (option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', 'redis', option, problem);

/**
 * Checks the options, and fills in defaults.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function settingsOf(options: RedisEngineOptions): Settings {
  requireOptions('redis', options, OPTIONS);
  const { prefix, timeoutMs = 2000, events = {} } = options;
  if (prefix === '') throw invalid('prefix', 'is empty. Leave it out, or write one such as "shop:"');
  const { maxEvents = 1000, maxBytes = 1_048_576, maxAgeMs = 300_000 } = events;
  return { prefix, timeoutMs, events: { maxEvents, maxBytes, maxAgeMs } };
}

/** Whether this is a client of ioredis, maybe of another copy of the library. */
export const isClient = (target: RedisTarget): target is Redis | Cluster =>
  typeof target === 'object' && 'duplicate' in target && 'sendCommand' in target;

/**
 * Checks where Redis is said to be.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireTarget(target: unknown): asserts target is RedisTarget {
  if (typeof target === 'string') return requireUrl(target);
  if (typeof target === 'object' && target !== null && !Array.isArray(target)) {
    // a client of node-redis
    if ('sendCommand' in target && !('duplicate' in target && 'status' in target)) {
      throw invalid('target', `is a client of another library. ${WRITE}, or pass a client of ioredis`);
    }
    return;
  }
  const found = target === undefined ? 'is missing' : `is ${Array.isArray(target) ? 'an array' : `a ${typeof target}`}`;
  throw invalid('target', `${found}. ${WRITE}, or pass options or a client of ioredis`);
}

function requireUrl(url: string): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined;
  if (protocol === 'redis:' || protocol === 'rediss:') return;
  // the text may have a password in it
  throw invalid('target', `is not a URL that begins with "redis://" or "rediss://". ${WRITE}`);
}

/** The error for an engine that is given to a second server. */
export const serverTaken = (name: string) =>
  startupError(
    'DECORUM_INVALID_OPTION',
    'McpServer',
    'cluster',
    `serves another server already, "${name}". Call redis(…) once for each server`,
  );
