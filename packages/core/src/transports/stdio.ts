import type { Readable, Writable } from 'node:stream';

import { startupError } from '../protocol/errors.js';
import { type OptionTypes, requireKnown } from '../protocol/option-names.js';
import { closeInTime, endOnSignal, endProcess } from './process-end.js';
import { guardProcess } from './process-guard.js';
import { type StdioOptions, StdioPipe } from './stdio-pipe.js';
import { type ClosableHost, hostOf } from './transport.js';

/** A server that is being served over a pipe. */
export interface StdioConnection {
  /** Resolves when the conversation is over and stdout is given back. Never rejects. */
  readonly closed: Promise<void>;
  /** Lets running calls end, at most for `drainMs`, and ends the conversation. The server and the process go on. */
  close(): Promise<void>;
}

// below the 2 seconds after which clients send SIGTERM (MCP, "Lifecycle", shutdown over stdio)
const DRAIN_MS = 1500;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const MAX_PENDING_CHARS = 1024 * 1024;

const OPTIONS: OptionTypes<StdioOptions> = {
  input: 'object',
  output: 'object',
  drainMs: [0, 2_147_483_647],
  maxMessageBytes: [1, Number.MAX_SAFE_INTEGER],
  maxPendingChars: [0, Number.MAX_SAFE_INTEGER],
};

/** The streams that are being read. */
const served = new WeakSet<object>();

/**
 * Serves over stdin and stdout: one JSON-RPC message per line of UTF-8 (MCP, "Transports", stdio). Resolves as soon as
 * messages are read.
 *
 * With the process's own stdin, the process lives as long as the conversation: when stdin ends, and on the first
 * SIGTERM or SIGINT, running calls are drained, the server is closed, and the process exits. With the process's own
 * stdout, nothing but messages appears on it: `console` and `process.stdout.write` go to stderr. Errors that belong to
 * no request do not end the process; they are reported to the server.
 *
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, `DECORUM_SERVER_CLOSED`, and whatever an `onStart` hook throws
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
  requireKnown('serveStdio', options, OPTIONS);
  const { input = process.stdin, output = process.stdout, drainMs = DRAIN_MS } = options;
  const { maxMessageBytes = MAX_MESSAGE_BYTES, maxPendingChars = MAX_PENDING_CHARS } = options;
  requireStreams(input, output);
  const pipe = new StdioPipe(host, { input, output, drainMs, maxMessageBytes, maxPendingChars });
  served.add(input);
  const restore = output === process.stdout ? divertStdout() : () => {};
  const release = guardProcess(server);
  const giveBack = () => {
    release();
    restore();
    served.delete(input);
  };
  try {
    await pipe.open();
  } catch (error) {
    giveBack();
    throw error;
  }
  const closed = over(pipe, server, input === process.stdin).then(giveBack);
  return {
    closed,
    async close() {
      void pipe.leave('self');
      await closed;
    },
  };
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
function requireStreams(input: Partial<Readable>, output: Partial<Writable>): void {
  const wrong = (option: string, problem: string) =>
    startupError('DECORUM_INVALID_OPTION', 'serveStdio', option, problem);
  if (typeof input.on !== 'function')
    throw wrong('input', 'is not a readable stream. Pass `process.stdin`, for example');
  if (typeof output.write !== 'function')
    throw wrong('output', 'is not a writable stream. Pass `process.stdout`, for example');
  // each message would be answered twice
  if (served.has(input))
    throw wrong('input', 'is being served already. Call `serveStdio` once, with a server that lists all providers');
}

/**
 * Waits for the end of the conversation, and for the hooks of a server that is closing: they may print.
 * @param isProcess whether the process and the conversation end together
 */
async function over(pipe: StdioPipe, server: ClosableHost, isProcess: boolean): Promise<void> {
  const end = async () => {
    await pipe.leave('client');
    await closeInTime(server, pipe.msLeft);
  };
  const release = isProcess ? endOnSignal(end) : () => {};
  const ending = await pipe.closed;
  // whoever closes the server hears of its errors
  if (ending === 'server') await server.close().catch(() => {});
  if (isProcess && ending === 'client') await endProcess();
  release();
}

/**
 * Sends to stderr what anything else than the protocol writes to stdout: `console.log`, which writes there too, and
 * `process.stdout.write`. Not caught: file descriptor 1 itself, and children that inherit it.
 * @returns gives stdout back
 */
function divertStdout(): () => void {
  const { stdout, stderr } = process;
  const { write } = stdout;
  const divert = (...args: Parameters<typeof write>) => stderr.write(...args);
  stdout.write = divert as typeof write;
  return () => {
    // somebody may have put something in front of it in the meantime
    if (stdout.write === divert) stdout.write = write;
  };
}
