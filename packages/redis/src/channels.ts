import { randomBytes } from 'node:crypto';

import type { ClusterServer } from '@decorum/core';
import type { Cluster, Redis } from 'ioredis';

import type { Connection } from './connection.js';
import type { Link } from './link.js';

/** What a message is: a letter, its answer, or a change. */
export type MessageKind = 'letter' | 'answer' | 'change';

/** A message between nodes. */
export interface Message {
  readonly kind: MessageKind;
  /** The node that sent it. */
  readonly from: string;
  /** Number of the letter that this is, or that this answers. */
  readonly number: number;
  /** Of a letter: whether it is for this node only. */
  readonly isAddressed: boolean;
  readonly text: string;
}

/** What to send. */
export type Outgoing = Pick<Message, 'kind' | 'number' | 'text'>;

const HEAD = /^(letter|answer|change) (\w+) (\d+) /;

/** A name for a node that no other ever had: 10 random bytes. */
const nodeName = (): string =>
  BigInt(`0x${randomBytes(10).toString('hex')}`)
    .toString(36)
    .padStart(16, '0');

/** Runs something with each of several listeners, and goes on if one fails. */
export function tell<T>(listeners: ReadonlySet<(value: T) => void>, value: T, link: Link): void {
  for (const listener of listeners) {
    try {
      listener(value);
    } catch (error) {
      link.report(error, 'A listener failed.');
    }
  }
}

/**
 * The channels between nodes: one for each node, and one for all. Everything that a node sends goes over one connection,
 * and everything that it receives comes over another one, so it stays in order.
 */
export class Channels {
  readonly node = nodeName();
  /** Called with each message for this node. */
  readonly listeners = new Set<(message: Message) => void>();
  /** Called when messages may have been lost, and others arrive again. */
  readonly gaps = new Set<(_: undefined) => void>();
  private subscriber: Connection | undefined;
  private hasListened = false;

  constructor(private readonly link: Link) {}

  /** Begins to receive. */
  open(server: ClusterServer): void {
    const subscriber = this.link.connect(server);
    this.subscriber = subscriber;
    subscriber.onReady(() => void this.subscribe(subscriber.client));
    subscriber.client.on(subscriber.client.isCluster ? 'smessage' : 'message', (channel: string, message: string) =>
      this.receive(channel, message),
    );
  }

  /** Finds out whether the connection still works: one that receives only would never know. */
  check(): void {
    this.subscriber?.run((client) => client.ping()).catch(() => {});
  }

  /**
   * Sends a message to a node, or to all.
   * @returns how many nodes were there to receive it, as far as Redis knows
   * @throws {Error} if Redis fails
   */
  async send({ kind, number, text }: Outgoing, to?: string): Promise<number> {
    const channel = this.channelOf(to);
    const head = `${kind} ${this.node} ${number} `;
    const message = head + (text && this.link.seal(text, `${channel} ${head}`));
    return await this.link.run((client) =>
      client.isCluster ? (client.spublish(channel, message) as Promise<number>) : client.publish(channel, message),
    );
  }

  /** Stops receiving. */
  close(): void {
    this.subscriber?.close();
  }

  private async subscribe(client: Redis | Cluster): Promise<void> {
    const channels = [this.channelOf(this.node), this.channelOf()];
    try {
      await (client.isCluster ? client.ssubscribe(...channels) : client.subscribe(...channels));
    } catch (error) {
      this.link.report(error, 'Redis refused a subscription.');
      return;
    }
    if (this.hasListened) tell(this.gaps, undefined, this.link);
    this.hasListened = true;
  }

  private receive(channel: string, message: string): void {
    const [head, kind, from, number] = HEAD.exec(message) ?? [];
    if (head === undefined || from === undefined) return;
    const sealed = message.slice(head.length);
    const text = sealed && this.link.unseal(sealed, `${channel} ${head}`);
    if (text === undefined) return;
    const isAddressed = channel === this.channelOf(this.node);
    tell(this.listeners, { kind: kind as MessageKind, from, number: Number(number), isAddressed, text }, this.link);
  }

  /** All channels of a server are in one slot. */
  private channelOf(node = ''): string {
    return this.link.key('c', `{${this.link.prefix}}${node}`);
  }
}
