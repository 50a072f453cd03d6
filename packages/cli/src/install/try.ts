/** Starts a program once, as the client will, because a client only says that the connection failed. */
import { tmpdir } from 'node:os';

import { connectClient, ConnectionError } from '@decorum/client';
import { newestOf } from '@decorum/core/internal';
import { CommandFailure, EXIT, plainText } from 'create-decorum';

import { shown } from '../entry.js';
import { programEnv } from '../program-env.js';
import { type CommandOptions, commandOf } from './program.js';

const PATIENCE_MS = 10_000;

/** Cap on the output that a failure shows, in characters. */
const MAX_OUTPUT = 2000;

/** Errors of a program that hasn't answered. */
const SILENT: ReadonlySet<string> = new Set(['closed', 'timeout', 'unreachable']);

/**
 * Makes sure that a program answers over stdio.
 * @param env variables that the client sets
 * @throws {CommandFailure} if it doesn't
 */
export async function requireAnswer(options: CommandOptions, env: Readonly<Record<string, string>>): Promise<void> {
  const { dev } = options;
  const { command, trial: args, entry } = commandOf(options);
  let output = '';
  const program = {
    command,
    args,
    cwd: dev ? process.cwd() : tmpdir(),
    env: dev ? { ...programEnv(process.cwd()), ...env } : env,
  };
  const onStderr = (chunk: string) => void (output = (output + chunk).slice(-MAX_OUTPUT));
  try {
    // the revision is named so that a silent program is asked only once
    const revision = newestOf('stateful').id;
    const client = await connectClient(program, { revision, timeoutMs: PATIENCE_MS, onStderr, onError: () => {} });
    await client.close();
  } catch (error) {
    // an error of the server is an answer, too
    if (!(error instanceof ConnectionError && SILENT.has(error.code))) return;
    const why = output.trim() === '' ? '' : `It says:\n${plainText(output.trim())}\n`;
    const remedies = [
      'If it needs variables, pass them with --env.',
      'If it serves HTTP, start it and pass its --url, or name a file that exports its server.',
      'To install it anyway, pass --force.',
    ];
    throw new CommandFailure(
      `${shown(entry)} doesn't answer over stdio, so nothing was installed. ${why}${remedies.join('\n')}`,
      EXIT.failed,
      error,
    );
  }
}
