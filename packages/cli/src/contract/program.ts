import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { CommandFailure } from 'create-decorum';

import { EXPORT_A_SERVER, findEntry, shown } from '../entry.js';
import { loadFailure } from '../failures.js';
import { programEnv } from '../program-env.js';
import type { Contract } from './contract.js';
import type { Reply } from './messages.js';

/**
 * The contract of a program, which runs in its own process until it serves.
 * @param entry file of the program, as the user named it
 * @throws {CommandFailure}
 */
export async function contractOfProgram(entry: string | undefined): Promise<Contract> {
  const file = findEntry(entry);
  const reply = await run(file);
  if (typeof reply === 'number') {
    const code = `exit code ${reply}`;
    throw new CommandFailure(`${shown(file)} ended with ${code} before it created a server. It may have printed why.`);
  }
  if (reply.type === 'contract') return reply.contract;
  if (reply.type === 'nothing') throw new CommandFailure(`${shown(file)} creates no server. ${EXPORT_A_SERVER}`);
  const { error, sources } = reply;
  throw loadFailure({ file, sources }, Object.assign(new Error(error.message), error));
}

/** Resolves with the exit code if the process ended without sending a message. */
async function run(file: string): Promise<Reply | number> {
  const child = fork(fileURLToPath(new URL('child.js', import.meta.url)), [file], {
    env: programEnv(process.cwd()),
    execArgv: ['--enable-source-maps'],
    // to stderr: the program's output isn't the output of this command
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  return await new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as Reply));
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}
