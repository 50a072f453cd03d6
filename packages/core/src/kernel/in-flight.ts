import { setImmediate } from 'node:timers';

import type { Exchange } from '../protocol/exchange.js';
import type { RequestId } from '../protocol/model.js';
import type { Cancellation } from '../protocol/reply.js';

/** All requests in flight, over all transports of a server. Requests that are answered at once never get here. */
export class InFlight {
  private readonly exchanges: Exchange[] = [];
  /** Those of one conversation by their id, for cancellation. */
  private readonly byConversation = new Map<object, Map<RequestId, Exchange>>();
  /** What waits until nothing is in flight any more looks again when a request has ended. */
  private readonly drains = new Set<() => void>();
  private readonly stopped = new WeakSet<object>();
  private isClosing = false;
  /** How many conversations have requests in flight. Looked at for each message, so it is a field. */
  busy = 0;
  /** Whether any transport takes no more requests; `isStopped` says which. */
  stopping = false;

  /** The request whose handler is in its first turn, and not in the book yet: what it sends may get it cancelled. */
  starting: Exchange | undefined;
  /** The conversation of `starting`. */
  startingIn: object | undefined;

  /** @param conversation what its id is unique in; undefined where a request stands alone */
  enter(exchange: Exchange, conversation: object | undefined): void {
    exchange.slot = this.exchanges.push(exchange) - 1;
    if (conversation === undefined) return;
    const calls = this.byConversation.get(conversation) ?? new Map<RequestId, Exchange>();
    if (calls.size === 0) this.busy = this.byConversation.set(conversation, calls).size;
    calls.set(exchange.id, exchange);
  }

  /** Frees the id of a request that has its reply while its handler still runs. */
  release(exchange: Exchange, conversation: object | undefined): void {
    const calls = conversation && this.byConversation.get(conversation);
    if (calls?.get(exchange.id) !== exchange) return;
    calls.delete(exchange.id);
    if (calls.size === 0) this.byConversation.delete(conversation as object);
    this.busy = this.byConversation.size;
  }

  /** Removes a request whose handler has ended. For a cancelled request that can be long after its reply. */
  leave(exchange: Exchange, conversation: object | undefined): void {
    if (conversation !== undefined) this.release(exchange, conversation);
    const last = this.exchanges.pop() as Exchange;
    if (last !== exchange) {
      this.exchanges[exchange.slot] = last;
      last.slot = exchange.slot;
    }
    if (this.drains.size > 0) for (const check of this.drains) check();
  }

  /** A request of a conversation by its id. */
  find(conversation: object, id: unknown): Exchange | undefined {
    if (conversation === this.startingIn && id === this.starting?.id) return this.starting;
    return this.byConversation.get(conversation)?.get(id as RequestId);
  }

  /** Whether a conversation has a request in flight. */
  isBusy(conversation: object): boolean {
    return this.byConversation.has(conversation);
  }

  /** Gives up all requests of a conversation. */
  cancelAll(conversation: object, why: Cancellation): void {
    if (conversation === this.startingIn) this.starting?.cancel(why);
    for (const exchange of this.byConversation.get(conversation)?.values() ?? []) exchange.cancel(why);
  }

  /** Tells the wires of a transport, each once, that a request of theirs is still in flight. */
  keepAlive(owner: object): void {
    for (const wire of new Set(this.of(owner).map((exchange) => exchange.wire))) wire.keepAlive?.();
  }

  /**
   * Stops the intake: the kernel refuses requests from now on. Responses and notifications still pass, because requests
   * in flight may wait for them.
   * @param owner the transport that takes no more; by default all
   */
  stop(owner?: object): void {
    this.stopping = true;
    if (owner === undefined) this.isClosing = true;
    else this.stopped.add(owner);
  }

  /** Whether requests of a transport are refused. */
  isStopped(owner: object): boolean {
    return this.isClosing || this.stopped.has(owner);
  }

  /**
   * Ends open-ended requests such as `subscriptions/listen`, waits until nothing is in flight, and cancels what is left
   * at the deadline.
   * @param deadlineMs milliseconds to wait
   * @param owner the transport whose requests are meant; by default all
   */
  async drain(deadlineMs: number, owner?: object): Promise<void> {
    // a handler that closes its own server is in the book only once it has returned its promise
    await undefined;
    for (const exchange of this.of(owner)) exchange.finish?.();
    if (this.holds(owner)) await this.emptied(deadlineMs, owner);
    const late = this.of(owner);
    for (const exchange of late) exchange.cancel('closing');
    // their errors are sent before the transport closes
    if (late.length > 0) await new Promise(setImmediate);
  }

  private of(owner: object | undefined): readonly Exchange[] {
    return this.exchanges.filter(({ wire }) => owner === undefined || wire.owner === owner);
  }

  private holds(owner: object | undefined): boolean {
    return this.exchanges.some(({ wire }) => owner === undefined || wire.owner === owner);
  }

  private async emptied(deadlineMs: number, owner: object | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.drains.delete(check);
        resolve();
      };
      const check = () => {
        if (!this.holds(owner)) done();
      };
      const timer = setTimeout(done, deadlineMs);
      this.drains.add(check);
    });
  }
}
