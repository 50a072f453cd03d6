import { clearInterval, setInterval } from 'node:timers';

import type { Connection } from './connection.js';
import type { Link } from './link.js';

/** Milliseconds for which a node is known to live. */
const TTL_MS = 2000;
/** Milliseconds between signs of life. */
const BEAT_MS = 500;

/** Which nodes live: each keeps a key that expires soon. */
export class Presence {
  private timer: NodeJS.Timeout | undefined;
  private connection: Connection | undefined;

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
   */
  async isDead(node: string): Promise<boolean> {
    const isKnown = (await this.link.run((client) => client.exists(this.keyOf(node)))) === 1;
    return !isKnown && (this.connection?.age ?? 0) > TTL_MS;
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
      this.onBeat();
    } catch {
      // the next one comes soon, and the connection reports its outages
    }
  }

  private keyOf(node: string): string {
    return this.link.key('n', node);
  }
}
