import { clearInterval, setInterval } from 'node:timers';

import type { Connection } from './connection.js';
import type { Link } from './link.js';

/** Milliseconds for which the last sign of life of a node is kept. */
const TTL_MS = 15_000;
/** Milliseconds of silence after which a node without a connection is dead. */
const QUIET_MS = 2000;
/** Milliseconds between signs of life. */
const BEAT_MS = 500;

/** Which nodes live: each keeps a key that expires soon. */
export class Presence {
  private timer: NodeJS.Timeout | undefined;
  private connection: Connection | undefined;
  /** Whether it was reported that Redis refuses signs of life. */
  private isReported = false;

  constructor(
    private readonly link: Link,
    private readonly node: string,
    /** Called after each sign of life that Redis took. */
    private readonly onBeat: () => void,
  ) {}

  /** Begins to give signs of life. */
  open(connection: Connection): void {
    this.connection = connection;
    const beat = () => void this.beat();
    connection.onReady(beat);
    this.timer = setInterval(beat, BEAT_MS).unref();
  }

  /**
   * Whether a node is dead. Redis may have lost the keys while it was away, so nobody is dead until each node had the time
   * to come back.
   * @param isConnected whether Redis still has its connection. Then the process may only stand still, and go on later
   */
  async isDead(node: string, isConnected: boolean): Promise<boolean> {
    const leftMs = await this.link.run((client) => client.pttl(this.keyOf(node)));
    const quietMs = TTL_MS - Math.max(0, leftMs);
    return quietMs >= (isConnected ? TTL_MS : QUIET_MS) && (this.connection?.age ?? 0) > QUIET_MS;
  }

  /** Tells the others that this node is gone. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    if (this.connection === undefined || this.connection.age === 0) return;
    await this.link.run((client) => client.del(this.keyOf(this.node))).catch(() => {});
  }

  private async beat(): Promise<void> {
    try {
      const key = this.keyOf(this.node);
      // a Redis whose memory is full still does this, but refuses `SET`
      const isKnown = (await this.link.run((client) => client.pexpire(key, TTL_MS))) === 1;
      if (!isKnown) await this.link.run((client) => client.set(key, 1, 'PX', TTL_MS));
      this.isReported = false;
      this.onBeat();
    } catch (error) {
      // the next one comes soon, and the connection reports its outages
      if (error instanceof Error && error.name === 'ReplyError') this.reportRefusal(error);
    }
  }

  /** The other commands may not learn why: after `READONLY`, the connection is made anew, and they fail with it. */
  private reportRefusal(error: Error): void {
    if (this.isReported) return;
    this.isReported = true;
    const remedy = error.message.startsWith('READONLY')
      ? ' Pass the address of the master, not that of a replica.'
      : '';
    this.link.report(error, `Redis refuses what this process writes.${remedy} Not reported again until it takes it.`);
  }

  private keyOf(node: string): string {
    return this.link.key('n', node);
  }
}
