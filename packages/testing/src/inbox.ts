import type { JsonObject } from '@decorum/core';

/** A notification that the server sent. */
export interface Notification {
  readonly method: string;
  readonly params: JsonObject;
}

interface Waiter {
  readonly resolve: (notification: Notification) => void;
  readonly reject: (error: Error) => void;
}

/** Keeps what the server tells, and hands it out one by one to those who wait for it. */
export class Inbox {
  /** Everything that came, in order. */
  readonly all: Notification[] = [];
  private readonly unread = new Map<string, Notification[]>();
  private readonly waiters = new Map<string, Waiter[]>();
  private ended: Error | undefined;

  add(notification: Notification): void {
    this.all.push(notification);
    const waiter = this.waiters.get(notification.method)?.shift();
    if (waiter) waiter.resolve(notification);
    else queueOf(this.unread, notification.method).push(notification);
  }

  /** The oldest notification of a method that has not been handed out, or the next one to come. */
  next(method: string): Promise<Notification> {
    const unread = this.unread.get(method)?.shift();
    if (unread) return Promise.resolve(unread);
    if (this.ended) return Promise.reject(this.ended);
    return new Promise((resolve, reject) => queueOf(this.waiters, method).push({ resolve, reject }));
  }

  /** Nothing more will come. */
  end(error: Error): void {
    this.ended ??= error;
    for (const waiter of [...this.waiters.values()].flat()) waiter.reject(error);
    this.waiters.clear();
  }
}

function queueOf<T>(queues: Map<string, T[]>, method: string): T[] {
  const queue = queues.get(method) ?? [];
  queues.set(method, queue);
  return queue;
}
