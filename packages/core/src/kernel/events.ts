import type { JsonObject } from '../protocol/model.js';
import type { ListName } from '../registry/registry.js';

/** Changes within this time are announced together. */
const DEBOUNCE_MS = 10;

/** Somebody who wants to hear of changes: a session, or a request that listens. */
export interface Listener {
  wantsList(list: ListName): boolean;
  wantsResource(uri: string): boolean;
  tell(method: string, params: JsonObject): void;
  /** There will be no more. */
  end?(): void;
}

/** Tells listeners what changed. */
export class Events {
  private readonly listeners = new Set<Listener>();
  private readonly pending = new Set<ListName>();
  private timer: NodeJS.Timeout | undefined;

  join(listener: Listener): void {
    this.listeners.add(listener);
  }

  leave(listener: Listener): void {
    this.listeners.delete(listener);
  }

  /** Announces that lists have changed, once for all changes of a moment. */
  listsChanged(lists: Iterable<ListName>): void {
    for (const list of lists) this.pending.add(list);
    if (this.pending.size === 0 || this.listeners.size === 0) return this.pending.clear();
    this.timer ??= setTimeout(() => this.flush(), DEBOUNCE_MS).unref();
  }

  /** Tells those who follow a resource that it has changed. */
  resourceUpdated(uri: string): void {
    for (const listener of this.listeners) {
      if (listener.wantsResource(uri)) listener.tell('notifications/resources/updated', { uri });
    }
  }

  /** Ends what listens, so that nothing waits for it. */
  end(): void {
    for (const listener of this.listeners) listener.end?.();
  }

  private flush(): void {
    this.timer = undefined;
    const lists = [...this.pending];
    this.pending.clear();
    for (const listener of this.listeners) {
      for (const list of lists) if (listener.wantsList(list)) listener.tell(`notifications/${list}/list_changed`, {});
    }
  }
}
