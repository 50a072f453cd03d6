/** What users should know before a server is installed. */
import type { Client, Program, Remote } from './clients.js';
import { readConfig } from './config-file.js';
import { entryOf } from './edit.js';
import { projectPath, targetOf } from './location.js';
import { versionNote } from './node-path.js';
import { looksSecret, REFERENCE } from './secrets.js';

/** The program's own arguments, with names: `--token=abc` and `--token abc` are the value `abc` of `token`. */
function namedArguments(args: readonly string[]): readonly (readonly [name: string, value: string])[] {
  const own = args.includes('--') ? args.slice(args.indexOf('--') + 1) : [];
  return own.map((each, index) => {
    const [, name, value] = /^--?([\w-]+)=([^]*)$/.exec(each) ?? [];
    if (name !== undefined && value !== undefined) return [name, value];
    return each.startsWith('-') ? ['', ''] : [/^--?([\w-]+)$/.exec(own[index - 1] ?? '')?.[1] ?? '', each];
  });
}

/** Secrets in a file that others read. */
function secretsIn(client: Client, server: Program | Remote): readonly string[] {
  const danger = 'and others may read the file.';
  if ('url' in server) {
    return looksSecret('', server.url) ? [`The URL seems to contain a secret, ${danger} Use --scope user.`] : [];
  }
  const { variable } = client;
  const variables = Object.entries(server.env)
    .filter(([name, value]) => looksSecret(name, value))
    .map(([name]) => {
      const other = variable === undefined ? '' : `--env '${name}=${variable(name)}', or `;
      return `${name} seems to be a secret, ${danger} Pass ${other}--scope user.`;
    });
  const hasSecret = namedArguments(server.args).some(([name, value]) => looksSecret(name, value));
  return hasSecret ? [...variables, `An argument seems to be a secret, ${danger} Use --scope user.`] : variables;
}

/** Variables whose value a client would change, because it takes a part of it for a reference. */
function changedBy({ title, variable }: Client, server: Program | Remote): readonly string[] {
  const [start = ''] = variable?.('\n').split('\n') ?? [];
  if (start === '' || 'url' in server) return [];
  const hasReference = (value: string) =>
    value
      .split(start)
      .slice(1)
      .some((rest) => /^\w/.test(rest));
  return Object.entries(server.env)
    .filter(([, value]) => hasReference(value) && !REFERENCE.test(value))
    .map(
      ([name]) =>
        `${title} takes what follows "${start}" in ${name} for the name of a variable, and inserts its value.`,
    );
}

/** The same name in the file of a project, which clients prefer to that of the user. */
function namesake(client: Client, name: string): readonly string[] {
  const path = projectPath(client);
  if (path === undefined) return [];
  try {
    if (entryOf(readConfig(path).text, targetOf(client, name)) === undefined) return [];
  } catch {
    // a file that can't be read has no server for the client either
    return [];
  }
  return [`In this project, ${client.title} has a server with the name ${name} already, from ${path}.`];
}

/**
 * What users should know.
 * @param location which file is changed, and whether others may read it
 */
export function warningsOf(
  client: Client,
  server: Program | Remote,
  location: { readonly isShared: boolean; readonly isUsual: boolean },
): readonly string[] {
  const note = 'url' in server ? undefined : versionNote(server.command);
  return [
    ...(location.isShared ? secretsIn(client, server) : []),
    ...(location.isUsual && !location.isShared ? namesake(client, server.name) : []),
    ...changedBy(client, server),
    ...(note === undefined ? [] : [note]),
  ];
}
