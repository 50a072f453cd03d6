import cluster from 'node:cluster';

import { CommandFailure, EXIT, printFailure } from 'create-decorum';

import { builtEntries } from '../build/built.js';
import {
  ENTRIES,
  exportedServer,
  EXPORT_A_SERVER,
  findEntry,
  isTypeScript,
  loadEntry,
  shown,
  watchServers,
} from '../entry.js';
import { listenFailure, loadFailure } from '../failures.js';
import { installLoader } from '../loader/install.js';
import { readEnv } from './env-file.js';
import { divertStdout, endFailed, endWithSignal, failLater } from './process.js';
import { serve, type Transport } from './serve.js';

/** How to start a program. */
export interface StartOptions {
  readonly transport: Transport;
  /** Whether the user named the transport. The program then gets it as an argument. */
  readonly isChosen: boolean;
  readonly envFile: string | undefined;
  /** Number of processes to run the program in; undefined for this one. */
  readonly workers: number | undefined;
  /** Arguments of the program. */
  readonly args: readonly string[];
}

const say = (line: string) => process.stderr.write(`${line}\n`);

/**
 * Runs a program and serves what it exports. Resolves once it serves.
 * @param entry as the user named it
 * @throws {CommandFailure}
 */
export async function start(
  entry: string | undefined,
  { transport, isChosen, envFile, workers, args }: StartOptions,
): Promise<void> {
  const file = findEntry(entry, [...builtEntries(), ...ENTRIES]);
  readEnv(envFile);
  const runsInWorkers = workers !== undefined;
  if (runsInWorkers && cluster.isWorker) (await import('./worker.js')).joinWorkers();
  else if (isTypeScript(file))
    say(`${shown(file)} is TypeScript and compiled as it loads. Run \`decorum build\` for production.`);
  if (runsInWorkers && cluster.isPrimary)
    return (await import('./primary.js')).serveWithWorkers(workers, process.argv.slice(2));
  const release = transport === 'stdio' ? divertStdout() : () => {};
  const { created, opened } = watchServers(release);
  const programArgs = isChosen ? [`--${transport}`, ...args] : args;
  // a program may fail after it has loaded, for example in a `main` that isn't awaited. Once it serves, only errors of
  // `listen` are explained
  failLater((error) => (opened.size > 0 ? listenFailure(error) : loadFailure(programOf(file), error)));
  process.once('beforeExit', () => {
    if (opened.size > 0 || process.exitCode !== undefined) return;
    printFailure(new CommandFailure(`${shown(file)} has ended without serving. ${EXPORT_A_SERVER}`));
    process.exitCode = EXIT.failed;
  });
  try {
    const server = await loadEntry(file, programArgs)
      .then(async (exports) => (opened.size > 0 ? undefined : await exportedServer(exports)))
      .catch((error: unknown) => {
        throw loadFailure(programOf(file), error);
      });
    if (server !== undefined && !opened.has(server)) return await serve(server, transport, programOf(file));
  } catch (error) {
    return await endFailed(error as CommandFailure, created);
  }
  endWithSignal(created);
}

const programOf = (file: string) => ({ file, sources: isTypeScript(file) ? installLoader().files() : [] });
