/**
 * Runs a program in its own process until it serves, and gets the tasks of its server, which runs none of them. Of its
 * hooks, only those run that the store of the tasks needs.
 */
import type { ClosableHost } from '@decorum/core/transport';
import { connectMemory } from '@decorum/core';

import { exportedServer, limitTime, loadEntry, watchServers } from '../entry.js';
import type { Reply, Request, Tasks } from './messages.js';

const [file = '', asked = '{}'] = process.argv.slice(2);
const request = JSON.parse(asked) as Request;
const tell = process.send?.bind(process);
// hide the IPC channel from the program
Object.defineProperty(process, 'send', { value: undefined });

/** Ends with a reply. Nothing else of the program may run. */
async function end(reply: Reply): Promise<never> {
  tell?.(reply, undefined, {}, () => process.exit(0));
  return await new Promise(() => {});
}

async function fail(error: unknown): Promise<never> {
  const { name, message, stack, code } = (
    error instanceof Error ? error : new Error(String(error))
  ) as NodeJS.ErrnoException;
  return await end({ type: 'failed', error: { name, message, stack, code } });
}

async function replyOf(tasks: Tasks): Promise<Reply> {
  if (request.action === 'list') return { type: 'tasks', tasks: await tasks.list() };
  if (request.action === 'show') return { type: 'task', task: await tasks.show(request.id) };
  return { type: 'changed', problem: await tasks[request.action](request.id) };
}

type Create = (access: { readonly writes: boolean }) => Tasks;
const shared = globalThis as { [key: symbol]: unknown };
shared[Symbol.for('decorum:tasks')] = async (create: Create) => {
  try {
    const tasks = create({ writes: request.action === 'retry' || request.action === 'cancel' });
    await tasks.open();
    const reply = await replyOf(tasks);
    await tasks.close();
    return await end(reply);
  } catch (error) {
    return await fail(error);
  }
};

let isLooking = false;
/** Opens the server far enough to get its tasks. */
async function look(server: ClosableHost | undefined): Promise<void> {
  if (isLooking) return;
  isLooking = true;
  if (server !== undefined) await connectMemory(server, { receive: () => {} });
  // it has opened, so nothing took its tasks
  await end({ type: 'nothing' });
}

const { created } = watchServers(async () => {
  if (isLooking) return;
  const [server] = created;
  await look(server).catch(fail);
});

process.on('uncaughtException', (error) => void fail(error));
process.on('beforeExit', () => void look([...created][0]).catch(fail));
const isLoaded = limitTime(created, () => void look([...created][0]).catch(fail));
try {
  const exports = await loadEntry(file);
  isLoaded();
  const server = await exportedServer(exports);
  if (server !== undefined) await look(server);
} catch (error) {
  await fail(error);
}
