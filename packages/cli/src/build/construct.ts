import { randomBytes } from 'node:crypto';

import { CommandFailure } from 'create-decorum';

import { replyOf } from '../child-reply.js';
import { EXPORT_A_SERVER, shown } from '../entry.js';
import { isStartupError, loadFailure } from '../failures.js';
import type { Construction, ThrownError } from './messages.js';

/** A constructed server. */
export type Constructed = Extract<Construction, { type: 'constructed' }>;

/** Errors in the code itself. With other errors, this machine may lack something, such as an environment variable. */
const MISTAKES = /^(?:SyntaxError|ReferenceError|RangeError|TypeError)$/;
const MISSING = /^(?:ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND|ERR_PACKAGE_PATH_NOT_EXPORTED)$/;

const isMistake = ({ name, code }: ThrownError) =>
  code === undefined ? MISTAKES.test(name) : MISSING.test(code) || code.startsWith('DECORUM_');

/**
 * Constructs the server of a built program in memory.
 * @param file absolute path of the program
 * @param sources files to search for the members that errors are about
 * @returns undefined if the program can't be run on this machine, after printing why
 * @throws {CommandFailure} for a mistake in the code
 */
export async function construct(file: string, sources: readonly string[]): Promise<Constructed | undefined> {
  // the program serves nobody here, and who builds an image has no secret
  const env = { DECORUM_SECRET: randomBytes(32).toString('base64url'), ...process.env };
  const construction = await replyOf<Construction>(new URL('child.js', import.meta.url), { args: [file], env });
  if (typeof construction === 'number') {
    const code = `exit code ${construction}`;
    throw new CommandFailure(`${shown(file)} ended with ${code} before it created a server. It may have printed why.`);
  }
  if (construction.type === 'constructed') return construction;
  if (construction.type === 'nothing') throw new CommandFailure(`${shown(file)} creates no server. ${EXPORT_A_SERVER}`);
  if (construction.type === 'unserved') {
    throw new CommandFailure(`${shown(file)} creates a server, but neither exports nor serves it. ${EXPORT_A_SERVER}`);
  }
  const { error } = construction;
  const rebuilt = Object.assign(new Error(error.message), error);
  const failure = loadFailure({ file, sources }, rebuilt);
  if (isMistake(error) || isStartupError(rebuilt)) throw failure;
  process.stderr.write(`${failure.message}\n${shown(file)} is built, but its server was not checked: `);
  process.stderr.write('it creates none before this. Create the server first, or export it.\n');
  return undefined;
}
