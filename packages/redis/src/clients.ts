import { type Cluster, Redis } from 'ioredis';

import { isClient, type RedisTarget } from './options.js';

/** Milliseconds without an answer after which a connection is given up: it may never close by itself. */
const SILENCE_MS = 5000;
const MAX_RETRY_MS = 1000;

/** Milliseconds until the next attempt to connect. */
export const retryMs = (attempts: number): number => Math.min(25 * 2 ** Math.min(attempts, 6), MAX_RETRY_MS);

/** After a failover, the connection may lead to what is a replica now. */
const reconnectOnError = ({ message }: Error): boolean => message.startsWith('READONLY');

/**
 * What can't be chosen: calls wait in a queue of ours, which is bounded, and nothing is sent twice. Subscriptions are
 * renewed by us, because what was missed must be told.
 */
const FIXED = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: 0,
  replyMapping: 'legacy',
} as const;

/** Makes a client connect once only. */
const ONCE = { retryStrategy: () => null };

/**
 * Creates a client, which isn't connected yet.
 * @param timeoutMs milliseconds after which a command fails
 */
export function clientOf(target: RedisTarget, timeoutMs: number): Redis | Cluster {
  const limits = { commandTimeout: timeoutMs, socketTimeout: SILENCE_MS };
  const defaults = {
    ...limits,
    connectTimeout: SILENCE_MS,
    retryStrategy: retryMs,
    reconnectOnError,
    enableAutoPipelining: true,
  };
  if (typeof target === 'string') return new Redis(target, { ...defaults, ...FIXED });
  if (!isClient(target)) return new Redis({ ...defaults, ...target, ...FIXED });
  if (!target.isCluster) {
    const client = target as Redis;
    const { commandTimeout = timeoutMs, socketTimeout = SILENCE_MS } = client.options;
    return client.duplicate({ commandTimeout, socketTimeout, enableAutoPipelining: true, ...FIXED });
  }
  const cluster = target as Cluster;
  return cluster.duplicate(undefined, {
    enableAutoPipelining: true,
    lazyConnect: true,
    enableOfflineQueue: false,
    redisOptions: { ...limits, ...cluster.options.redisOptions, replyMapping: 'legacy' },
  });
}

/** A client like another one that connects once. */
export const once = (client: Redis): Redis => client.duplicate({ ...FIXED, ...ONCE });

/**
 * A client of the node of a Redis Cluster that has a channel now. It connects once.
 * @throws {Error} if no node has it
 */
export async function clientOfShard(cluster: Cluster, channel: string): Promise<Redis> {
  const slot = Number(await cluster.cluster('KEYSLOT', channel));
  await new Promise<void>((resolve) => {
    cluster.refreshSlotsCache(() => resolve());
  });
  const [place] = cluster.slots[slot] ?? [];
  const node = cluster.nodes('master').find(({ options: { host, port } }) => `${host}:${port}` === place);
  if (node === undefined) throw new Error('No node of the Redis Cluster has the channels of this server.');
  return once(node);
}
