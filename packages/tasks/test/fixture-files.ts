import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach } from '@jest/globals';

import { FileTasks, type FileTasksOptions } from '../src/store/file-tasks.js';
import { ManualClock } from './manual-clock.js';

const cleanups: (() => unknown)[] = [];

/** Runs something after the test, the latest first. */
export const afterwards = (cleanup: () => unknown): void => void cleanups.push(cleanup);

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Creates a folder that is removed after the test. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-tasks-'));
  afterwards(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a store that is closed after the test, and collects what it reports. */
export async function openFileTasks(
  folder: string,
  { clock = new ManualClock(), ...options }: FileTasksOptions & { readonly clock?: ManualClock } = {},
): Promise<{ readonly store: FileTasks; readonly reports: unknown[] }> {
  const store = new FileTasks(folder, options, clock);
  const reports: unknown[] = [];
  await store.open({ name: 'test', report: (_error, message) => void reports.push(message) });
  afterwards(async () => await store.close());
  return { store, reports };
}
