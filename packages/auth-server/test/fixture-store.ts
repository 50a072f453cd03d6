import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach } from '@jest/globals';

import type { Clock } from '../src/platform.js';
import { FileStore } from '../src/store/file-store.js';

const cleanups: (() => unknown)[] = [];

/** Runs something after the test, the latest first. */
export const afterwards = (cleanup: () => unknown): void => void cleanups.push(cleanup);

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A clock that only moves when a test moves it, or when someone waits. */
export class ManualClock implements Clock {
  /** Called before each wait, with the milliseconds. */
  onWait: (ms: number) => void | Promise<void> = () => undefined;
  private time = Date.UTC(2026, 0, 1);

  now(): number {
    return this.time;
  }

  async wait(ms: number): Promise<void> {
    await this.onWait(ms);
    this.time += ms;
  }

  pass(ms: number): void {
    this.time += ms;
  }
}

/** Creates a folder that is removed after the test. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-store-'));
  afterwards(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a store that is closed after the test. */
export async function openFileStore(
  folder: string,
  clock: Clock = new ManualClock(),
  options = {},
): Promise<FileStore> {
  const store = new FileStore(folder, options, clock);
  await store.open();
  afterwards(() => store.close());
  return store;
}
