import { setTimeout as wait } from 'node:timers/promises';

import type { Gate } from '../cluster/gate.js';
import type { Nodes } from '../cluster/nodes.js';
import type { RedisProcess } from '../cluster/redis-process.js';
import type { RoundRobin } from '../cluster/round-robin.js';

/** What is disturbed. */
export interface Disturbed {
  readonly nodes: Nodes;
  readonly proxy: RoundRobin;
  readonly redis: RedisProcess;
  /** Between the nodes and Redis. */
  readonly gate: Gate;
}

/** Milliseconds between two kills of nodes. */
const KILL_MS = 20_000;
/** Milliseconds from a kill to the disturbance of Redis. */
const REDIS_MS = 10_000;
const PARTITION_MS = 5000;
/** Milliseconds for which a disturbance may be felt. */
const FELT_MS = 10_000;

/** Kills nodes, and disturbs Redis. */
export class Disturber {
  /** What happened, with how often. */
  readonly counts = { kills: 0, 'restarts of Redis': 0, partitions: 0 };
  private last = -Infinity;

  constructor(private readonly disturbed: Disturbed) {}

  /** Whether something may be lost because of a disturbance. */
  get isFelt(): boolean {
    return performance.now() - this.last < FELT_MS;
  }

  /** Disturbs until the end, which is quiet. */
  async run(endsAt: number): Promise<void> {
    for (let round = 0; performance.now() + KILL_MS + FELT_MS < endsAt; round += 1) {
      await wait(KILL_MS - REDIS_MS);
      await this.kill(round % this.disturbed.nodes.ports.length);
      await wait(REDIS_MS);
      if (round === 0) await this.restartRedis();
      if (round === 1) await this.part();
    }
  }

  private async kill(index: number): Promise<void> {
    const { nodes, proxy } = this.disturbed;
    this.felt('kills');
    await nodes.kill(index);
    await wait(1000);
    await nodes.restart(index);
    proxy.restore(index);
    this.last = performance.now();
  }

  private async restartRedis(): Promise<void> {
    this.felt('restarts of Redis');
    await this.disturbed.redis.restart();
    this.last = performance.now();
  }

  private async part(): Promise<void> {
    this.felt('partitions');
    this.disturbed.gate.stop();
    await wait(PARTITION_MS);
    this.disturbed.gate.resume();
    this.last = performance.now();
  }

  private felt(what: keyof Disturber['counts']): void {
    this.counts[what] += 1;
    this.last = performance.now();
    console.error(`${Math.round(performance.now() / 1000)} s: ${what}`);
  }
}
