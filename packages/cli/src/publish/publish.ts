/** `decorum publish`: writes and checks `server.json`. Nothing is sent over the network. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import { describeProgram } from '../contract/program.js';
import { findEntry, takesStdio } from '../entry.js';
import { differencesBetween } from './differences.js';
import { type Project, readProject } from './project.js';
import { type Places, problemsOf, type Written } from './rules.js';
import { placesOf, serverJson } from './server-json.js';

/** What to do with `server.json`. */
export type PublishAction = 'print' | 'write' | 'check';

/**
 * Makes `server.json` from package.json, the server and `.env.example`.
 * @param entry file of the program, as the user named it
 * @param given where else the server can be had
 * @returns what to print
 * @throws {CommandFailure} if the registry would refuse it, or for `check` if the file differs
 */
export async function publish(
  entry: string | undefined,
  action: PublishAction,
  given: Partial<Places>,
): Promise<string> {
  const file = findEntry(entry);
  const project = readProject(file);
  const { info } = await describeProgram(entry);
  const { described } = project;
  const sources = { ...placesOf(project, given), project, described, info, stdio: stdioOf(file) };
  const problems = problemsOf(sources);
  if (problems.length > 0) throw new CommandFailure(problems.join('\n'), EXIT.failed);
  const content = serverJson(sources);
  if (info.version !== described.version) {
    process.stderr.write(`The server says it is ${info.version}, and package.json ${described.version}.\n`);
  }
  const text = `${JSON.stringify(content, null, 2)}\n`;
  if (action === 'print') return text;
  if (action === 'check') return check(project, content);
  writeFileSync(join(project.folder, 'server.json'), text);
  return 'server.json is written. To publish it, run `mcp-publisher login` and `mcp-publisher publish`.\n';
}

function stdioOf(file: string): Written['stdio'] {
  const source = readFileSync(file, 'utf8');
  if (takesStdio(source)) return 'with --stdio';
  return /\blisten\(/.test(source) && !source.includes('serveStdio') ? 'never' : 'always';
}

function check({ existing }: Project, content: unknown): string {
  const remedy = 'Run `decorum publish --write`.';
  if (existing === undefined) throw new CommandFailure(`There is no server.json. ${remedy}`, EXIT.failed);
  const differences = differencesBetween(existing, content);
  if (differences.length === 0) return 'server.json is up to date.\n';
  throw new CommandFailure(`server.json is out of date. ${remedy}\n${differences.join('\n')}`, EXIT.failed);
}
