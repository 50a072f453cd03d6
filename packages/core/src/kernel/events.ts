import type { Session } from '../protocol/eras/stateful.js';
import type { ListName } from '../registry/registry.js';

/** Changes within this time are announced together. */
const DEBOUNCE_MS = 10;

/** Tells sessions what changed. */
export class Events {
  private readonly sessions = new Set<Session>();
  private readonly pending = new Set<ListName>();
  private timer: NodeJS.Timeout | undefined;

  /** The client is ready to hear of changes. */
  join(session: Session): void {
    this.sessions.add(session);
  }

  leave(session: Session): void {
    this.sessions.delete(session);
  }

  /** Announces that lists have changed, once for all changes of a moment. */
  listsChanged(lists: Iterable<ListName>): void {
    for (const list of lists) this.pending.add(list);
    if (this.pending.size === 0 || this.sessions.size === 0) return this.pending.clear();
    this.timer ??= setTimeout(() => this.flush(), DEBOUNCE_MS).unref();
  }

  /** Tells those who subscribed to a resource that it has changed. */
  resourceUpdated(uri: string): void {
    for (const { revision, subscriptions, push } of this.sessions) {
      if (subscriptions.has(uri)) {
        push(revision.notification('notifications/resources/updated', { uri }));
      }
    }
  }

  private flush(): void {
    this.timer = undefined;
    const lists = [...this.pending];
    this.pending.clear();
    for (const { revision, push } of this.sessions) {
      for (const list of lists) push(revision.notification(`notifications/${list}/list_changed`, {}));
    }
  }
}
