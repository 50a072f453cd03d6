import { clearTimeout, setTimeout } from 'node:timers';

import { type Change, McpError } from '@decorum/core';
import { andThen, isPromise } from '@decorum/core/internal';

import type { Letter } from '../cluster/courier.js';
import { startupError } from '../errors.js';
import type { Channel } from './channel.js';
import type { HubStores } from './hub-stores.js';
import { type HubCall, type Item, MARK, type Outcome } from './messages.js';
import { Outbox } from './outbox.js';

/** Milliseconds in which the primary must answer the first message of a node. */
const HELLO_MS = 5000;

/** Milliseconds after which a call without an answer fails, unless its caller has given up earlier. */
const CALL_MS = 30_000;

/** Cap on unanswered calls. */
const MAX_CALLS = 20_000;

/** Cap on messages from before `open`. */
const MAX_EARLY = 1000;

type Take = (letter: Letter) => boolean | Promise<boolean>;

interface Call {
  readonly settle: (outcome: Outcome) => void;
  readonly deadline: number;
}

const BEHIND = 'The primary process does not keep up.';
const GONE = 'The connection to the primary process is closed.';

/** One server's connection to the hub. */
export class NodeClient {
  readonly takers = new Set<Take>();
  readonly listeners = new Set<(change: Change) => void>();
  private readonly calls = new Map<number, Call>();
  private count = 0;
  private outbox: Outbox | undefined;
  /** Messages from before `open`. */
  private early: Item[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  /** @param node the id of the node */
  constructor(
    readonly node: string,
    private readonly channel: Channel,
  ) {}

  /**
   * Introduces the node to the hub.
   * @param server the server's name
   * @throws {DecorumError} `DECORUM_NO_HUB` if no hub answers in time
   */
  async open(server: string): Promise<void> {
    const address = { decorum: MARK, server, node: this.node } as const;
    this.outbox = new Outbox((items, done) => {
      this.channel.send({ ...address, items }, (error) => {
        if (error) this.lost();
        done();
      });
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(startupError('DECORUM_NO_HUB', HELLO_MS)), HELLO_MS);
    });
    const answered = this.hello();
    for (const item of this.early) this.outbox.add(item);
    this.early = [];
    try {
      await Promise.race([answered, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves once the hub has answered. */
  async hello(): Promise<void> {
    await this.ask((id) => ({ kind: 'hello', id }));
  }

  /** Leaves the hub: the node takes no more letters. */
  close(): void {
    this.outbox?.add({ kind: 'bye' });
    this.lost();
  }

  /** Calls a function of the hub's stores. */
  call<C extends HubCall>(call: C, ...args: Parameters<HubStores[C]>): Promise<ReturnType<HubStores[C]>> {
    return this.ask((id) => ({ kind: 'call', id, call, args })) as Promise<ReturnType<HubStores[C]>>;
  }

  /** Sends a letter to another node, or to all others. */
  async send(letter: Letter, to?: string): Promise<boolean> {
    return (await this.ask((id) => ({ kind: 'letter', id, letter, ...(to !== undefined && { to }) }))) === true;
  }

  /** Sends a letter to all others. All that anybody sends once this resolves arrives after it. */
  async tell(letter: Letter): Promise<void> {
    await this.ask((id) => ({ kind: 'tell', id, letter }));
  }

  /** Publishes a change to all nodes. */
  publish(change: Change): void {
    this.post({ kind: 'change', change });
    for (const listener of this.listeners) listener(change);
  }

  /** Handles a batch of messages from the hub. */
  receive(items: readonly Item[]): void {
    for (const item of items) this.handle(item);
  }

  /** The connection has ended: all calls fail. */
  lost(): void {
    this.isClosed = true;
    this.failCalls(GONE);
  }

  private handle(item: Item): void {
    if (item.kind === 'outcome') return this.settle(item.id, item.outcome);
    if (item.kind === 'change') for (const listener of this.listeners) listener(item.change);
    if (item.kind === 'letter') this.take(item.letter, (outcome) => this.answer(item.id, outcome));
    if (item.kind === 'tell') this.take(item.letter, () => {});
  }

  /** Gives a letter to all takers. All of them get it in this turn, so letters stay in order. */
  private take(letter: Letter, answer: (outcome: Outcome) => void): void {
    const failed = ({ message }: Error) => answer({ error: { message } });
    try {
      const taken = [...this.takers].map((take) => take(letter));
      const all = taken.some(isPromise) ? Promise.all(taken) : (taken as boolean[]);
      const answered = andThen(all, (each) => answer({ value: each.includes(true) }));
      if (isPromise(answered)) answered.then(undefined, failed);
    } catch (error) {
      failed(error as Error);
    }
  }

  private answer(id: number, outcome: Outcome): void {
    this.outbox?.add({ kind: 'outcome', id, outcome });
  }

  private ask(item: (id: number) => Item): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.calls.size >= MAX_CALLS) throw new Error(BEHIND);
      const id = (this.count += 1);
      this.post(item(id));
      const settle = ({ value, error }: Outcome) => {
        if (error === undefined) resolve(value);
        else reject(error.kind ? new McpError(error.kind, error.message) : new Error(error.message));
      };
      this.calls.set(id, { settle, deadline: Date.now() + CALL_MS });
      this.timer ??= setTimeout(() => this.failLate(), CALL_MS).unref();
    });
  }

  /** @throws if the message can't be sent */
  private post(item: Item): void {
    if (this.isClosed) throw new Error(GONE);
    if (this.outbox === undefined && this.early.length < MAX_EARLY) this.early.push(item);
    else if (this.outbox?.add(item) !== true) throw new Error(BEHIND);
  }

  private settle(id: number, outcome: Outcome): void {
    const call = this.calls.get(id);
    this.calls.delete(id);
    call?.settle(outcome);
  }

  /** Fails the calls that have waited for too long. They are in the order of their deadlines. */
  private failLate(): void {
    this.timer = undefined;
    const now = Date.now();
    for (const [id, { deadline }] of this.calls) {
      if (deadline <= now) this.settle(id, { error: { message: BEHIND } });
      else {
        this.timer = setTimeout(() => this.failLate(), deadline - now).unref();
        return;
      }
    }
  }

  private failCalls(message: string): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const id of this.calls.keys()) this.settle(id, { error: { message } });
  }
}
