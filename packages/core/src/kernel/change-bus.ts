import type { JsonObject } from '@decorum/schema/internal';

import type { ListName } from '../registry/registry.js';

/** A change to notify clients of. It can be serialized as JSON. */
export type Change =
  | { readonly kind: 'lists'; readonly lists: readonly ListName[] }
  /** A resource was updated. `within` is a resource that contains it, if the server named one. */
  | { readonly kind: 'resource'; readonly uri: string; readonly within?: string }
  /** A user has completed the task at a URL. */
  | { readonly kind: 'elicitation'; readonly id: string }
  /** An extension published something. */
  | { readonly kind: 'extension'; readonly id: string; readonly data: JsonObject }
  /** The bus may have lost changes, so anything may be different. Clients are told that everything has changed. */
  | { readonly kind: 'missed' };

/**
 * Distributes changes to every process that serves the same clients. Implement it on top of a message broker to notify
 * the clients of one process about changes in the others. The default bus stays within one server.
 */
export interface ChangeBus {
  /** Delivers a change to all subscribers, including those of this process. */
  publish(change: Change): void | Promise<void>;
  /**
   * Subscribes to all further changes. Changes published by one process must arrive in order.
   * @returns a function that ends the subscription
   */
  subscribe(listener: (change: Change) => void): (() => void) | Promise<() => void>;
}

/**
 * Distributes changes within one process. Pass the same bus to several servers to notify each other's clients.
 * @example
 * ```ts
 * const changeBus = new MemoryChangeBus();
 * const shop = new McpServer({ name: 'shop', version: '1.0.0', changeBus });
 * const office = new McpServer({ name: 'office', version: '1.0.0', changeBus });
 * shop.notify.resourceUpdated('orders://open'); // reaches the clients of both
 * ```
 */
export class MemoryChangeBus implements ChangeBus {
  private readonly listeners = new Set<(change: Change) => void>();

  publish(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}
