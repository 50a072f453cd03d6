import { randomBytes } from 'node:crypto';

import type { Redis } from 'ioredis';

import type { Link } from './link.js';
import { Subscriber } from './subscriber.js';

/** What a message is: a letter, its answer, a change, or a mark after which a subscription begins. */
export type MessageKind = 'letter' | 'answer' | 'change' | 'mark';

/** A message between nodes. */
export interface Message {
  readonly kind: MessageKind;
  /** The node that sent it. */
  readonly from: string;
  /** Number of the letter or mark that this is, or of the letter that this answers. */
  readonly number: number;
  /** Of a letter: whether it is for this node only. */
  readonly isAddressed: boolean;
  readonly text: string;
}

/** What to send. */
export type Outgoing = Pick<Message, 'kind' | 'number' | 'text'>;

const HEAD = /^(letter|answer|change|mark) (\w+) (\d+) /;

/** A name for a node that no other ever had: 10 random bytes. */
const nodeName = (): string =>
  BigInt(`0x${randomBytes(10).toString('hex')}`)
    .toString(36)
    .padStart(16, '0');

/**
 * The channels between nodes: one for each node, and one for all. Everything that a node sends goes over one connection,
 * and everything that it receives comes over another one, so it stays in order.
 */
export class Channels {
  readonly node = nodeName();
  /** Called with each message for this node. */
  readonly listeners = new Set<(message: Message) => void>();
  /** Called when messages may have been lost, and others arrive again. */
  readonly gaps = new Set<() => void>();
  private subscriber: Subscriber | undefined;

  constructor(private readonly link: Link) {}

  /** Begins to receive. */
  open(): void {
    this.subscriber = new Subscriber({
      create: async () => await this.link.subscriberOf(this.channelOf()),
      subscribe: async (client) => await this.subscribe(client),
      onError: (error) => this.link.reportAway(error),
    });
  }

  /**
   * Resolves while messages arrive.
   * @throws {Error} while the subscriptions are missing
   */
  async ping(): Promise<void> {
    await this.subscriber?.ping();
  }

  /**
   * Sends a message to a node, or to all.
   * @returns how many nodes were there to receive it, as far as Redis knows
   * @throws {Error} if Redis fails
   */
  async send({ kind, number, text }: Outgoing, to?: string): Promise<number> {
    const channel = this.channelOf(to);
    const head = `${kind} ${this.node} ${number} `;
    const message = head + (kind === 'mark' ? '' : this.link.seal(text, `${channel} ${head}`));
    return await this.link.run((client) =>
      client.isCluster ? (client.spublish(channel, message) as Promise<number>) : client.publish(channel, message),
    );
  }

  /** Stops receiving. */
  close(): void {
    this.subscriber?.close();
  }

  private async subscribe(client: Redis): Promise<void> {
    const channels = [this.channelOf(this.node), this.channelOf()];
    const receive = (channel: string, message: string) => this.receive(channel, message);
    if (this.link.isCluster) await client.on('smessage', receive).ssubscribe(...channels);
    else await client.on('message', receive).subscribe(...channels);
    for (const tell of this.gaps) tell();
  }

  private receive(channel: string, message: string): void {
    const [head, kind, from, number] = HEAD.exec(message) ?? [];
    if (head === undefined || from === undefined) return;
    // a mark says nothing, so whoever can publish may send one
    const text = kind === 'mark' ? '' : this.link.unseal(message.slice(head.length), `${channel} ${head}`);
    if (text === undefined) return;
    const isAddressed = channel === this.channelOf(this.node);
    const heard = { kind: kind as MessageKind, from, number: Number(number), isAddressed, text };
    for (const listen of this.listeners) listen(heard);
  }

  /** All channels of a server are in one slot. */
  private channelOf(node = ''): string {
    return this.link.key('c', `{${this.link.prefix}}${node}`);
  }
}
