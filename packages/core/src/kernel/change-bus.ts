import type { ListName } from '../registry/registry.js';

/** Something that clients may want to hear of. It is JSON. */
export type Change =
  | { readonly kind: 'lists'; readonly lists: readonly ListName[] }
  /** A resource was updated. */
  | { readonly kind: 'resource'; readonly uri: string }
  /** What a user was asked to do at a URL is done. */
  | { readonly kind: 'elicitation'; readonly id: string };

/**
 * Carries changes to every process that serves the same clients. Implement it over a message broker so that a client
 * connected to one process hears of what happens in another; the default stays within one server.
 */
export interface ChangeBus {
  /** Tells every subscriber, those of this process included. */
  publish(change: Change): void | Promise<void>;
  /**
   * Calls back with every change from now on, in the order in which one process has published them.
   * @returns ends the subscription
   */
  subscribe(listener: (change: Change) => void): (() => void) | Promise<() => void>;
}

/** Carries changes within one process. Give one to several servers, so that they tell each other's clients. */
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
