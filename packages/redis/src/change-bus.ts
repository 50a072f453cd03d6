import type { Change, ChangeBus } from '@decorum/core';

import { type Channels, tell } from './channels.js';
import type { Link } from './link.js';

/** Distributes changes to all nodes. If some may be lost, all listeners are told so once Redis is back. */
export class RedisChangeBus implements ChangeBus {
  private readonly listeners = new Set<(change: Change) => void>();
  /** Whether the other nodes may have missed changes of this one. */
  private isBehind = false;

  constructor(
    private readonly link: Link,
    private readonly channels: Channels,
  ) {
    channels.listeners.add(({ kind, text }) => kind === 'change' && this.deliver(JSON.parse(text) as Change));
    channels.gaps.add(() => this.deliver({ kind: 'missed' }));
  }

  /** Doesn't fail: while Redis is away, the listeners of this process are notified, and the others once it is back. */
  async publish(change: Change): Promise<void> {
    try {
      await this.send(change);
    } catch {
      this.isBehind = true;
      this.deliver(change);
    }
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Tells all nodes that they have missed changes of this one, if they may have. */
  async catchUp(): Promise<void> {
    if (!this.isBehind) return;
    this.isBehind = false;
    try {
      await this.send({ kind: 'missed' });
    } catch {
      this.isBehind = true;
    }
  }

  private async send(change: Change): Promise<void> {
    await this.channels.send({ kind: 'change', number: 0, text: JSON.stringify(change) });
  }

  private deliver(change: Change): void {
    tell(this.listeners, change, this.link);
  }
}
