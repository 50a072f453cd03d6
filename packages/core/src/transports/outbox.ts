import type { Frame } from '../protocol/frame.js';
import { isPassing, WaitingChanges } from './slow-reader.js';

/** Where an `Outbox` writes, and whom it tells when its reader does not keep up. */
export interface OutboxOptions {
  /** Writes text, and calls back when the operating system has it. */
  readonly write: (text: string, done: (error?: Error | null) => void) => void;
  /** Characters that may wait before the reader counts as slow. */
  readonly limit: number;
  /** The reader has become slow, or has caught up. */
  readonly onPressure: (slow: boolean) => void;
}

/**
 * Writes frames, a line each: once per turn of the event loop, and never a second time before the first is through.
 * As long as it is not, the same change is announced once; beyond the limit, progress and log messages are dropped.
 */
export class Outbox {
  private text = '';
  /** Characters that are being written. */
  private writing = 0;
  private slow = false;
  private closed = false;
  private changes: WaitingChanges | undefined;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly options: OutboxOptions) {}

  /** Sends a frame, unless the reader is slow and can do without it. */
  send(frame: Frame): void {
    if ((this.slow || this.writing > 0) && this.skips(frame)) return;
    this.write(frame.text);
  }

  /** Sends what no reader can do without. */
  write(text: string): void {
    if (this.closed) return;
    const isIdle = this.text === '' && this.writing === 0;
    this.text += `${text}\n`;
    if (!this.slow && this.text.length + this.writing > this.options.limit) this.press(true);
    if (isIdle) setImmediate(this.flush);
  }

  /** Resolves when everything is written, or nothing can be written any more. */
  async flushed(): Promise<void> {
    if (this.closed || (this.text === '' && this.writing === 0)) return;
    await new Promise<void>((resolve) => {
      this.waiting.push(resolve);
    });
  }

  /** Nobody reads any more: drops everything. */
  close(): void {
    this.closed = true;
    this.text = '';
    this.release();
  }

  private skips(frame: Frame): boolean {
    if (frame.kind !== 'change') return this.slow && isPassing(frame);
    this.changes ??= new WaitingChanges(this.options.limit);
    return !this.changes.admit(frame);
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
