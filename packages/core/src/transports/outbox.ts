import { notificationFrame } from '../protocol/jsonrpc.js';

/** Where an `Outbox` writes, and whom it tells when its reader does not keep up. */
export interface OutboxOptions {
  /** Writes text, and calls back when the operating system has it. */
  readonly write: (text: string, done: (error?: Error | null) => void) => void;
  /** Characters that may wait before the reader counts as slow. */
  readonly limit: number;
  /** The reader has become slow, or has caught up. */
  readonly onPressure: (slow: boolean) => void;
}

/** What a client can do without. The frames begin with their method: see `notificationFrame`. */
const DISPENSABLE = ['notifications/progress', 'notifications/message'].map((method) =>
  notificationFrame(method).slice(0, -1),
);

/**
 * Writes frames, a line each: once per turn of the event loop, and never a second time before the first is through.
 * While the reader is slow, progress and log messages are dropped, and the same change is announced once.
 */
export class Outbox {
  private text = '';
  /** Characters that are being written. */
  private writing = 0;
  private scheduled = false;
  private slow = false;
  private closed = false;
  private readonly announced = new Set<string>();
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly options: OutboxOptions) {}

  /** Sends a frame that belongs to a request. */
  send(frame: string): void {
    if (this.slow && DISPENSABLE.some((start) => frame.startsWith(start))) return;
    this.add(frame);
  }

  /** Sends a frame that announces a change. */
  announce(frame: string): void {
    if (this.slow) {
      if (this.announced.has(frame)) return;
      this.announced.add(frame);
    }
    this.add(frame);
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

  private add(frame: string): void {
    if (this.closed) return;
    this.text += `${frame}\n`;
    if (!this.slow && this.text.length + this.writing > this.options.limit) this.press(true);
    if (this.scheduled || this.writing > 0) return;
    this.scheduled = true;
    setImmediate(this.flush);
  }

  private readonly flush = (): void => {
    this.scheduled = false;
    if (this.text === '') return;
    const { text } = this;
    this.text = '';
    this.announced.clear();
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
