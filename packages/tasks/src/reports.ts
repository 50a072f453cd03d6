import type { JsonObject } from '@decorum/core';

import { shortened } from './limits.js';

/** Milliseconds between two status messages: each is stored and announced. */
const MESSAGE_MS = 200;

/** What a handler says of its progress, until it is stored and told. */
export class Reports {
  private message: string | undefined;
  /** Progress that the client has not been told of. */
  private progress: JsonObject | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  /** @param send called soon after something was said, but not too often. `progress` is the latest, if there is any */
  constructor(private readonly send: (progress: JsonObject | undefined) => void) {}

  /** Says how far the handler is. */
  say(message: string, progress?: JsonObject): void {
    this.message = shortened(message);
    const { message: said } = progress ?? {};
    this.progress = typeof said === 'string' ? { ...progress, message: shortened(said) } : (progress ?? this.progress);
    if (this.isStopped) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const latest = this.progress;
      this.progress = undefined;
      this.send(latest);
    }, MESSAGE_MS).unref();
  }

  /** The status message that is not stored yet, if there is one. */
  take(): string | undefined {
    const { message } = this;
    this.message = undefined;
    return message;
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }
}
