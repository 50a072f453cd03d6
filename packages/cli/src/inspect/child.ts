/**
 * Runs a program in its own process, and serves its server over stdio, whatever the program serves it over. The server's
 * own transports never open, so nothing listens.
 */
import { printFailure, CommandFailure } from 'create-decorum';

import { exportedServer, EXPORT_A_SERVER, loadEntry, shown, watchServers } from '../entry.js';
import { loadFailure } from '../failures.js';
import { installLoader } from '../loader/install.js';
import { divertStdout } from '../start/process.js';
import { packageFor } from '../start/serve.js';

/** Time limit for a program that creates a server, and waits for something else before it serves. */
const PATIENCE_MS = 5000;

const [file = ''] = process.argv.slice(2);
const release = divertStdout();
let isTaken = false;

const { created, opened } = watchServers(async () => {
  release();
  if (isTaken) return;
  const [server] = opened;
  if (await take(server)) await new Promise(() => {});
});

/** Serves a server. Returns false if the program reads stdin itself. */
async function take(server: unknown): Promise<boolean> {
  isTaken = true;
  process.off('uncaughtException', fail);
  const { serveStdio } = await packageFor<typeof import('@decorum/core')>(file, '@decorum/core');
  try {
    await serveStdio(server as Parameters<typeof serveStdio>[0]);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'DECORUM_INVALID_OPTION') return false;
    return fail(error);
  }
}

function fail(error: unknown): never {
  printFailure(
    error instanceof CommandFailure ? error : loadFailure({ file, sources: installLoader().files() }, error),
  );
  process.exit(1);
}

async function takeFirst(): Promise<void> {
  if (isTaken) return;
  const [server] = created;
  if (server === undefined) fail(new CommandFailure(`${shown(file)} creates no server. ${EXPORT_A_SERVER}`));
  await take(server);
}

process.on('uncaughtException', fail);
process.once('beforeExit', () => void takeFirst());
setTimeout(() => void (created.size > 0 && takeFirst()), PATIENCE_MS).unref();
try {
  // a program that can serve over stdio knows the argument, as from `decorum start --stdio`
  const server = await exportedServer(await loadEntry(file, ['--stdio']));
  if (server !== undefined && !isTaken) await take(server);
} catch (error) {
  fail(error);
}
