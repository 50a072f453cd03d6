/** `decorum install`: adds a server to the configuration of a client. */
import { dirname } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import type { Client, Program, Remote } from './clients.js';
import { readBackup, readConfig, writeConfig } from './config-file.js';
import { addedSince, entryOf, hasEntry, type Target, withEntry } from './edit.js';
import { positionOf, TextProblem, type Value } from './formats/format.js';
import { type Location, locate, nameOf, targetOf } from './location.js';
import { commandOf } from './program.js';
import { looksSecret } from './secrets.js';
import { unifiedDiff } from './unified-diff.js';

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

/** What happened, for people. */
export interface Report {
  readonly text: string;
  readonly warnings: readonly string[];
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

/** Values in a file that others read. */
function warningsOf(client: Client, server: Program | Remote): readonly string[] {
  const variable = client.variable;
  if ('url' in server) {
    if (!looksSecret('', server.url)) return [];
    return [`The URL seems to contain a secret, and others may read the file. Use --scope user.`];
  }
  const secret = Object.entries(server.env).filter(([name, value]) => looksSecret(name, value));
  return secret.map(([name]) => {
    const other = variable === undefined ? '' : `--env '${name}=${variable(name)}', or `;
    return `${name} seems to be a secret, and others may read the file. Pass ${other}--scope user.`;
  });
}

function textWith(
  text: string,
  target: Target,
  { value, force, title }: { value: Value; force: boolean; title: string },
) {
  if (hasEntry(text, target, value)) return text;
  if (entryOf(text, target) === undefined || force) return withEntry(text, target, value);
  const { name } = target.place;
  throw new CommandFailure(
    `${title} has another server with the name ${name}. Pass --force to replace it, or --name for another name.`,
  );
}

/** How to install. */
export interface InstallOptions extends Location, ServerOptions {
  readonly force: boolean;
  readonly dryRun: boolean;
}

/**
 * Installs a server. If it is installed already, this changes nothing.
 * @throws {CommandFailure} if there is another server with its name, or if the file can't be edited
 */
export function install(client: Client, options: InstallOptions): Report {
  const server = serverOf(options);
  const target = targetOf(client, server.name);
  const value = entryFor(client, server);
  const { path: given, isShared } = locate(client, options);
  const file = readConfig(given);
  const { path, text, bytes } = file;
  const { title } = client;
  const next = explained(path, text, () => textWith(text, target, { value, force: options.force, title }));
  const warnings = isShared ? warningsOf(client, server) : [];
  if (options.dryRun) return { text: unifiedDiff(path, bytes && text, next), warnings };
  if (next === text) return { text: `${title} has this server already: ${server.name} in ${path}\n`, warnings };
  // as long as only entries were added, the backup stays the file from before the first one
  const before = bytes && readBackup(file);
  const isExplained = before !== undefined && addedSince(before.text, text, target) !== undefined;
  writeConfig(file, next, { isPrivate: !isShared, backup: isExplained ? 'keep' : 'write' });
  const undo = `Restart ${title} if it doesn't show the server. \`decorum uninstall\` removes it.`;
  return { text: `${title} has the server ${server.name} now: ${path}\n${undo}\n`, warnings };
}
