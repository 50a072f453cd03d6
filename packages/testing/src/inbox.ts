import type { Notification } from '@decorum/client';

export type { Notification } from '@decorum/client';

interface Waiter {
  readonly resolve: (notification: Notification) => void;
  readonly reject: (error: Error) => void;
}

/** Collects the server's notifications, and delivers each one to the first caller that waits for its method. */
export class Inbox {
  /** All notifications, in order. */
  readonly all: Notification[] = [];
  private readonly unread = new Map<string, Notification[]>();
  private readonly waiters = new Map<string, Waiter[]>();
  private ended: Error | undefined;

  /** @param changed called when a caller starts or stops waiting */
  constructor(private readonly changed: () => void) {}

  /** Whether a caller is waiting for a notification. */
  get isAwaited(): boolean {
    return [...this.waiters.values()].some((queue) => queue.length > 0);
  }

  add(notification: Notification): void {
    this.all.push(notification);
    const waiter = this.waiters.get(notification.method)?.shift();
    if (waiter === undefined) return void queueOf(this.unread, notification.method).push(notification);
    waiter.resolve(notification);
    this.changed();
  }

  /** Returns the oldest undelivered notification of a method, or waits for the next one. */
  next(method: string): Promise<Notification> {
    const unread = this.unread.get(method)?.shift();
    if (unread) return Promise.resolve(unread);
    if (this.ended) return Promise.reject(this.ended);
    return new Promise((resolve, reject) => {
      queueOf(this.waiters, method).push({ resolve, reject });
      this.changed();
    });
  }

  /** Rejects all current and future waiters with `error`. */
  end(error: Error): void {
    this.ended ??= error;
    for (const waiter of [...this.waiters.values()].flat()) waiter.reject(error);
    this.waiters.clear();
    this.changed();
  }
}

function queueOf<T>(queues: Map<string, T[]>, method: string): T[] {
  const queue = queues.get(method) ?? [];
  queues.set(method, queue);
  return queue;
}
