import type { Change, ChangeBus } from '@decorum/core';

import type { Channels, Message } from './channels.js';
import type { Link } from './link.js';

/** Somebody who listens, or soon will. */
interface Subscriber {
  readonly listener: (change: Change) => void;
  /** Called once all earlier changes have arrived. */
  begin?: (() => void) | undefined;
}

/** Distributes changes to all nodes. If some may be lost, all listeners are told so once Redis is back. */
export class RedisChangeBus implements ChangeBus {
  /** By number. */
  private readonly subscribers = new Map<number, Subscriber>();
  private count = 0;
  /** Whether the other nodes may have missed changes of this one. */
  private isBehind = false;

  constructor(
    private readonly link: Link,
    private readonly channels: Channels,
  ) {
    channels.listeners.add((message) => this.hear(message));
    channels.gaps.add(() => {
      for (const { begin } of this.subscribers.values()) begin?.();
      this.deliver({ kind: 'missed' });
    });
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

  /** Begins with the changes after a mark, which this node sends to itself. */
  async subscribe(listener: (change: Change) => void): Promise<() => void> {
    const number = (this.count += 1);
    const subscriber: Subscriber = { listener };
    const hasBegun = new Promise<void>((resolve) => {
      subscriber.begin = () => {
        subscriber.begin = undefined;
        resolve();
      };
    });
    this.subscribers.set(number, subscriber);
    try {
      const receivers = await this.channels.send({ kind: 'mark', number, text: '' }, this.channels.node);
      // it doesn't arrive
      if (receivers === 0) subscriber.begin?.();
    } catch {
      subscriber.begin?.();
    }
    await hasBegun;
    return () => void this.subscribers.delete(number);
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

  private hear({ kind, number, text }: Message): void {
    if (kind === 'mark') this.subscribers.get(number)?.begin?.();
    if (kind === 'change') this.deliver(JSON.parse(text) as Change);
  }

  private deliver(change: Change): void {
    for (const { listener, begin } of this.subscribers.values()) {
      if (begin !== undefined) continue;
      try {
        listener(change);
      } catch (error) {
        this.link.report(error, 'A listener failed.');
      }
    }
  }
}
