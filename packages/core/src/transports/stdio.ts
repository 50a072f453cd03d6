import type { Readable, Writable } from 'node:stream';

import { invalidOption, type OptionTypes, requireOptions, withDefaults } from '@decorum/schema/internal';

import { closeInTime, endOnSignal, endProcess } from './process-end.js';
import { guardProcess } from './process-guard.js';
import { type StdioLimits, type StdioOptions, StdioPipe } from './stdio-pipe.js';
import { type ClosableHost, hostOf, requirePrincipal } from './transport.js';
import { startWatchdog } from './watchdog.js';

/** A server connected over stdio. */
export interface StdioConnection {
  /** Resolves when the connection has ended and stdout is restored. Never rejects. */
  readonly closed: Promise<void>;
  /**
   * Lets calls in flight finish, within `drainMs`, then ends the connection. The server and the process keep running.
   */
  close(): Promise<void>;
}

// less than the 2 seconds after which clients send SIGTERM (MCP, "Lifecycle", shutdown over stdio)
const DRAIN_MS = 1500;
// added to `drainMs`: the event loop of a process without a client may be blocked this much longer
const BLOCKED_MS = 2000;
const POLL_MS = 500;
const DEFAULT_LIMITS: Required<StdioLimits> = { maxMessageBytes: 4_194_304, maxPendingChars: 1_048_576 };

const OPTIONS: OptionTypes<StdioOptions> = {
  input: 'object',
  output: 'object',
  drainMs: [0, 2_147_483_647],
  principal: 'object',
  watchdog: 'boolean',
  limits: { maxMessageBytes: [1, Number.MAX_SAFE_INTEGER], maxPendingChars: [0, Number.MAX_SAFE_INTEGER] },
};

/** Input streams in use. */
const served = new WeakSet<object>();

/**
 * Serves over stdin and stdout: one JSON-RPC message per line of UTF-8 (MCP, "Transports", stdio). Resolves once the
 * server is reading messages.
 *
 * With the process's own stdin, the process ends with the connection: when stdin ends, or on the first SIGTERM or
 * SIGINT, calls in flight are drained, the server closes and the process exits. The process's own stdout is reserved
 * for protocol messages: `console` and `process.stdout.write` write to stderr instead. Errors outside a request do not
 * end the process; they are reported to the server.
 *
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, `DECORUM_NO_AUTHORIZATION`, `DECORUM_SERVER_CLOSED`, and whatever an
 *   `onStart` hook throws
 * @example
 * ```ts
 * import { McpServer, serveStdio } from '@decorum/core';
 *
 * const server = new McpServer({ name: 'clock', version: '1.0.0' });
 * server.addTool({ name: 'now', description: 'Tells the time' }, () => new Date());
 * await serveStdio(server);
 * ```
 */
export async function serveStdio(server: ClosableHost, options: StdioOptions = {}): Promise<StdioConnection> {
  const host = hostOf(server, 'serveStdio');
  requireOptions('serveStdio', options, OPTIONS);
  const { input = process.stdin, output = process.stdout, drainMs = DRAIN_MS, principal, watchdog } = options;
  requirePrincipal(principal, 'serveStdio');
  requireStreams(input, output, watchdog);
  const pipe = new StdioPipe(host, {
    input,
    output,
    drainMs,
    principal,
    ...withDefaults(DEFAULT_LIMITS, options.limits),
  });
  served.add(input);
  const restore = output === process.stdout ? divertStdout() : () => {};
  const release = guardProcess(server);
  let stopWatchdog = () => {};
  const restoreProcess = () => {
    stopWatchdog();
    release();
    restore();
    served.delete(input);
  };
  try {
    if (watchdog) stopWatchdog = await startWatchdog(input, { graceMs: drainMs + BLOCKED_MS, pollMs: POLL_MS });
    await pipe.open();
  } catch (error) {
    restoreProcess();
    throw error;
  }
  const closed = whenOver(pipe, server, input === process.stdin).then(restoreProcess);
  return {
    closed,
    async close() {
      void pipe.leave('self');
      await closed;
    },
  };
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
function requireStreams(input: Partial<Readable>, output: Partial<Writable>, watchdog = false): void {
  const wrong = (option: string, problem: string) => invalidOption('serveStdio', option, problem);
  if (typeof input.on !== 'function')
    throw wrong('input', 'is not a readable stream. Pass `process.stdin`, for example');
  if (typeof output.write !== 'function')
    throw wrong('output', 'is not a writable stream. Pass `process.stdout`, for example');
  if (watchdog && input !== process.stdin)
    throw wrong(
      'watchdog',
      "ends the process with its client, which needs the process's own stdin. Omit it, or `input`",
    );
  // two servers on one stream would answer each message twice
  if (served.has(input))
    throw wrong('input', 'is already being served. Call `serveStdio` once, with a server that lists all providers');
}

/**
 * Waits for the connection to end, and for the hooks of a closing server, which may still print.
 * @param isProcess whether the process ends with the connection
 */
async function whenOver(pipe: StdioPipe, server: ClosableHost, isProcess: boolean): Promise<void> {
  const end = async () => {
    await pipe.leave('client');
    await closeInTime(server, pipe.msLeft);
  };
  const release = isProcess ? endOnSignal(end) : () => {};
  const ending = await pipe.closed;
  // the caller of server.close() gets its errors
  if (ending === 'server') await server.close().catch(() => {});
  if (isProcess && ending === 'client') await endProcess();
  release();
}

/**
 * Redirects everything except protocol messages from stdout to stderr: `console.log` and `process.stdout.write`. Direct
 * writes to file descriptor 1, and writes by child processes that inherit it, are not redirected.
 * @returns a function that restores stdout
 */
export function divertStdout(): () => void {
  const { stdout, stderr } = process;
  const { write } = stdout;
  const divert = (...args: Parameters<typeof write>) => stderr.write(...args);
  stdout.write = divert as typeof write;
  return () => {
    // other code may have replaced it in the meantime
    if (stdout.write === divert) stdout.write = write;
  };
}
