import type { Frame } from '../protocol/frame.js';
import { isDroppable, PendingChanges } from './slow-reader.js';

/** Options of `Outbox`. */
export interface OutboxOptions {
  /** Writes text, and calls `done` once the operating system has accepted it. */
  readonly write: (text: string, done: (error?: Error | null) => void) => void;
  /** Characters that may be pending before the reader counts as slow. */
  readonly limit: number;
  /** Called when the reader becomes slow, and when it has caught up. */
  readonly onPressure: (slow: boolean) => void;
}

/**
 * Writes frames, one per line. Frames of one turn of the event loop share a write, and only one write is in flight at a
 * time. While a write is in flight, repeated changes are coalesced. Above the limit, progress and log messages are
 * dropped.
 */
export class Outbox {
  private text = '';
  /** Characters in flight. */
  private writing = 0;
  private slow = false;
  private closed = false;
  private changes: PendingChanges | undefined;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly options: OutboxOptions) {}

  /** Sends a frame, unless the reader is slow and can do without it. */
  send(frame: Frame): void {
    if ((this.slow || this.writing > 0) && this.skips(frame)) return;
    this.write(frame.text);
  }

  /** Sends text that must not be dropped. */
  write(text: string): void {
    if (this.closed) return;
    const isIdle = this.text === '' && this.writing === 0;
    this.text += `${text}\n`;
    if (!this.slow && this.text.length + this.writing > this.options.limit) this.press(true);
    if (isIdle) setImmediate(this.flush);
  }

  /** Resolves when everything is written, or the outbox is closed. */
  async flushed(): Promise<void> {
    if (this.closed || (this.text === '' && this.writing === 0)) return;
    await new Promise<void>((resolve) => {
      this.waiting.push(resolve);
    });
  }

  /** Drops everything: the reader is gone. */
  close(): void {
    this.closed = true;
    this.text = '';
    this.release();
  }

  private skips(frame: Frame): boolean {
    if (frame.kind !== 'change') return this.slow && isDroppable(frame);
    this.changes ??= new PendingChanges(this.options.limit);
    if (this.changes.admit(frame)) return false;
    if (!this.slow && !this.changes.has(frame)) this.press(true);
    return true;
  }

  private readonly flush = (): void => {
    if (this.text === '') return;
    const { text } = this;
    this.text = '';
    this.changes = undefined;
    this.writing = text.length;
    this.options.write(text, this.written);
  };

  private readonly written = (error?: Error | null): void => {
    this.writing = 0;
    if (error) return this.close();
    if (this.slow && this.text.length <= this.options.limit) this.press(false);
    if (this.text !== '') this.flush();
    else if (this.waiting.length > 0) this.release();
  };

  private press(slow: boolean): void {
    this.slow = slow;
    this.options.onPressure(slow);
  }

  private release(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}
