import { Chain, type ChainEnd } from './chain.js';
import type { AuditKey } from './keys.js';
import { remarkOf } from './line.js';
import type { Sink } from './sink.js';

/** Characters that may wait to be written. What comes then has no line. */
const MAX_WAITING_CHARS = 8 * 2 ** 20;

/** Characters that are written without waiting for more. */
const WRITE_CHARS = 2 ** 16;

/** Milliseconds after which a sink that has failed is tried again. */
const RETRY_MS = 1000;

/** Milliseconds after which a sink that has not written counts as failing. */
const HANG_MS = 10_000;

/** Milliseconds that closing waits for lines to be written. */
const CLOSE_MS = 5000;

/** What to do when the process exits. One listener for all: Node.js warns of many. */
const OPEN = new Set<() => void>();
const atExit = () => {
  for (const flush of OPEN) flush();
};

/** Signs lines and writes them in their order, whatever the sink does. */
export class AuditLog {
  private readonly waiting: string[] = [];
  private waitingChars = 0;
  /** Calls without a line, because too many waited. */
  private lost = 0;
  private chain: Chain | undefined;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private writingSince = 0;
  private isFailing = false;

  /** @param report tells that the sink fails */
  constructor(
    private readonly sink: Sink,
    private readonly report: (error: Error) => void,
  ) {}

  /** Whether lines can't be written for now. Tells of a sink that hangs. */
  isStuck(): boolean {
    if (this.writing !== undefined && performance.now() - this.writingSince > HANG_MS)
      this.fail(new Error(`It has not written a line for ${HANG_MS / 1000} seconds.`));
    return this.isFailing || this.isFull;
  }

  async open(key: AuditKey): Promise<void> {
    const end = await this.sink.open();
    this.chain = new Chain(key, end);
    if (end.rest.length > 0) this.add(remarkOf('torn', brokenOff(end)));
    if (OPEN.size === 0) process.on('exit', atExit);
    OPEN.add(this.flushAtExit);
  }

  /** Adds a line, which has no MAC yet. */
  add(fields: string): void {
    if (this.isStuck() && this.isFull) return this.lose();
    if (this.lost > 0) this.addLost();
    this.push(fields);
    if (this.writing !== undefined || this.isFailing) return;
    const { delayMs } = this.sink;
    if (delayMs === undefined || this.waitingChars > WRITE_CHARS) this.flush();
    else if (this.timer === undefined) this.wait(delayMs);
  }

  /** Writes what waits, as far as possible within five seconds. */
  async close(): Promise<void> {
    const giveUpAt = performance.now() + CLOSE_MS;
    if (OPEN.delete(this.flushAtExit) && OPEN.size === 0) process.off('exit', atExit);
    while (this.waiting.length > 0 || this.lost > 0) {
      if (this.lost > 0) this.addLost();
      if (this.writing === undefined) this.flush();
      if (this.waiting.length === 0) continue;
      const left = giveUpAt - performance.now();
      if (left <= 0) break;
      await settled(this.writing, Math.min(left, this.isFailing ? RETRY_MS : left));
    }
    clearTimeout(this.timer);
    if (this.waiting.length > 0)
      this.report(new Error(`${this.waiting.length} lines of the audit log were not written.`));
    await this.sink.close();
  }

  /** Lines that wait for a timer would be lost with the process. */
  private readonly flushAtExit = () => {
    if (this.writing === undefined) this.flush();
  };

  private get isFull(): boolean {
    return this.waitingChars > MAX_WAITING_CHARS;
  }

  private lose(): void {
    if (this.lost === 0)
      this.report(new Error(`Calls have no line in the audit log, because ${this.waiting.length} lines wait.`));
    this.lost += 1;
  }

  private push(fields: string): void {
    const line = (this.chain as Chain).sign(fields);
    this.waiting.push(line);
    this.waitingChars += line.length;
  }

  private addLost(): void {
    this.push(remarkOf('lost', `${this.lost} calls`));
    this.lost = 0;
  }

  private wait(ms: number): void {
    this.timer = setTimeout(() => this.flush(), ms);
    this.timer.unref();
  }

  /** Writes lines until none waits, or the sink needs time. */
  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    while (this.waiting.length > 0) {
      const lines = this.waiting.slice(0, this.sink.maxLines);
      let written;
      try {
        written = this.sink.write(lines);
      } catch (error) {
        this.retry(error);
        return;
      }
      if (written !== undefined && typeof (written as Partial<Promise<void>>).then === 'function') {
        this.writingSince = performance.now();
        this.writing = this.follow(Promise.resolve(written), lines);
        return;
      }
      this.wrote(lines);
    }
  }

  /** Goes on when lines have been written. */
  private async follow(written: Promise<void>, lines: readonly string[]): Promise<void> {
    try {
      await written;
    } catch (error) {
      this.writing = undefined;
      this.retry(error);
      return;
    }
    this.writing = undefined;
    this.wrote(lines);
    if (this.waiting.length > 0) this.flush();
  }

  private wrote(lines: readonly string[]): void {
    this.waiting.splice(0, lines.length);
    for (const { length } of lines) this.waitingChars -= length;
    this.isFailing = false;
  }

  private retry(error: unknown): void {
    this.fail(error);
    this.wait(RETRY_MS);
  }

  /** Tells of a failure once, until a line is written again. */
  private fail(cause: unknown): void {
    if (this.isFailing) return;
    this.isFailing = true;
    const why = cause instanceof Error ? cause.message : String(cause);
    this.report(new Error(`The audit log can't be written to ${this.sink.name}: ${why}`, { cause }));
  }
}

/** What a remark says of a line that was never finished. */
const brokenOff = ({ rest }: ChainEnd): string => `${rest.length} bytes before this line`;

/** Waits for a promise, but not longer than some milliseconds. */
async function settled(promise: Promise<void> | undefined, ms: number): Promise<void> {
  let timer;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([promise ?? timeout, timeout]);
  clearTimeout(timer);
}
