import type { JsonObject } from '../protocol/model.js';
import type { ListName } from '../registry/registry.js';
import type { Change, ChangeBus } from './change-bus.js';

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
}

/** What `Events` works with. */
export interface EventsOptions {
  readonly bus: ChangeBus;
  /** Whether access to a URI is restricted. Updates then go only to listeners that follow exactly this URI. */
  readonly isRestricted: (uri: string) => boolean;
  /** Takes the errors of the bus. */
  readonly report: (error: unknown) => void;
}

/** Tells the listeners of this process what changed, here or in another process on the same bus. */
export class Events {
  private readonly listeners = new Set<Listener>();
  private readonly pending = new Set<ListName>();
  private timer: NodeJS.Timeout | undefined;
  private subscription: ReturnType<ChangeBus['subscribe']> | undefined;

  constructor(private readonly options: EventsOptions) {}

  join(listener: Listener): void {
    this.listeners.add(listener);
    // not before somebody listens: until then there is nobody to tell
    if (this.subscription === undefined) void this.subscribe();
  }

  leave(listener: Listener): void {
    this.listeners.delete(listener);
  }

  /** Tells everybody on the bus. */
  publish(change: Change): void {
    void this.attempt(() => this.options.bus.publish(change));
  }

  /** Ends the subscription to the bus. */
  close(): void {
    const { subscription } = this;
    if (subscription !== undefined) void this.attempt(async () => (await subscription)());
  }

  private async subscribe(): Promise<void> {
    try {
      this.subscription = this.options.bus.subscribe((change) => this.deliver(change));
      await this.subscription;
    } catch (error) {
      // whoever joins next tries again
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
        this.resourceUpdated(change.uri);
        break;
      case 'elicitation':
        for (const listener of this.listeners) listener.completed?.(change.id);
        break;
    }
  }

  private resourceUpdated(uri: string): void {
    const exactly = this.options.isRestricted(uri);
    for (const listener of this.listeners) {
      if (listener.wantsResource(uri, exactly)) listener.tell('notifications/resources/updated', { uri });
    }
  }

  private flush(): void {
    this.timer = undefined;
    const lists = [...this.pending];
    this.pending.clear();
    for (const listener of this.listeners) {
      for (const list of lists) if (listener.wantsList(list)) listener.tell(`notifications/${list}/list_changed`, {});
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
