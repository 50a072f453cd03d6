import { clearTimeout, setTimeout } from 'node:timers';

import type { Cluster, Redis } from 'ioredis';

/** Cap on the calls that wait for Redis to be there. */
const MAX_WAITING = 1000;

/** A time without Redis. Calls wait for its end, until there has been enough waiting. */
class Outage {
  readonly over: Promise<void>;
  private resolve: () => void = () => {};
  private reject: (error: Error) => void = () => {};
  private timer: NodeJS.Timeout | undefined;

  /** @param timeoutMs milliseconds after which calls fail */
  constructor(private readonly timeoutMs: number) {
    this.over = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // maybe nobody waits
    this.over.catch(() => {});
    this.wait();
  }

  end(): void {
    clearTimeout(this.timer);
    this.resolve();
  }

  private wait(): void {
    const due = performance.now() + this.timeoutMs;
    this.timer = setTimeout(() => {
      // the process stood still, as functions in the cloud do between events, and could not connect again meanwhile
      if (performance.now() > due + this.timeoutMs) this.wait();
      else this.reject(new Error('Redis is not there.'));
    }, this.timeoutMs).unref();
  }
}

/**
 * A connection to Redis that comes and goes. While it is away, calls wait for it in a bounded queue, and for no longer
 * than a timeout after it went away.
 */
export class Connection {
  private outage: Outage | undefined;
  private waiting = 0;
  private hasEnded = false;
  /** When the connection was ready, in milliseconds; undefined while it isn't. */
  private since: number | undefined;

  /**
   * @param timeoutMs milliseconds after which calls stop waiting for Redis
   * @param onError called with each failure of the connection, which is tried again
   */
  constructor(
    readonly client: Redis | Cluster,
    private readonly timeoutMs: number,
    onError: (error: Error) => void,
  ) {
    client.on('error', (error) => this.hasEnded || onError(error));
    client.on('close', () => this.lose());
    client.on('ready', () => this.regain());
    this.lose();
    // it goes on trying
    client.connect().catch(() => {});
  }

  /** Milliseconds since the connection is there; 0 while it isn't. */
  get age(): number {
    return this.since === undefined ? 0 : performance.now() - this.since;
  }

  /**
   * Sends commands, once the connection is there.
   * @throws {Error} if it isn't there in time, or too many calls wait for it, and what the commands throw
   */
  run<T>(commands: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    return this.outage === undefined ? commands(this.client) : this.later(this.outage, commands);
  }

  /** Runs something each time that the connection is there. */
  onReady(run: () => void): void {
    this.client.on('ready', run);
  }

  /** Ends the connection for good. */
  close(): void {
    this.hasEnded = true;
    this.client.disconnect();
    this.lose();
    this.outage?.end();
  }

  private async later<T>(outage: Outage, commands: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    if (this.waiting >= MAX_WAITING) throw new Error(`${MAX_WAITING} calls wait for Redis.`);
    this.waiting += 1;
    try {
      await outage.over;
    } finally {
      this.waiting -= 1;
    }
    if (this.hasEnded) throw new Error('The connection to Redis is closed.');
    return await commands(this.client);
  }

  private lose(): void {
    if (this.outage !== undefined) return;
    this.since = undefined;
    this.outage = new Outage(this.timeoutMs);
  }

  private regain(): void {
    this.since = performance.now();
    this.outage?.end();
    this.outage = undefined;
  }
}
