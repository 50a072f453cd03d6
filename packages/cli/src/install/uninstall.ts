/** `decorum uninstall`: takes a server out of the configuration of a client. */
import { CommandFailure } from 'create-decorum';

import type { Client } from './clients.js';
import { backupText, type ConfigFile, type ConfigWrite, readConfig, writeConfig } from './config-file.js';
import { addedSince, entryOf, type Target, withEntries, withoutEntry } from './edit.js';
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
function restored(file: ConfigFile, target: Target): Left | undefined {
  const { text } = file;
  const backup = backupText(file);
  for (const before of [backup, undefined]) {
    const added = addedSince(before ?? '', text, target);
    if (added === undefined || !added.some(([name]) => name === target.place.name)) continue;
    const rest = added.filter(([name]) => name !== target.place.name);
    if (rest.length > 0) return { text: withEntries(before ?? '', target, rest), backup: 'keep' };
    return before === undefined ? { text: undefined, backup: 'keep' } : { text: before, backup: 'remove' };
  }
  return undefined;
}

/** Whether the backup has the section, but no server in it. */
function hadEmptySection(file: ConfigFile, { format, place }: Target): boolean {
  try {
    return sectionOf(format.parse(backupText(file) ?? '', place), place)?.size === 0;
  } catch {
    return false;
  }
}

function without(file: ConfigFile, target: Target): Left {
  const exact = restored(file, target);
  if (exact !== undefined) return exact;
  return { text: withoutEntry(file.text, target, !hadEmptySection(file, target)), backup: 'write' };
}

/**
 * Uninstalls a server.
 * @returns what happened, for people
 * @throws {CommandFailure} if there is no such server, or if the file can't be edited
 */
export function uninstall(client: Client, options: UninstallOptions): string {
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
  return `${title} has the server ${name} no more: ${path}\n`;
}
