// A redis-server of its own for a test: on a free port, without files.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { freePort } from './dev-project.js';

const MISSING =
  'redis-server is not installed. These tests need it: `apt-get install redis-server` on Debian, `brew install redis` on macOS.';

/** A running redis-server. */
export class RedisServer {
  private process: ChildProcess | undefined;
  private readonly folder = mkdtempSync(join(tmpdir(), 'redis-'));

  private constructor(
    readonly port: number,
    private readonly options: readonly string[],
  ) {}

  /**
   * Starts a server.
   * @param options more options of redis-server, such as `--cluster-enabled yes`
   */
  static async start(...options: readonly string[]): Promise<RedisServer> {
    const server = await RedisServer.later(...options);
    await server.start();
    return server;
  }

  /** A server that isn't there yet. */
  static async later(...options: readonly string[]): Promise<RedisServer> {
    return new RedisServer(await freePort(), options);
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts the server again, on the same port. Without persistence, it is empty. */
  async start(): Promise<void> {
    const quiet = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', this.folder];
    const child = spawn('redis-server', ['--port', String(this.port), ...quiet, ...this.options], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.process = child;
    const failed = once(child, 'exit').then(([code]) => {
      throw new Error(`redis-server ended with ${code}.`);
    });
    const missing = once(child, 'error').then(([error]) => {
      throw new Error(MISSING, { cause: error });
    });
    const ready = new Promise<void>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.includes('Ready to accept connections')) resolve();
      });
    });
    for (const each of [failed, missing]) each.catch(() => {});
    await Promise.race([ready, failed, missing]);
  }

  /** Lets the server stand still, with its connections. */
  hold(): void {
    this.process?.kill('SIGSTOP');
  }

  /** Lets the server go on. */
  release(): void {
    this.process?.kill('SIGCONT');
  }

  /** Stops the server. It keeps its port. */
  async stop(): Promise<void> {
    const { process: child } = this;
    this.process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Stops the server for good. */
  async end(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const SLOTS = 16_384;

/** Starts a Redis Cluster of three masters. */
export async function startRedisCluster(): Promise<RedisServer[]> {
  const options = ['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--cluster-node-timeout', '1000'];
  const servers = await Promise.all([1, 2, 3].map(async () => await RedisServer.start(...options)));
  const admins = servers.map(({ port }) => new Redis({ port }));
  const first = admins[0] as Redis;
  await Promise.all(
    admins.map(async (admin, n) => {
      const [begin, end] = [n, n + 1].map((part) => Math.round((part * SLOTS) / servers.length));
      await admin.call('CLUSTER', 'ADDSLOTSRANGE', begin as number, (end as number) - 1);
    }),
  );
  for (const { port } of servers.slice(1)) await first.cluster('MEET', '127.0.0.1', port);
  for (const admin of admins) {
    while (!(await isComplete(admin, servers.length))) await wait(20);
    admin.disconnect();
  }
  return servers;
}

async function isComplete(admin: Redis, size: number): Promise<boolean> {
  const info = String(await admin.cluster('INFO'));
  return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${size}`);
}
