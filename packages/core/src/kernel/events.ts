import type { JsonObject } from '../protocol/model.js';
import type { ListName } from '../registry/registry.js';
import type { Change, ChangeBus } from './change-bus.js';

/** Changes within this window are announced together. */
const DEBOUNCE_MS = 10;

/** A session or listen request that receives notifications. */
export interface Listener {
  wantsList(list: ListName): boolean;
  wantsResource(uri: string): boolean;
  notify(method: string, params: JsonObject): void;
  /** Called when the user has completed the elicitation with this id. */
  completed?(elicitationId: string): void;
}

/** Options of `Events`. */
export interface EventsOptions {
  readonly bus: ChangeBus;
  /** Receives errors from the bus. */
  readonly report: (error: unknown) => void;
}

/** Notifies this process's listeners of changes from this process, or from another process on the bus. */
export class Events {
  private readonly listeners = new Set<Listener>();
  private readonly pending = new Set<ListName>();
  private timer: NodeJS.Timeout | undefined;
  private subscription: ReturnType<ChangeBus['subscribe']> | undefined;

  constructor(private readonly options: EventsOptions) {}

  join(listener: Listener): void {
    this.listeners.add(listener);
    // subscribe to the bus with the first listener: before that, there is nobody to notify
    if (this.subscription === undefined) void this.subscribe();
  }

  leave(listener: Listener): void {
    this.listeners.delete(listener);
  }

  /** Publishes a change on the bus. */
  publish(change: Change): void {
    void this.attempt(() => this.options.bus.publish(change));
  }

  /** Unsubscribes from the bus. */
  close(): void {
    const { subscription } = this;
    if (subscription !== undefined) void this.attempt(async () => (await subscription)());
  }

  private async subscribe(): Promise<void> {
    try {
      this.subscription = this.options.bus.subscribe((change) => this.deliver(change));
      await this.subscription;
    } catch (error) {
      // the next listener to join tries again
      this.subscription = undefined;
      this.options.report(error);
    }
  }

  private deliver(change: Change): void {
    if (this.listeners.size === 0) return;
    switch (change.kind) {
      case 'lists':
        for (const list of change.lists) this.pending.add(list);
        this.timer ??= setTimeout(() => this.flush(), DEBOUNCE_MS).unref();
        break;
      case 'resource':
        this.resourceUpdated(change.uri, change.within);
        break;
      case 'elicitation':
        for (const listener of this.listeners) listener.completed?.(change.id);
        break;
    }
  }

  private resourceUpdated(uri: string, within: string | undefined): void {
    for (const listener of this.listeners) {
      const isWanted = listener.wantsResource(uri) || (within !== undefined && listener.wantsResource(within));
      if (isWanted) listener.notify('notifications/resources/updated', { uri });
    }
  }

  private flush(): void {
    this.timer = undefined;
    const lists = [...this.pending];
    this.pending.clear();
    for (const listener of this.listeners) {
      for (const list of lists) if (listener.wantsList(list)) listener.notify(`notifications/${list}/list_changed`, {});
    }
  }

  private async attempt(step: () => void | Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.options.report(error);
    }
  }
}
