/**
 * Runs a built program in its own process until it serves, and reports its server to `decorum build`. The server never
 * opens, so no `onStart` hook runs and nothing listens.
 */
import { type Exported, exportedServer, howExported, limitTime, loadEntry, watchServers } from '../entry.js';
import { isStartupError } from '../failures.js';
import type { Construction, ThrownError } from './messages.js';

const [file = ''] = process.argv.slice(2);
const tell = process.send?.bind(process);
// hide the IPC channel from the program
Object.defineProperty(process, 'send', { value: undefined });

const { created } = watchServers(() => {
  finish(undefined);
  return new Promise(() => {});
});

function end(construction: Construction): void {
  tell?.(construction, undefined, {}, () => process.exit(0));
}

function finish(exported: Exported | undefined): void {
  const [server] = created;
  if (server === undefined) return end({ type: 'nothing' });
  const { name, version } = (server as unknown as { info: { name: string; version: string } }).info;
  end({ type: 'constructed', title: `${name} ${version}`, exported });
}

function fail(error: unknown): void {
  // problems with the environment may show only after the server has been created
  if (created.size > 0 && !isStartupError(error)) return finish(undefined);
  end({ type: 'failed', error: thrown(error) });
}

function thrown(error: unknown): ThrownError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: undefined, code: undefined };
  const { name, message, stack, code } = error as NodeJS.ErrnoException;
  return { name, message, stack, code };
}

process.on('uncaughtException', fail);
process.on('beforeExit', () => (created.size > 0 ? end({ type: 'unserved' }) : finish(undefined)));
const isLoaded = limitTime(created, () => finish(undefined));
try {
  const exports = await loadEntry(file);
  isLoaded();
  if ((await exportedServer(exports)) !== undefined) finish(await howExported(exports));
} catch (error) {
  fail(error);
}
