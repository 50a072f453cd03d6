/**
 * Runs a program in its own process until it serves, and reports the contract of its server. The server never opens, so
 * no `onStart` hook runs and nothing listens.
 */
import type { McpServer } from '@decorum/core';

import { exportedServer, loadEntry, shown, watchServers } from '../entry.js';
import { installLoader } from '../loader/install.js';
import { packageFor } from '../start/serve.js';
import type { Reply } from './messages.js';

/** Time limit for a program that was loaded, and creates no server. */
const PATIENCE_MS = 5000;

/** Time limit for a program that is still loading, or may still add members: frameworks take long to start. */
const SERVES_MS = 20_000;

const [file = ''] = process.argv.slice(2);
const tell = process.send?.bind(process);
// hide the IPC channel from the program
Object.defineProperty(process, 'send', { value: undefined });

const { created } = watchServers(async () => {
  await finish([...created][0]);
  await new Promise(() => {});
});

function end(reply: Reply): void {
  tell?.(reply, undefined, {}, () => process.exit(0));
}

let isFinished = false;
async function finish(server: object | undefined): Promise<void> {
  if (isFinished) return;
  isFinished = true;
  if (server === undefined) return end({ type: 'nothing' });
  const core = await packageFor<typeof import('@decorum/core/internal')>(file, '@decorum/core/internal');
  const described = server as Parameters<typeof core.contractOf>[0];
  end({ type: 'contract', contract: core.contractOf(described), info: (server as McpServer).info });
}

function fail(error: unknown): void {
  if (isFinished) return;
  const thrown = (error instanceof Error ? error : new Error(String(error))) as NodeJS.ErrnoException;
  const { name, message, stack, code } = thrown;
  end({ type: 'failed', error: { name, message, stack, code }, sources: [...installLoader().files()] });
}

process.on('uncaughtException', fail);
process.on('beforeExit', () => void finish([...created][0]).catch(fail));
setTimeout(() => {
  if (isFinished) return;
  if (created.size === 0) return void finish(undefined);
  process.stderr.write(
    `${shown(file)} doesn't serve after ${SERVES_MS / 1000} s: members that it adds later are missing.\n`,
  );
  void finish([...created][0]).catch(fail);
}, SERVES_MS).unref();
try {
  const exports = await loadEntry(file);
  setTimeout(() => void (created.size === 0 && finish(undefined)), PATIENCE_MS).unref();
  const server = await exportedServer(exports);
  if (server !== undefined) await finish(server);
} catch (error) {
  fail(error);
}
