/** `decorum install`: adds a server to the configuration of a client. */
import { dirname } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import type { Client, Program, Remote } from './clients.js';
import { type ConfigFile, readBackup, readConfig, writeConfig } from './config-file.js';
import { addedSince, entryOf, hasEntry, type Target, unmapped, withEntry } from './edit.js';
import { positionOf, TextProblem, type Value } from './formats/format.js';
import { type Location, locate, nameOf, projectFolder, targetOf } from './location.js';
import { commandOf } from './program.js';
import { startSame } from './same-program.js';
import { unifiedDiff } from './unified-diff.js';
import { warningsOf } from './warnings.js';

/** What `decorum install` adds. */
export interface ServerOptions {
  readonly name: string | undefined;
  readonly entry: string | undefined;
  readonly args: readonly string[];
  readonly dev: boolean;
  /** Of a server that is served elsewhere. */
  readonly url: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

/** The server to install. */
export function serverOf(options: ServerOptions): Program | Remote {
  const { url, env } = options;
  if (url !== undefined) return { ...nameOf(options.name, process.cwd()), url };
  const { command, args, entry } = commandOf(options);
  return { ...nameOf(options.name, dirname(entry)), command, args, env };
}

/**
 * How a client writes a server.
 * @throws {CommandFailure} if its configuration can't have URLs
 */
export function entryFor(client: Client, server: Program | Remote): Value {
  if (!('url' in server)) return client.program(server);
  const entry = client.remote?.(server);
  if (entry !== undefined) return entry;
  const remedy = 'Add the URL in its settings, under Connectors.';
  throw new CommandFailure(`The configuration of ${client.title} has only programs, no URLs. ${remedy}`, EXIT.usage);
}

/** Runs a step, and explains what is wrong in the file. */
export function explained<T>(path: string, text: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof RangeError) throw new CommandFailure(`${path} is nested too deeply.`, EXIT.failed, error);
    if (!(error instanceof TextProblem)) throw error;
    const { line, column } = positionOf(text, error.offset);
    throw new CommandFailure(
      `${path}:${line}:${column}: ${error.message}. Nothing was changed. \`--print\` shows what to add by hand.`,
      EXIT.failed,
      error,
    );
  }
}

/** What a text should have. */
interface Wanted {
  readonly value: Value;
  readonly force: boolean;
  readonly title: string;
  /** Where the client starts programs, if it is known. */
  readonly folder: string | undefined;
}

function textWith(text: string, target: Target, { value, force, title, folder }: Wanted): string {
  if (hasEntry(text, target, value)) return text;
  const entry = entryOf(text, target);
  if (folder !== undefined && startSame(unmapped(entry), value, folder)) return text;
  if (entry === undefined || force) return withEntry(text, target, value);
  const { name } = target.place;
  throw new CommandFailure(
    `${title} has another server with the name ${name}. Pass --force to replace it, or --name for another name.`,
  );
}

/** How to install. */
export interface InstallOptions extends Location, ServerOptions {
  readonly force: boolean;
}

/** What an installation would change. */
export interface Plan {
  readonly client: Client;
  readonly server: Program | Remote;
  readonly file: ConfigFile;
  /** The text of the file with the server. */
  readonly next: string;
  /** Whether the server is installed already. */
  readonly isDone: boolean;
  /** Whether others may read the file. */
  readonly isShared: boolean;
  readonly warnings: readonly string[];
}

/**
 * Finds out what to change, and changes nothing.
 * @throws {CommandFailure} if there is another server with its name, or if the file can't be edited
 */
export function plan(client: Client, options: InstallOptions): Plan {
  const server = serverOf(options);
  const target = targetOf(client, server.name);
  const value = entryFor(client, server);
  const { path: given, isShared } = locate(client, options);
  const file = readConfig(given);
  const { path, text } = file;
  const isUsual = options.config === undefined;
  const folder = isUsual && isShared ? projectFolder() : undefined;
  const wanted = { value, force: options.force, title: client.title, folder };
  const next = explained(path, text, () => textWith(text, target, wanted));
  const warnings = warningsOf(client, server, { isShared, isUsual });
  return { client, server, file, next, isDone: next === text, isShared, warnings };
}

/** The change, as `patch` reads it. */
export const diffOf = ({ file: { path, bytes, text }, next }: Plan): string => unifiedDiff(path, bytes && text, next);

/**
 * Changes the file.
 * @returns what happened, for people
 * @throws {CommandFailure} if the file can't be written, or has changed meanwhile
 */
export function carryOut({ client, server: { name }, file, next, isDone, isShared }: Plan): string {
  const { path, text, bytes } = file;
  const { title } = client;
  if (isDone) return `${title} has this server already: ${name} in ${path}\n`;
  // as long as only entries were added, the backup stays the file from before the first one
  const before = bytes && readBackup(file);
  const isExplained = before !== undefined && addedSince(before.text, text, targetOf(client, name)) !== undefined;
  writeConfig(file, next, { isPrivate: !isShared, backup: isExplained ? 'keep' : 'write' });
  const undo = `Restart ${title} if it doesn't show the server. \`decorum uninstall\` removes it.`;
  return `${title} has the server ${name} now: ${path}\n${undo}\n`;
}
