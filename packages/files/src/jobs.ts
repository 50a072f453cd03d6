import type { FileHandle } from 'node:fs/promises';

import { readBytes, type SharedFolder, writeBytes } from './shared-folder.js';
import { countBytes } from './value-file.js';
import { syncFolder } from './writes.js';

/** Jobs that run before other processes get the folder. */
const MAX_BATCH = 64;

/** How much of the folder is in use. Jobs keep it up to date. */
export interface Use {
  bytes: number;
}

/** Reads a file, and perhaps changes it. Returns whether it has changed the folder. */
type Step = (use: Use) => Promise<boolean>;

interface Job {
  readonly file: string;
  readonly step: Step;
  readonly resolve: (isChanged: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs steps while no other process changes the folder: many at a time, those of one file one after another. What they
 * have changed is on the disk when they resolve.
 */
export class Jobs {
  private waiting: Job[] = [];
  private working: Promise<void> = Promise.resolve();
  private isWorking = false;
  private mustCount = false;

  constructor(
    private readonly path: string,
    private readonly folder: SharedFolder,
  ) {}

  /** Runs a step, and resolves with what it returns. */
  run(file: string, step: Step): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ file, step, resolve, reject });
      if (!this.isWorking) this.working = this.work();
    });
  }

  /** Counts the bytes anew: a process that is killed doesn't write down what it has changed. */
  async count(): Promise<void> {
    this.mustCount = true;
    await this.run('', async () => false);
  }

  /** Completes the steps that have begun. */
  async close(): Promise<void> {
    while (this.isWorking) await this.working;
    await this.folder.close();
  }

  private async work(): Promise<void> {
    this.isWorking = true;
    // those that are called in this turn run together
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, MAX_BATCH);
      try {
        await this.folder.exclusively(async (file) => await this.runAll(batch, file));
      } catch (error) {
        for (const job of batch) job.reject(error);
      }
      if (this.waiting.length > 0) await this.folder.pause();
    }
    this.isWorking = false;
  }

  private async runAll(batch: readonly Job[], file: FileHandle): Promise<void> {
    const known = this.mustCount ? undefined : await readBytes(file);
    const use: Use = { bytes: known ?? (await countBytes(this.path)) };
    this.mustCount = false;
    const changed: Job[] = [];
    const files = new Set(batch.map((job) => job.file));
    const inTurn = async (name: string) => {
      for (const job of batch) if (job.file === name && (await runJob(job, use))) changed.push(job);
    };
    await Promise.all([...files].map(inTurn));
    if (changed.length > 0) await syncFolder(this.path);
    if (use.bytes !== known) await writeBytes(file, Math.max(0, use.bytes));
    for (const job of changed) job.resolve(true);
  }
}

/** Whether a job has changed the folder. It is answered later then, and otherwise at once. */
async function runJob({ step, resolve, reject }: Job, use: Use): Promise<boolean> {
  try {
    if (await step(use)) return true;
    resolve(false);
  } catch (error) {
    reject(error);
  }
  return false;
}
