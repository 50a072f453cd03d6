import { setImmediate } from 'node:timers';

import type { Item } from './messages.js';

/** Cap on the messages that wait for the other process to read. */
const MAX_ITEMS = 10_000;

/** Cap on the size of these messages, in characters. */
const MAX_CHARS = 64 * 1024 * 1024;

/** Writes a batch to a channel. `done` runs once the channel has taken it. */
export type Write = (items: readonly Item[], done: () => void) => void;

/**
 * Sends messages to another process in batches: one for all messages of a turn of the event loop. The next batch waits
 * until the channel has taken the last one, because the channel itself queues without a cap.
 */
export class Outbox {
  /** Runs once, when nothing waits any more. */
  onRoom: (() => void) | undefined;
  private waiting: Item[] = [];
  private chars = 0;
  private isBusy = false;

  constructor(private readonly write: Write) {}

  /** Sends a message. Returns false, and sends nothing, if the other process has not read too many others. */
  add(item: Item): boolean {
    const chars = charsOf(item);
    // a message that is larger than the cap passes alone
    if (this.waiting.length >= MAX_ITEMS || (this.chars > 0 && this.chars + chars > MAX_CHARS)) return false;
    this.waiting.push(item);
    this.chars += chars;
    if (!this.isBusy) {
      this.isBusy = true;
      setImmediate(() => this.flush());
    }
    return true;
  }

  private flush(): void {
    const { waiting } = this;
    if (waiting.length === 0) {
      this.isBusy = false;
      const { onRoom } = this;
      this.onRoom = undefined;
      return onRoom?.();
    }
    this.waiting = [];
    this.chars = 0;
    this.write(waiting, () => this.flush());
  }
}

/** The approximate size of a value. An exact one would cost as much as writing it. */
function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let chars = 8;
  for (const member of Object.values(value)) chars += charsOf(member);
  return chars;
}
