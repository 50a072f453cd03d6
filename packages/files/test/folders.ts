import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { afterEach } from '@jest/globals';
import type { KeyValueStore } from '@decorum/core';
import { fileKeyValueStore, type FileKeyValueStoreOptions } from '@decorum/files';

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));

const cleanups: (() => unknown)[] = [];

/** Runs something after the test, the latest first. */
export const afterwards = (cleanup: () => unknown): void => void cleanups.push(cleanup);

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Creates a folder that is removed after the test. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-files-'));
  afterwards(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a store that is closed after the test. */
export async function openStore(folder = createFolder(), options?: FileKeyValueStoreOptions): Promise<KeyValueStore> {
  const store = fileKeyValueStore(folder, options);
  await store.open?.();
  afterwards(async () => await store.close?.());
  return store;
}

/** Opens the folder and prints `open`. */
const OPEN = `
  import { fileKeyValueStore } from '@decorum/files';
  const HOUR = 3_600_000;
  const print = (line) => process.stdout.write(line + '\\n');
  const store = fileKeyValueStore(process.argv[1]);
  await store.open();
  print('open');
`;

/** A process over a folder. */
export interface Child {
  readonly child: ChildProcess;
  /** The next line that it prints; undefined once it has ended. */
  line(): Promise<string | undefined>;
  /** Kills it with SIGKILL. Resolves with the lines that were left. */
  kill(): Promise<string[]>;
}

/** Runs a script over a folder, which it has open as `store`, in a process of its own. It runs the built package. */
export async function openChild(script: string, folder: string): Promise<Child> {
  const args = ['--input-type=module', '--eval', OPEN + script, folder];
  const child = spawn(process.execPath, args, { cwd: PACKAGE, stdio: ['ignore', 'pipe', 'inherit'] });
  afterwards(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const line = async () => (await lines.next()).value as string | undefined;
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
    const rest: string[] = [];
    for (let next = await line(); next !== undefined; next = await line()) rest.push(next);
    return rest;
  };
  if ((await line()) !== 'open') throw new Error('The store was not opened.');
  return { child, line, kill };
}
