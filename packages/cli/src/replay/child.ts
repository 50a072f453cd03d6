/**
 * Runs a program in its own process, and makes recorded calls to its server, in memory. The server's own transports never
 * open, so nothing listens.
 */
import { readFileSync } from 'node:fs';

import { readRecording, replay } from '@decorum/client/internal';
import type { McpServer } from '@decorum/core';
import { HOST, type HostPort } from '@decorum/core/transport';

import { exportedServer, loadEntry, watchServers } from '../entry.js';
import { installLoader } from '../loader/install.js';
import type { Reply } from './messages.js';

/** Time limit for a program that creates a server, and waits for something else before it serves. */
const PATIENCE_MS = 5000;

/** Time for the server's `onClose` hooks. */
const CLOSING_MS = 2000;

const [file = '', timeoutMs = '', ...recordings] = process.argv.slice(2);
const tell = process.send?.bind(process);
// hide the IPC channel from the program
Object.defineProperty(process, 'send', { value: undefined });

/** Whether a transport opens that is not the program's. */
let isOurs = false;
const { created, opened } = watchServers(async () => {
  if (isOurs) return;
  await finish([...opened][0]);
  await new Promise(() => {});
});

function end(reply: Reply): void {
  tell?.(reply, undefined, {}, () => process.exit(0));
}

/** The server, whose transports open although the program's don't. */
function ours(server: object): Parameters<typeof replay>[1] {
  const port = (server as McpServer)[HOST];
  const open: HostPort['open'] = (create) => {
    isOurs = true;
    try {
      return port.open(create);
    } finally {
      isOurs = false;
    }
  };
  return Object.create(server, { [HOST]: { value: { ...port, open } } }) as McpServer;
}

let isFinished = false;
async function finish(server: object | undefined): Promise<void> {
  if (isFinished) return;
  isFinished = true;
  if (server === undefined) return end({ type: 'nothing' });
  const calls = [];
  for (const path of recordings) calls.push(await replayOne(path, server));
  const closing = (server as McpServer).close({ deadlineMs: 0 }).catch(() => {});
  await Promise.race([closing, new Promise((resolve) => setTimeout(resolve, CLOSING_MS))]);
  end({ type: 'replayed', calls });
}

async function replayOne(path: string, server: object) {
  try {
    const { replayed, ...rest } = await replay(
      readRecording(readFileSync(path, 'utf8')),
      ours(server),
      Number(timeoutMs),
    );
    const { status, cause, code, message, error } = replayed;
    return { ...rest, replayed: { status, cause, code, message, error } };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function fail(error: unknown): void {
  if (isFinished) return;
  isFinished = true;
  const thrown = (error instanceof Error ? error : new Error(String(error))) as NodeJS.ErrnoException;
  const { name, message, stack, code } = thrown;
  end({ type: 'failed', error: { name, message, stack, code }, sources: [...installLoader().files()] });
}

process.on('uncaughtException', fail);
process.on('beforeExit', () => void finish([...created][0]).catch(fail));
setTimeout(() => void finish([...created][0]).catch(fail), PATIENCE_MS).unref();
try {
  const server = await exportedServer(await loadEntry(file));
  if (server !== undefined) await finish(server);
} catch (error) {
  fail(error);
}
