import { Folder } from './folder.js';
import type { RecorderSettings } from './options.js';
import { type EndedCall, type Origin, recordingOf } from './recording.js';

/** Calls that wait to be written. More are dropped: a burst of failures must not fill the memory. */
const MAX_WAITING = 100;

/** Writes recordings one after the other, apart from the calls. */
export class Writer {
  private readonly folder: Folder;
  private readonly waiting: { readonly call: EndedCall; readonly origin: Origin }[] = [];
  private writing: Promise<void> | undefined;
  private report: (error: unknown) => void = () => {};
  private dropped = 0;
  /** Whether the last recording could not be written. It is told once. */
  private isFailing = false;

  constructor(private readonly settings: RecorderSettings) {
    this.folder = new Folder(settings.folder, settings);
  }

  /** @param report gets what goes wrong */
  open(report: (error: unknown) => void): void {
    this.report = report;
  }

  /** Takes a call to write it later. Never throws. */
  add(call: EndedCall, origin: Origin): void {
    if (this.waiting.length >= MAX_WAITING) return void (this.dropped += 1);
    this.waiting.push({ call, origin });
    this.writing ??= this.write().finally(() => (this.writing = undefined));
  }

  /** Resolves when nothing waits any more. */
  async flush(): Promise<void> {
    await this.writing;
  }

  private async write(): Promise<void> {
    // after the response of the first one
    await new Promise(setImmediate);
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) await this.writeOne(next);
    if (this.dropped > 0) this.report(new Error(`${this.dropped} calls were not recorded: too many ended at a time.`));
    this.dropped = 0;
  }

  private async writeOne({ call, origin }: { readonly call: EndedCall; readonly origin: Origin }): Promise<void> {
    try {
      await this.folder.write(recordingOf(call, origin, this.settings), call.at, call.request.target ?? call.kind);
      this.isFailing = false;
    } catch (cause) {
      const problem = `A call could not be recorded in ${this.settings.folder}. Told again after the next success.`;
      if (!this.isFailing) this.report(new Error(problem, { cause }));
      this.isFailing = true;
    }
  }
}
