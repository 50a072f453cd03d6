import { SortedList } from './sorted-list.js';
import type { OpenTask, StoredTask, TaskCounts, TaskPage } from './task-store.js';

/** A task without its text. */
export type IndexedTask = Omit<StoredTask, 'text'>;

/** What the place of a task in a list depends on. */
type Aged = Pick<StoredTask, 'id' | 'createdAt'>;
type Mortal = Pick<StoredTask, 'id' | 'expiresAt'>;

/** Expired tasks are dropped by each call. A timer drops them while nobody calls, but not more often than this. */
const MIN_SWEEP_MS = 1000;
const MAX_TIMER_MS = 2_147_483_647;

const byId = (one: string, other: string) => (one < other ? -1 : Number(one > other));
const byAge = (one: Aged, other: Aged) => one.createdAt - other.createdAt || byId(one.id, other.id);
const expiryOf = ({ expiresAt = Infinity }: Mortal) => expiresAt;
const byExpiry = (one: Mortal, other: Mortal) => expiryOf(one) - expiryOf(other) || byId(one.id, other.id);

/** Tasks in memory, by id, owner and expiry. No call looks at all of them. */
export class TaskIndex<T extends IndexedTask> {
  private readonly tasks = new Map<string, T>();
  private readonly owners = new Map<string, SortedList<Aged>>();
  private readonly open = new Map<string, T>();
  private readonly mortal = new SortedList<Mortal>(byExpiry);
  private timer: NodeJS.Timeout | undefined;
  private wakesAt = Infinity;

  /**
   * @param now milliseconds since 1970
   * @param onExpired called with each task that has expired, once it is dropped
   */
  constructor(
    private readonly now: () => number,
    private readonly onExpired: (id: string) => void = () => {},
  ) {}

  get(id: string): T | undefined {
    this.sweep();
    return this.tasks.get(id);
  }

  /** Adds a task, or replaces the one with its id. */
  put(task: T): void {
    this.drop(task.id);
    this.tasks.set(task.id, task);
    let own = this.owners.get(task.owner);
    if (own === undefined) this.owners.set(task.owner, (own = new SortedList(byAge)));
    own.add(task);
    if (task.isOpen) this.open.set(task.id, task);
    if (task.expiresAt !== undefined) this.mortal.add(task);
    this.sweep();
  }

  delete(id: string): void {
    this.drop(id);
    this.sweep();
  }

  list(owner: string, { after, limit }: TaskPage): readonly T[] {
    this.sweep();
    const page = this.owners.get(owner)?.page(limit, after) ?? [];
    return page.flatMap(({ id }) => this.tasks.get(id) ?? []);
  }

  openTasks(): readonly OpenTask[] {
    this.sweep();
    return Array.from(this.open.values(), ({ id, holder }) => ({ id, holder }));
  }

  count(owner: string): TaskCounts {
    this.sweep();
    return { all: this.tasks.size, own: this.owners.get(owner)?.size ?? 0 };
  }

  /** Stops the timer. */
  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.wakesAt = Infinity;
  }

  private drop(id: string): void {
    const task = this.tasks.get(id);
    if (task === undefined) return;
    this.tasks.delete(id);
    this.open.delete(id);
    this.mortal.remove(task);
    const own = this.owners.get(task.owner);
    own?.remove(task);
    if (own?.size === 0) this.owners.delete(task.owner);
  }

  private sweep(): void {
    const now = this.now();
    let { first } = this.mortal;
    while (first !== undefined && expiryOf(first) <= now) {
      this.drop(first.id);
      this.onExpired(first.id);
      ({ first } = this.mortal);
    }
    this.wakeBy(first === undefined ? Infinity : Math.max(expiryOf(first), now + MIN_SWEEP_MS), now);
  }

  /** Arms the timer, unless it wakes early enough. It doesn't keep the process alive. */
  private wakeBy(time: number, now: number): void {
    if (time >= this.wakesAt) return;
    this.close();
    this.wakesAt = time;
    const wake = () => {
      this.close();
      this.sweep();
    };
    this.timer = setTimeout(wake, Math.min(time - now, MAX_TIMER_MS)).unref();
  }
}
