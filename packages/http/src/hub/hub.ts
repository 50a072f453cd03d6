import { McpError } from '@decorum/core';

import { type HubOptions, type HubStores, hubStores } from './hub-stores.js';
import { HubNode } from './hub-node.js';
import type { Envelope, Item, Outcome } from './messages.js';
import type { Channel } from './channel.js';

/** What the nodes of one server name share. */
interface Space {
  readonly stores: HubStores;
  readonly nodes: Map<string, HubNode>;
}

type Sent<K extends Item['kind']> = Extract<Item, { kind: K }>;

const OVERLOADED: Outcome = { error: { message: 'A process of the cluster does not keep up with its letters.' } };
const UNTAKEN: Outcome = { value: false };

/** Keeps what the nodes of each server name share, and passes on what they tell each other. Runs in the primary. */
export class Hub {
  private readonly spaces = new Map<string, Space>();
  /** The nodes of each process. */
  private readonly nodes = new Map<Channel, Map<string, HubNode>>();

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
  constructor(private readonly options: HubOptions) {
    // the first server's stores are created with its first node: find mistakes before that
    hubStores(options);
  }

  /** Handles a batch of messages of a node. */
  receive(channel: Channel, { server, node: id, items }: Envelope): void {
    for (const item of items) {
      // a node whose last messages arrive after its `bye` isn't added again
      const node = item.kind === 'hello' ? this.nodeOf(channel, server, id) : this.nodes.get(channel)?.get(id);
      if (node !== undefined) this.handle(node, this.spaceOf(server), item);
    }
  }

  /** Removes the nodes of a process that has ended. Letters that it hasn't answered count as not taken. */
  lost(channel: Channel): void {
    for (const node of this.nodes.get(channel)?.values() ?? []) this.remove(node);
    this.nodes.delete(channel);
  }

  private spaceOf(server: string): Space {
    const space = this.spaces.get(server) ?? { stores: hubStores(this.options), nodes: new Map() };
    this.spaces.set(server, space);
    return space;
  }

  private nodeOf(channel: Channel, server: string, id: string): HubNode {
    const own = this.nodes.get(channel) ?? new Map<string, HubNode>();
    this.nodes.set(channel, own);
    const node = own.get(id) ?? new HubNode(channel, server, id);
    own.set(id, node);
    this.spaceOf(server).nodes.set(id, node);
    return node;
  }

  private remove(node: HubNode): void {
    this.nodes.get(node.channel)?.delete(node.id);
    this.spaceOf(node.server).nodes.delete(node.id);
    node.end();
  }

  private handle(node: HubNode, space: Space, item: Item): void {
    switch (item.kind) {
      case 'hello':
        return node.answer(item.id, {});
      case 'bye':
        return this.remove(node);
      case 'call':
        return node.answer(item.id, outcomeOf(space.stores, item));
      case 'change':
        for (const other of space.nodes.values()) if (other !== node) other.notify(item.change);
        return;
      case 'tell':
        for (const other of space.nodes.values()) if (other !== node) other.tell(item.letter);
        return node.answer(item.id, {});
      case 'letter':
        return carry(node, space, item);
      case 'outcome':
        return node.settle(item.id, item.outcome);
    }
  }
}

/** Runs a call in the stores. */
function outcomeOf(stores: HubStores, { call, args }: Sent<'call'>): Outcome {
  const run = stores[call] as (...given: unknown[]) => unknown;
  try {
    // JSON writes null for undefined
    return { value: run(...args.map((each) => each ?? undefined)) };
  } catch (error) {
    const { message } = error as Error;
    return { error: { message, kind: error instanceof McpError ? error.kind : undefined } };
  }
}

/** Passes a letter on, and answers its sender: true once somebody took it, and false once all others didn't. */
function carry(sender: HubNode, { nodes }: Space, { id, letter, to }: Sent<'letter'>): void {
  const named = to === undefined ? [...nodes.values()].filter((node) => node !== sender) : [nodes.get(to)];
  const receivers = named.filter((node) => node !== undefined);
  let unanswered = receivers.length;
  let failed: Outcome | undefined;
  let isAnswered = false;
  if (unanswered === 0) return sender.answer(id, UNTAKEN);
  const settle = (outcome: Outcome) => {
    unanswered -= 1;
    if (outcome.error !== undefined) failed = outcome;
    const isTaken = outcome.value === true;
    if (isAnswered || (!isTaken && unanswered > 0)) return;
    isAnswered = true;
    sender.answer(id, isTaken ? outcome : (failed ?? UNTAKEN));
  };
  for (const node of receivers) if (!node.deliver(letter, settle)) settle(OVERLOADED);
}
