import { setImmediate } from 'node:timers';

import { McpError } from '../protocol/errors.js';
import type { Exchange } from '../protocol/exchange.js';
import { McpLimitError } from '../protocol/limits.js';
import type { RequestId } from '../protocol/model.js';
import type { Cancellation } from '../protocol/reply.js';
import type { Principal, Wire } from '../protocol/wire.js';

/** The requests in flight of one conversation. */
interface Calls {
  /** By id, for cancellation. */
  readonly byId: Map<RequestId, Exchange>;
  /** Number of running handlers, including those of cancelled requests. */
  running: number;
}

/** The requests in flight over all transports of a server. Requests that are answered synchronously are never added. */
export class InFlight {
  private readonly exchanges = new Set<Exchange>();
  private readonly byConversation = new Map<object, Calls>();
  /** Callbacks of pending drains, called whenever a request ends. */
  private readonly drains = new Set<() => void>();
  private readonly stopped = new WeakSet<object>();
  private readonly expired = new WeakSet<object>();
  private isClosing = false;
  /** Number of conversations with requests in flight. A plain field, because it is read for each message. */
  busy = 0;
  /** Whether any transport has stopped accepting requests; `requireOpen` knows which. */
  stopping = false;

  /** The request whose handler runs synchronously, not added yet. A message from the handler may get it cancelled. */
  starting: Exchange | undefined;
  /** The conversation of `starting`. */
  startingIn: object | undefined;

  /** @param maxOpenCalls cap on the running handlers of one conversation */
  constructor(private readonly maxOpenCalls: number) {}

  /** @param conversation the scope of the request's id; undefined for a request outside a conversation */
  enter(exchange: Exchange, conversation: object | undefined): void {
    this.exchanges.add(exchange);
    if (conversation === undefined) return;
    const calls = this.byConversation.get(conversation) ?? { byId: new Map<RequestId, Exchange>(), running: 0 };
    if (calls.running === 0) this.busy = this.byConversation.set(conversation, calls).size;
    calls.running += 1;
    calls.byId.set(exchange.id, exchange);
  }

  /** Frees the id of a request that was answered while its handler still runs. */
  release(exchange: Exchange, conversation: object | undefined): void {
    const byId = conversation && this.byConversation.get(conversation)?.byId;
    if (byId?.get(exchange.id) === exchange) byId.delete(exchange.id);
  }

  /** Removes a request whose handler has ended. For a cancelled request, that may be long after the reply. */
  leave(exchange: Exchange, conversation: object | undefined): void {
    if (conversation !== undefined) {
      const calls = this.byConversation.get(conversation) as Calls;
      if (calls.byId.get(exchange.id) === exchange) calls.byId.delete(exchange.id);
      calls.running -= 1;
      if (calls.running === 0) this.byConversation.delete(conversation);
      this.busy = this.byConversation.size;
    }
    this.exchanges.delete(exchange);
    if (this.drains.size > 0) for (const check of this.drains) check();
  }

  /** Finds a request by conversation and id. */
  find(conversation: object, id: unknown): Exchange | undefined {
    if (conversation === this.startingIn && id === this.starting?.id) return this.starting;
    return this.byConversation.get(conversation)?.byId.get(id as RequestId);
  }

  /**
   * Rejects a request beyond its conversation's cap. Methods that are always allowed, such as `ping`, are exempt.
   * @throws {McpLimitError}
   */
  requireRoom({ revision, method }: Exchange, conversation: object): void {
    const calls = this.byConversation.get(conversation);
    if (calls === undefined || calls.running < this.maxOpenCalls || revision.methods.get(method)?.early) return;
    const problem = `At most ${this.maxOpenCalls} requests can be in flight at once. Wait for one to end.`;
    throw new McpLimitError('maxOpenCalls', problem, 'too-many-requests');
  }

  /** The requests in flight of a conversation. */
  requestsOf(conversation: object): Iterable<Exchange> {
    return this.byConversation.get(conversation)?.byId.values() ?? [];
  }

  /** Cancels all requests of a conversation. */
  cancelAll(conversation: object, why: Cancellation): void {
    if (conversation === this.startingIn) this.starting?.cancel(why);
    for (const exchange of this.byConversation.get(conversation)?.byId.values() ?? []) exchange.cancel(why);
  }

  /** Tells the wires of a transport that they have requests in flight. */
  keepAlive(owner: object): void {
    for (const wire of new Set(this.of(owner).map((exchange) => exchange.wire))) wire.keepAlive?.();
  }

  /**
   * Makes the kernel reject new requests. Responses and notifications still pass, because requests in flight may be
   * waiting for them.
   * @param owner the transport to stop; all by default
   */
  stop(owner?: object): void {
    this.stopping = true;
    if (owner === undefined) this.isClosing = true;
    else this.stopped.add(owner);
  }

  /**
   * Makes the kernel refuse the requests of a transport whose only caller has expired credentials, and ends its open-ended
   * requests. Responses and notifications still pass, because requests in flight may be waiting for them.
   */
  expire(owner: object): void {
    this.stopping = true;
    this.expired.add(owner);
    for (const exchange of this.of(owner)) exchange.end();
  }

  /**
   * Rejects a request of a transport that accepts no more requests.
   * @throws {McpError} `closing` or `unauthorized`
   */
  requireOpen(owner: object): void {
    if (this.isClosing || this.stopped.has(owner)) throw new McpError('closing', 'The server is closing.');
    if (this.expired.has(owner)) {
      throw new McpError('unauthorized', 'The credentials of this connection have expired. Connect with new ones.');
    }
  }

  /**
   * Ends open-ended requests such as `subscriptions/listen`, waits for the requests in flight, and cancels the
   * remaining ones at the deadline.
   * @param deadlineMs milliseconds to wait
   * @param owner the transport to drain; all by default
   */
  async drain(deadlineMs: number, owner?: object): Promise<void> {
    // a handler that closes its own server is added only after it has returned its promise
    await undefined;
    for (const exchange of this.of(owner)) exchange.end();
    if (this.of(owner).length > 0) await this.emptied(deadlineMs, owner);
    const late = this.of(owner);
    for (const exchange of late) exchange.cancel('closing');
    // let their errors be sent before the transport closes
    if (late.length > 0) await new Promise(setImmediate);
  }

  /** Ends open-ended requests whose caller's token has expired. `now` is in milliseconds since 1970. */
  endExpired(owner: object, now: number): void {
    for (const exchange of this.of(owner)) {
      if ((exchange.wire.principal?.expiresAt ?? now + 1) <= now) exchange.end();
    }
  }

  /** Cancels the requests of callers whose credentials have been revoked, and what runs apart from requests for them. */
  revoke(owner: object, isRevoked: (principal: Principal) => boolean): void {
    for (const exchange of this.exchanges) {
      const { principal, owner: own } = exchange.wire;
      const isConcerned = principal !== undefined && (own === owner || exchange.isDetached);
      if (isConcerned && isRevoked(principal)) exchange.cancel('revoked');
    }
  }

  /** Cancels the requests of one message, because its host gives it no more time. */
  cancelOverdue(isOverdue: (wire: Wire) => boolean): void {
    for (const exchange of this.exchanges) if (isOverdue(exchange.wire)) exchange.cancel('overdue');
  }

  private of(owner: object | undefined): readonly Exchange[] {
    return [...this.exchanges].filter(({ wire }) => owner === undefined || wire.owner === owner);
  }

  private async emptied(deadlineMs: number, owner: object | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.drains.delete(check);
        resolve();
      };
      // check later: a request that a plugin held is removed just before it runs, and its reply must still be sent
      const check = () => void setImmediate(() => (this.of(owner).length > 0 ? undefined : done()));
      const timer = setTimeout(done, deadlineMs);
      this.drains.add(check);
    });
  }
}
