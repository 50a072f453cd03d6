import type { JsonObject } from '../protocol/model.js';
import type { ListName } from '../registry/registry.js';

/** Changes within this time are announced together. */
const DEBOUNCE_MS = 10;

/** Somebody who wants to hear of changes: a session, or a request that listens. */
export interface Listener {
  wantsList(list: ListName): boolean;
  /** @param exactly following what the resource is part of does not count */
  wantsResource(uri: string, exactly: boolean): boolean;
  tell(method: string, params: JsonObject): void;
  /** What was asked under that id is done. */
  completed?(elicitationId: string): void;
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

  /**
   * Tells those who follow a resource that it has changed.
   * @param restricted not everybody may see it: only those are told who follow it by its URI, and so were admitted
   */
  resourceUpdated(uri: string, restricted: boolean): void {
    for (const listener of this.listeners) {
      if (listener.wantsResource(uri, restricted)) listener.tell('notifications/resources/updated', { uri });
    }
  }

  /** Tells the session that was asked to visit a URL that the visit is completed. */
  elicitationCompleted(elicitationId: string): void {
    for (const listener of this.listeners) listener.completed?.(elicitationId);
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
