import { CommandFailure } from 'create-decorum';

import { replyOf } from '../child-reply.js';
import { EXPORT_A_SERVER, findEntry, shown } from '../entry.js';
import { loadFailure } from '../failures.js';
import { programEnv } from '../program-env.js';
import type { Contract } from './contract.js';
import type { Reply } from './messages.js';

/** What a program serves, and what its server says of itself. */
export type Described = Extract<Reply, { type: 'contract' }>;

/**
 * The contract of a program, which runs in its own process until it serves.
 * @param entry file of the program, as the user named it
 * @throws {CommandFailure}
 */
export async function contractOfProgram(entry: string | undefined): Promise<Contract> {
  return (await describeProgram(entry)).contract;
}

/**
 * Runs a program in its own process until it serves.
 * @param entry file of the program, as the user named it
 * @throws {CommandFailure}
 */
export async function describeProgram(entry: string | undefined): Promise<Described> {
  const file = findEntry(entry);
  const env = programEnv(process.cwd());
  const reply = await replyOf<Reply>(new URL('child.js', import.meta.url), { args: [file], env });
  if (typeof reply === 'number') {
    const code = `exit code ${reply}`;
    throw new CommandFailure(`${shown(file)} ended with ${code} before it created a server. It may have printed why.`);
  }
  if (reply.type === 'contract') return reply;
  if (reply.type === 'nothing') throw new CommandFailure(`${shown(file)} creates no server. ${EXPORT_A_SERVER}`);
  const { error, sources } = reply;
  throw loadFailure({ file, sources }, Object.assign(new Error(error.message), error));
}
