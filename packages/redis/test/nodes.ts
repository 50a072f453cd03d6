import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import type { ClusterServer } from '@decorum/core';
import { KeyRing } from '@decorum/core/internal';
import type { KeptSession } from '@decorum/http';
import { redis, type RedisEngine, type RedisEngineOptions, type RedisTarget } from '@decorum/redis';

import type { RedisServer } from '../../../test/support/redis-server.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';

/** An engine that a server has opened, and what was reported to the server. */
export interface Opened {
  readonly engine: RedisEngine;
  readonly reports: unknown[];
}

/** The engines of a test, which `closeAll` closes. */
const OPEN: RedisEngine[] = [];
const PROXIES: TcpProxy[] = [];

/** A record of a session. */
export const record = (id: string, version = 1): KeptSession => ({
  id,
  version,
  revision: '2025-11-25',
  client: { info: { name: 'c', version: '1' }, capabilities: { roots: {} } },
  principal: { subject: 'ann', scopes: ['read'] },
  joined: true,
  createdAt: 1,
  usedAt: 2,
});

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

/** Nodes of one new server. Each reaches Redis through a proxy, so that it can be cut off. */
export function nodesOf(server: RedisServer) {
  const name = `shop ${randomUUID()}`;
  const proxies = new Map<object, TcpProxy>();
  return {
    node: async () => {
      const proxy = await TcpProxy.start(server.port);
      PROXIES.push(proxy);
      const { engine } = await node({ port: proxy.port }, { name });
      proxies.set(engine, proxy);
      await reaches(engine);
      return engine;
    },
    kill: (engine: object) => proxies.get(engine)?.cut(),
  };
}

/** Resolves once something is so. */
export async function until(isSo: () => unknown): Promise<void> {
  while (!(await isSo())) await wait(10);
}

/** Resolves once an engine reaches Redis, in both directions. */
export const reaches = async (engine: RedisEngine): Promise<void> =>
  await until(async () => {
    try {
      await engine.ping?.();
      return true;
    } catch {
      return false;
    }
  });

/** Closes all engines of a test. */
export async function closeAll(): Promise<void> {
  await Promise.all(OPEN.splice(0).map(async (engine) => await engine.close?.()));
  await Promise.all(PROXIES.splice(0).map(async (proxy) => await proxy.close()));
}
