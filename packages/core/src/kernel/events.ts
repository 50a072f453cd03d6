import { andThen, attempt, isObject, type JsonObject } from '@decorum/schema/internal';

import type { Condition } from '../registry/listing.js';
import type { HiddenChanges, ListName } from '../registry/registry.js';
import { meetsAll, type Reader } from './admission.js';
import type { Change, ChangeBus } from './change-bus.js';
import { SourceLinks } from './source-links.js';

/** The lists whose changes clients are notified of. */
export const LISTS: readonly ListName[] = ['tools', 'prompts', 'resources'];

/** Changes within this window are announced together. */
const DEBOUNCE_MS = 10;

/** A session or listen request that receives notifications. */
export interface Listener {
  /** The client that gets the notifications. */
  readonly reader: Reader;
  wantsList(list: ListName): boolean;
  wantsResource(uri: string): boolean;
  /** The URIs of all resources that it wants to hear of. */
  readonly followed: Iterable<string>;
  notify(method: string, params: JsonObject): void;
  /** Called with what an extension has published. */
  extended?(id: string, published: JsonObject): void;
  /** Called when the user has completed the elicitation with this id. */
  completed?(elicitationId: string): void;
}

/** Options of `Events`. */
export interface EventsOptions {
  readonly bus: ChangeBus;
  /** The conditions for seeing the resource with a URI. */
  readonly conditionsOf: (uri: string) => readonly Condition[];
  /** Everything that the server has offered so far. */
  readonly offered: () => ReadonlySet<string>;
  /** Receives errors from the bus, and of access functions. */
  readonly report: (error: unknown) => void;
}

/** Notifies this process's listeners of changes from this process, or from another process on the bus. */
export class Events {
  private readonly listeners = new Set<Listener>();
  private readonly pending = new Set<ListName>();
  private readonly hidden = new Map<ListName, (readonly Condition[])[]>();
  private timer: NodeJS.Timeout | undefined;
  private subscription: ReturnType<ChangeBus['subscribe']> | undefined;

  /** What sources of members do besides adding members. */
  readonly sources: SourceLinks;

  constructor(private readonly options: EventsOptions) {
    this.sources = new SourceLinks(() => this.followed(), options.report);
  }

  join(listener: Listener): void {
    this.listeners.add(listener);
    // a session of another process may follow resources already
    void this.sources.follow(listener.followed);
    // subscribe to the bus with the first listener: before that, there is nobody to notify
    if (this.subscription === undefined) void this.subscribe();
  }

  leave(listener: Listener): void {
    this.listeners.delete(listener);
    this.sources.review();
  }

  /** Publishes a change on the bus. */
  publish(change: Change): void {
    attempt(() => this.options.bus.publish(change), this.options.report);
  }

  /**
   * Notifies this process's clients of lists in which only members have changed that some callers don't see. Each
   * client is notified only if it sees one of them. Not published on the bus: the lists of other processes are the same.
   */
  publishHidden(changes: HiddenChanges): void {
    if (changes.size === 0 || this.listeners.size === 0) return;
    for (const [list, members] of changes) this.hidden.set(list, [...(this.hidden.get(list) ?? []), ...members]);
    this.flushSoon();
  }

  /** Tells a session of lists in which only members have changed that it may not see. */
  announceHidden(listener: Listener, changes: HiddenChanges, announce: (list: ListName) => void): void {
    for (const [list, members] of changes) this.notifyIfSeen(listener, members, () => announce(list));
  }

  /** Tells a listener to read all lists again. */
  announceLists(listener: Listener): void {
    const offered = this.options.offered();
    for (const list of LISTS)
      if (offered.has(list) && listener.wantsList(list)) listener.notify(`notifications/${list}/list_changed`, {});
  }

  /** Tells a listener that everything may have changed, because it may have missed changes. */
  catchUp(listener: Listener): void {
    this.announceLists(listener);
    for (const uri of listener.followed) this.update(listener, uri, this.options.conditionsOf(uri));
  }

  /** Unsubscribes from the bus. */
  close(): void {
    const { subscription } = this;
    if (subscription !== undefined) attempt(async () => (await subscription)(), this.options.report);
  }

  private *followed(): Generator<string, void, void> {
    for (const { followed } of this.listeners) yield* followed;
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
    if (change.kind === 'resource') return this.resourceUpdated(change.uri, change.within);
    if (change.kind === 'missed') {
      for (const listener of this.listeners) this.catchUp(listener);
      return;
    }
    if (change.kind === 'elicitation') {
      for (const listener of this.listeners) listener.completed?.(change.id);
      return;
    }
    if (change.kind === 'extension') {
      if (!isObject(change.data)) return;
      for (const listener of this.listeners) listener.extended?.(change.id, change.data);
      return;
    }
    // processes of a later version may publish more
    if (change.kind !== 'lists') return;
    for (const list of change.lists) this.pending.add(list);
    this.flushSoon();
  }

  private resourceUpdated(uri: string, within: string | undefined): void {
    const conditions = this.options.conditionsOf(uri);
    for (const listener of this.listeners) {
      const isWanted = listener.wantsResource(uri) || (within !== undefined && listener.wantsResource(within));
      if (isWanted) this.update(listener, uri, conditions);
    }
  }

  private update(listener: Listener, uri: string, conditions: readonly Condition[]): void {
    const notify = () => listener.notify('notifications/resources/updated', { uri });
    if (conditions.length === 0) notify();
    else this.notifyIfSeen(listener, [conditions], notify);
  }

  /** Notifies a listener if it meets all conditions of one of the members. */
  private notifyIfSeen(
    listener: Listener,
    [first, ...rest]: readonly (readonly Condition[])[],
    notify: () => void,
  ): void {
    if (first === undefined) return;
    void andThen(meetsAll(first, listener.reader, this.options.report), (sees) => {
      if (!sees) this.notifyIfSeen(listener, rest, notify);
      // it may have left in the meantime
      else if (this.listeners.has(listener)) notify();
    });
  }

  private flushSoon(): void {
    this.timer ??= setTimeout(() => this.flush(), DEBOUNCE_MS).unref();
  }

  private flush(): void {
    this.timer = undefined;
    const lists = new Set(this.pending);
    const hidden = LISTS.filter((list) => !lists.has(list)).map((list) => [list, this.hidden.get(list) ?? []] as const);
    this.pending.clear();
    this.hidden.clear();
    for (const listener of this.listeners) {
      const notify = (list: ListName) => listener.notify(`notifications/${list}/list_changed`, {});
      for (const list of LISTS) if (lists.has(list) && listener.wantsList(list)) notify(list);
      for (const [list, members] of hidden) {
        if (listener.wantsList(list)) this.notifyIfSeen(listener, members, () => notify(list));
      }
    }
  }
}
