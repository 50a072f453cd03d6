import { CommandFailure, EXIT } from 'create-decorum';

import { findEntry } from '../entry.js';
import type { Contract } from './contract.js';
import { type Difference, differences } from './differences.js';
import { LOCK_FILE, readLock } from './lock-file.js';
import { contractOfProgram } from './program.js';
import { contractOfServer, type RunningServer } from './running-server.js';

/** What to compare a program with. */
export interface DiffOptions {
  /** A lock file, or the URL of a server. */
  readonly against: string | undefined;
  readonly headers: RunningServer['headers'];
  readonly timeoutMs: number;
}

/**
 * Whether a target is a running server, and not a file.
 * @throws {CommandFailure} with `EXIT.usage` if it is meant to be a server, but isn't a URL of one
 */
function isServer(target: string): boolean {
  if (/^https?:\/\//i.test(target)) return true;
  // a colon would be unusual in the name of a file: `localhost:3000/mcp`
  if (/^(?:[a-z][a-z\d+.-]*:\/\/|[\w.-]+:\d+(?:\/|$))/i.test(target))
    throw new CommandFailure(
      `${target} is neither a file nor a server. Servers begin with http:// or https://.`,
      EXIT.usage,
    );
  return false;
}

/**
 * What has changed in a program since its contract was written, or since the version that a server runs.
 * @param entry file of the program, as the user named it
 * @throws {CommandFailure}
 */
export async function diff(entry: string | undefined, options: DiffOptions): Promise<readonly Difference[]> {
  const { against = LOCK_FILE, headers, timeoutMs } = options;
  if (entry?.toLowerCase().endsWith('.json') === true)
    throw new CommandFailure(`${entry} is not a program. To compare with it, pass \`--against ${entry}\`.`, EXIT.usage);
  // a wrong entry is told before a missing lock file
  findEntry(entry);
  if (!isServer(against)) {
    const before = readLock(against);
    return differences(before, await contractOfProgram(entry));
  }
  const after = await contractOfProgram(entry);
  const lists = Object.values(after.revisions);
  const uris = new Set(lists.flatMap(({ resources = [] }) => resources.map(({ uri }) => String(uri))));
  const server = { url: against, headers, timeoutMs };
  const before = await contractOfServer(server, Object.keys(after.revisions), uris);
  return differences(before, onlyIn(after, before));
}

/** Revisions that the server doesn't speak are not compared: it may be configured so. */
function onlyIn({ server, revisions }: Contract, before: Contract): Contract {
  const common = Object.entries(revisions).filter(([date]) => Object.hasOwn(before.revisions, date));
  return { server, revisions: Object.fromEntries(common) };
}

/** A line for each difference: `breaking  pay: argument "currency" is now required`. */
export function linesOf(found: readonly Difference[]): readonly string[] {
  const width = Math.max(...found.map((each) => each.class.length));
  return found.map(({ class: kind, member, why }) => `${kind.padEnd(width)}  ${member}: ${why}`);
}

/** The exit code for what has changed. */
export const exitCodeOf = (found: readonly Difference[]): number =>
  found.some((each) => each.class === 'breaking') ? EXIT.failed : EXIT.done;
