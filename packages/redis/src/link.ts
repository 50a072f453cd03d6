import { createHash } from 'node:crypto';

import type { ClusterServer } from '@decorum/core';
import type { Cluster, Redis } from 'ioredis';

import { clientOf, clientOfShard, once } from './clients.js';
import { Connection } from './connection.js';
import type { RedisTarget, Settings } from './options.js';
import type { Script } from './script.js';

/** What there is while the server runs. */
interface Opened {
  readonly server: ClusterServer;
  readonly prefix: string;
  readonly commands: Connection;
}

/** What all parts of the engine share: the connection for commands, the names of keys, and the seal of values. */
export class Link {
  private opened: Opened | undefined;
  /** The scripts that Redis knows, since the connection was made. */
  private known = new Set<Script>();
  private isReportedAway = false;
  private isReportedUnreadable = false;

  constructor(
    private readonly target: RedisTarget,
    readonly settings: Settings,
  ) {}

  /** Begins to connect. Doesn't wait for it. */
  open(server: ClusterServer): Connection {
    const { prefix = `decorum:${encodeURIComponent(server.name)}:`, timeoutMs } = this.settings;
    const commands = new Connection(clientOf(this.target, timeoutMs), timeoutMs, (error) => this.reportAway(error));
    commands.onReady(() => {
      this.known.clear();
      this.isReportedAway = false;
    });
    this.opened = { server, prefix, commands };
    return commands;
  }

  /** Whether this is a Redis Cluster. */
  get isCluster(): boolean {
    return this.here.commands.client.isCluster;
  }

  /** A client for subscriptions in the slot of a channel. It connects once. */
  async subscriberOf(channel: string): Promise<Redis> {
    const { client } = this.here.commands;
    if (!client.isCluster) return once(client as Redis);
    return await this.run(async (cluster) => await clientOfShard(cluster as Cluster, channel));
  }

  /** A key of this server. */
  key(kind: string, id: string): string {
    return `${this.here.prefix}${kind}:${id}`;
  }

  /** A key for an id that opens a session to whoever knows it. Names of keys show up in logs and tools. */
  secretKey(kind: string, id: string): string {
    return this.key(kind, createHash('sha256').update(id).digest('base64url'));
  }

  /** Sends commands. See `Connection.run`. */
  run<T>(commands: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    try {
      return this.here.commands.run(commands);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Runs a script. The first time on a connection, its text is sent, and then its digest.
   * @param keys all in one slot
   */
  script(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return this.run(async (client) => {
      // a cluster has several memories of scripts, and a second attempt could come after a later call
      if (client.isCluster) return await client.eval(script.text, keys.length, ...keys, ...args);
      if (this.known.has(script)) {
        try {
          return await client.evalsha(script.digest, keys.length, ...keys, ...args);
        } catch (error) {
          if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
          this.known.delete(script);
        }
      }
      const result = await client.eval(script.text, keys.length, ...keys, ...args);
      this.known.add(script);
      return result;
    });
  }

  /** Seals text that clients have sent, or that is sent to them. */
  seal(text: string, binding: string): string {
    return this.here.server.seal(text, binding);
  }

  /** Opens sealed text; undefined if it was altered, or sealed with an unknown secret. */
  unseal(sealed: string, binding: string): string | undefined {
    const text = this.here.server.open(sealed, binding);
    if (text === undefined && !this.isReportedUnreadable) {
      this.isReportedUnreadable = true;
      this.report(
        new Error('A value in Redis was sealed with another secret, or altered.'),
        'A value in Redis can not be opened. All processes need the same DECORUM_SECRET. Reported once.',
      );
    }
    return text;
  }

  /** What all keys and channels begin with. */
  get prefix(): string {
    return this.here.prefix;
  }

  /** The server that it was opened for. */
  get serverName(): string | undefined {
    return this.opened?.server.name;
  }

  /** Ends the connection for commands. */
  close(): void {
    this.opened?.commands.close();
  }

  /** Reports that Redis failed, once until commands work again. */
  reportAway(error: unknown): void {
    if (this.isReportedAway) return;
    this.isReportedAway = true;
    this.report(error, 'Redis failed. Further errors are not reported until it is back.');
  }

  /** Reports an error, which no client sees. */
  report(error: unknown, message: string): void {
    this.opened?.server.report(error, message);
  }

  private get here(): Opened {
    if (this.opened === undefined) throw new Error('The server has not started.');
    return this.opened;
  }
}
