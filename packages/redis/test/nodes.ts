import type { ClusterServer } from '@decorum/core';
import { KeyRing } from '@decorum/core/internal';
import { redis, type RedisEngine, type RedisEngineOptions, type RedisTarget } from '@decorum/redis';
import { createHash } from 'node:crypto';

/** An engine that a server has opened, and what was reported to the server. */
export interface Opened {
  readonly engine: RedisEngine;
  readonly reports: unknown[];
}

/** The engines of a test, which `closeAll` closes. */
const OPEN: RedisEngine[] = [];

/** What a server gives to its engine. */
export function clusterServer(name: string, reports: unknown[], secret = 'one'): ClusterServer {
  const ring = new KeyRing([createHash('sha256').update(secret).digest()], Infinity, () => {});
  return {
    name,
    seal: ring.seal.bind(ring),
    open: ring.open.bind(ring),
    report: (error, message) => void reports.push({ error, message }),
  };
}

/** Opens an engine, as a server does. */
export async function node(
  target: RedisTarget,
  { name = 'shop', secret, ...options }: RedisEngineOptions & { name?: string; secret?: string } = {},
): Promise<Opened> {
  const engine = redis(target, options);
  const reports: unknown[] = [];
  await engine.open?.(clusterServer(name, reports, secret));
  OPEN.push(engine);
  return { engine, reports };
}

/** Closes all engines of a test. */
export async function closeAll(): Promise<void> {
  await Promise.all(OPEN.splice(0).map((engine) => engine.close?.()));
}
