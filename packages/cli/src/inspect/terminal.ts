import { createInterface, type Interface } from 'node:readline';

import { plainLine } from 'create-decorum';

/** Asks a user. Questions are on stderr, because stdout is for the result alone. */
export class Terminal {
  private readline: Interface | undefined;
  private lines: AsyncIterator<string> | undefined;
  /** A line that nobody has read yet, because its question was withdrawn. */
  private next: Promise<string | undefined> | undefined;

  /** Whether somebody can answer. */
  get isInteractive(): boolean {
    return process.stdin.isTTY && process.stderr.isTTY;
  }

  /**
   * Asks for a line.
   * @param signal withdraws the question
   * @returns undefined for Ctrl+D
   */
  async ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    const lines = (this.lines ??= this.open());
    process.stderr.write(`${plainLine(question)} `);
    this.next ??= lines.next().then(({ done, value }) => (done === true ? undefined : value));
    const line = await Promise.race([this.next, aborted(signal)]);
    this.next = undefined;
    return line;
  }

  /** Asks a question that anything but yes denies. */
  async confirm(question: string, signal: AbortSignal): Promise<boolean> {
    return /^y(?:es)?$/i.test(((await this.ask(`${question} [y/N]`, signal)) ?? '').trim());
  }

  /** Lets the process end. */
  close(): void {
    this.readline?.close();
  }

  private open(): AsyncIterator<string> {
    this.readline = createInterface({ input: process.stdin, output: process.stderr, historySize: 0 });
    // the terminal doesn't send the signal by itself while it is read
    this.readline.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    return this.readline[Symbol.asyncIterator]();
  }
}

async function aborted(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted();
  return await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
