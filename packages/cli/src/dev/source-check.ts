import { Worker } from 'node:worker_threads';

import type { Warning } from '../check/warnings.js';
import type { Report } from './report.js';
import type { Check } from './supervisor.js';

/** Prints warnings about the source after each edit. The program doesn't wait for the check. */
export class SourceCheck implements Check {
  private running: Worker | undefined;
  /** The warnings of the last check. They aren't printed again after every edit. */
  private known: ReadonlySet<string> = new Set();

  constructor(
    private readonly entry: string,
    private readonly report: Report,
  ) {}

  run(): void {
    this.stop();
    const worker = new Worker(new URL('../check/thread.js', import.meta.url), { workerData: this.entry });
    this.running = worker;
    worker.once('message', (warnings: readonly Warning[]) => {
      if (this.running === worker) this.print(warnings);
    });
    // the machine may lack the memory for a thread
    worker.once('error', () => {});
  }

  stop(): void {
    void this.running?.terminate();
    this.running = undefined;
  }

  private print(warnings: readonly Warning[]): void {
    for (const { text, line } of warnings) if (!this.known.has(text)) this.report.note(line);
    this.known = new Set(warnings.map(({ text }) => text));
  }
}
