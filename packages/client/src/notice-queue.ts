import { keepAlive } from './keep-alive.js';
import type { Notification } from './request.js';

/** Cap on changes that nobody has read yet. Reading a list once covers all of its changes, so equal ones count once. */
const MAX_UNREAD = 10_000;

/** Changes that wait for their reader. */
export class NoticeQueue {
  private readonly unread = new Map<string, Notification>();
  private isOver = false;
  private reason: Error | undefined;
  private wake = () => {};

  add(notification: Notification): void {
    const { method, params } = notification;
    const key = `${method} ${String(params['uri'] ?? '')}`;
    if (this.isOver || (this.unread.size >= MAX_UNREAD && !this.unread.has(key))) return;
    this.unread.set(key, notification);
    this.wake();
  }

  /** @param reason rejects the reader; undefined just ends its loop */
  end(reason: Error | undefined): void {
    this.isOver = true;
    this.reason ??= reason;
    this.wake();
  }

  async *read(): AsyncGenerator<Notification, void, void> {
    for (;;) {
      for (const [key, notification] of this.unread) {
        this.unread.delete(key);
        yield notification;
      }
      if (this.unread.size > 0) continue;
      if (this.isOver && this.reason !== undefined) throw this.reason;
      if (this.isOver) return;
      const release = keepAlive();
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      }).finally(release);
    }
  }
}
