/** `decorum uninstall`: takes a server out of the configuration of a client. */
import { CommandFailure } from 'create-decorum';

import type { Client } from './clients.js';
import {
  again,
  type Backup,
  backupOf,
  type ConfigFile,
  type ConfigWrite,
  readBackup,
  readConfig,
  writeConfig,
} from './config-file.js';
import { addedSince, entryOf, isReplaced, type Target, withEntries, withoutEntry } from './edit.js';
import { sectionOf } from './formats/format.js';
import { explained } from './install.js';
import { type Location, locate, nameOf, targetOf } from './location.js';
import { unifiedDiff } from './unified-diff.js';

/** How to uninstall. */
export interface UninstallOptions extends Location {
  readonly name: string | undefined;
  readonly dryRun: boolean;
}

interface Left {
  /** Undefined if the file is to be removed. */
  readonly text: string | undefined;
  readonly backup: ConfigWrite['backup'];
}

/** The text from before the entry was added, with every byte; undefined if something else has changed since. */
function restored({ text }: ConfigFile, target: Target, backup: Backup | undefined): Left | undefined {
  const added = backup && addedSince(backup.text, text, target);
  if (backup === undefined || added === undefined || !added.some(([name]) => name === target.place.name))
    return undefined;
  const rest = added.filter(([name]) => name !== target.place.name);
  if (rest.length > 0) return { text: withEntries(backup.text, target, rest), backup: 'keep' };
  return { text: backup.existed ? backup.text : undefined, backup: 'remove' };
}

/** Whether a backup has the section, but no server in it. */
function hasEmptySection(backup: Backup | undefined, { format, place }: Target): boolean {
  try {
    const before = format.parse(backup?.text ?? '', place);
    return before.has(place.section) && !sectionOf(before, place)?.size;
  } catch {
    return false;
  }
}

function without(file: ConfigFile, target: Target): Left {
  const backup = readBackup(file);
  const exact = restored(file, target, backup);
  if (exact !== undefined) return exact;
  const text = withoutEntry(file.text, target, !hasEmptySection(backup, target));
  // the backup is the only place that still has the server from before
  return { text, backup: backup && isReplaced(backup.text, file.text, target) ? 'keep' : 'write' };
}

/**
 * Uninstalls a server.
 * @returns what happened, for people
 * @throws {CommandFailure} if there is no such server, or if the file can't be edited
 */
export const uninstall = (client: Client, options: UninstallOptions): string =>
  again(() => uninstallOnce(client, options));

function uninstallOnce(client: Client, options: UninstallOptions): string {
  const { name } = nameOf(options.name, process.cwd());
  const target = targetOf(client, name);
  const { path: given } = locate(client, options);
  const file = readConfig(given);
  const { path, text } = file;
  const { title } = client;
  if (explained(path, text, () => entryOf(text, target)) === undefined) {
    throw new CommandFailure(`${title} has no server with the name ${name} in ${path}. Pass --name or --scope.`);
  }
  const left = explained(path, text, () => without(file, target));
  if (options.dryRun) return unifiedDiff(path, text, left.text);
  writeConfig(file, left.text, { isPrivate: true, backup: left.backup });
  const earlier = left.backup === 'keep' && readBackup(file);
  const isLost = earlier && entryOf(earlier.text, target) !== undefined;
  const where = isLost ? `The server that it replaced is in ${backupOf(file)}\n` : '';
  return `${title} has the server ${name} no more: ${path}\n${where}`;
}
