import type { ClusterServer, RateLimiter } from '@decorum/core';
import type { Cluster } from '@decorum/http';
import type { TaskStore } from '@decorum/tasks';

import { RedisChangeBus } from './change-bus.js';
import { Channels } from './channels.js';
import { RedisCourier } from './courier.js';
import { RedisEventStore } from './event-store.js';
import { type Leases, RedisLeases } from './leases.js';
import { type LimitOptions, limiterOf } from './limits.js';
import { RedisKeyValueStore } from './key-value-store.js';
import { Link } from './link.js';
import { type RedisTarget, serverTaken, type Settings } from './options.js';
import { Presence } from './presence.js';
import { RedisSessionStore } from './session-store.js';
import { RedisSingleUse } from './single-use.js';
import { RedisTaskStore } from './task-store.js';

/** What processes share over Redis: the `cluster` of a server, tasks, limiters and leases. */
export interface RedisEngine extends Cluster {
  /** Leases, for what only one process may do at a time. */
  readonly leases: Leases;
  /**
   * Keeps the tasks of all processes. If one of them dies, another goes on with its tasks. It works for the server
   * whose `cluster` this is.
   * @example
   * ```ts
   * import { McpServer } from '@decorum/core';
   * import { redis } from '@decorum/redis';
   * import { tasks } from '@decorum/tasks';
   *
   * const cluster = redis('redis://localhost:6379');
   * new McpServer({ name: 'shop', version: '1.0.0', cluster, plugins: [tasks({ store: cluster.tasks })] });
   * ```
   */
  readonly tasks: TaskStore;
  /**
   * Creates a limiter for `rateLimit` whose counts all processes share. While Redis is away, each process counts for
   * itself.
   * @throws {DecorumError} `DECORUM_INVALID_OPTION`
   * @example
   * ```ts
   * import { McpServer, rateLimit } from '@decorum/core';
   * import { redis } from '@decorum/redis';
   *
   * const cluster = redis('redis://localhost:6379');
   * const interceptors = [rateLimit(cluster.limits({ points: 60, duration: 60 }))];
   * new McpServer({ name: 'shop', version: '1.0.0', cluster, interceptors });
   * ```
   */
  limits(options: LimitOptions): RateLimiter;
}

/** All parts, and the connections that they share. */
export class Engine implements RedisEngine {
  readonly bus: RedisChangeBus;
  readonly courier: RedisCourier;
  readonly events: RedisEventStore;
  readonly leases: RedisLeases;
  readonly sessions: RedisSessionStore;
  readonly singleUse: RedisSingleUse;
  readonly store: RedisKeyValueStore;
  readonly tasks: RedisTaskStore;
  private readonly link: Link;
  private readonly channels: Channels;
  private readonly presence: Presence;
  private serverName: string | undefined;
  /** Servers that it didn't open for. They will close it nevertheless. */
  private refused = 0;

  constructor(target: RedisTarget, settings: Settings) {
    const link = new Link(target, settings);
    this.link = link;
    this.channels = new Channels(link);
    this.bus = new RedisChangeBus(link, this.channels);
    this.presence = new Presence(link, this.channels.node, () => void this.beat());
    this.courier = new RedisCourier(link, this.channels, this.presence);
    this.events = new RedisEventStore(link);
    this.leases = new RedisLeases(link);
    this.sessions = new RedisSessionStore(link);
    this.singleUse = new RedisSingleUse(link);
    this.store = new RedisKeyValueStore(link);
    this.tasks = new RedisTaskStore(link);
  }

  limits(options: LimitOptions): RateLimiter {
    return limiterOf(this.link, options);
  }

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` if it serves another server already */
  open(server: ClusterServer): void {
    if (this.serverName !== undefined) {
      this.refused += 1;
      throw serverTaken(this.serverName);
    }
    this.serverName = server.name;
    this.presence.open(this.link.open(server));
    this.channels.open();
  }

  async ping(): Promise<void> {
    await Promise.all([this.link.run((client) => client.ping()), this.channels.ping()]);
  }

  async close(): Promise<void> {
    if (this.refused > 0) return void (this.refused -= 1);
    this.courier.close();
    await this.presence.close();
    this.channels.close();
    this.link.close();
  }

  private beat(): void {
    this.channels.ping().catch(() => {});
    void this.bus.catchUp();
  }
}
