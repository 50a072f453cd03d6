import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { CommandFailure, EXIT } from 'create-decorum';

import type { Request } from './request.js';
import { connectable } from './target.js';

const PACKAGE = '@modelcontextprotocol/inspector';

/** The version of Node.js that the inspector needs. */
const NEEDED = [22, 19] as const;

function requireNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return;
  const problem = `The inspector needs Node.js ${NEEDED.join('.')} or later, and this is ${process.versions.node}.`;
  throw new CommandFailure(`${problem} Leave out --ui, or run it with a newer Node.js.`, EXIT.environment);
}

/**
 * Opens the official inspector with the target. Resolves when it ends.
 * @throws {CommandFailure} with `EXIT.environment` if this Node.js is too old, or `npx` is missing
 */
export async function openInspector({ target, verb }: Request): Promise<void> {
  if (verb !== undefined) throw new CommandFailure(`Pass either --ui or ${verb}, not both.`, EXIT.usage);
  requireNode();
  const server = connectable(target);
  const args = server instanceof URL ? [server.href] : commandOf(server);
  // on Windows, npx is a script, which only a shell starts
  if (process.platform === 'win32') {
    throw new CommandFailure(`Run \`npx ${PACKAGE} ${args.join(' ')}\`.`, EXIT.environment);
  }
  const child = spawn('npx', ['-y', PACKAGE, ...args], { stdio: ['inherit', 2, 2] });
  // the terminal also sends Ctrl+C to the inspector, which ends by itself
  const wait = () => {};
  process.on('SIGINT', wait);
  const [code] = (await once(child, 'close').catch((error: unknown) => {
    throw new CommandFailure('npx is missing. Install npm.', EXIT.environment, error);
  })) as [number | null];
  process.off('SIGINT', wait);
  if (code !== 0 && code !== null) throw new CommandFailure(`The inspector ended with exit code ${code}.`);
}

function commandOf(server: ReturnType<typeof connectable>): readonly string[] {
  if (typeof server !== 'object' || !('command' in server)) return [];
  return ['--', server.command, ...(server.args ?? [])];
}
