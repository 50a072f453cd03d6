import type { JsonObject } from '@decorum/core';
import { CommandFailure, EXIT, plainLine } from 'create-decorum';

import type { Contract } from '../contract/contract.js';
import { contractOfProgram } from '../contract/program.js';
import { type ClientName, CLIENTS, type Finding, type Lists } from './rule.js';
import { RULES } from './rules/index.js';
import { tokensOf } from './tokens.js';

/** How many spots of one rule are printed. `--json` has all of them. */
const MAX_SPOTS = 10;

const isClient = (name: string): name is ClientName => (CLIENTS as readonly string[]).includes(name);

function chosen(names: readonly string[]): readonly ClientName[] {
  const unknown = names.find((name) => !isClient(name));
  if (unknown !== undefined) {
    throw new CommandFailure(`There are no rules for ${unknown}. Pass one of ${CLIENTS.join(', ')}.`, EXIT.usage);
  }
  return names.length === 0 ? CLIENTS : ['all', ...names.filter(isClient)];
}

/**
 * What the rules find in the lists of a server: errors first, then in the order of the rules.
 * @param clients whose rules apply
 */
export function findingsIn(lists: Lists, clients: readonly ClientName[] = CLIENTS): Finding[] {
  const found = RULES.filter(({ client }) => clients.includes(client)).flatMap((rule) => {
    const { client, name, severity, fix, source, find } = rule;
    return [...find(lists)].map((spot): Finding => ({ client, rule: name, ...spot, severity, fix, source }));
  });
  return found.sort((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'));
}

/** The lines for people: `gemini  search: … (URL) → what to change`. */
function linesOf(findings: readonly Finding[]): string[] {
  const width = Math.max(...CLIENTS.map((name) => name.length));
  const rules = [...new Set(findings.map(({ rule }) => rule))];
  return rules.flatMap((name) => {
    const group = findings.filter(({ rule }) => rule === name);
    const lines = group.slice(0, MAX_SPOTS).map(({ client, member, path, severity, why, source, fix }) => {
      const where = path === '' ? member : `${member} ${path}`;
      const label = severity === 'warning' ? 'warning: ' : '';
      return plainLine(`${client.padEnd(width)}  ${where}: ${label}${why} (${source}) → ${fix}`);
    });
    const more = group.length - lines.length;
    return more > 0 ? [...lines, `${' '.repeat(width)}  … and ${more} more of the same. --json lists all`] : lines;
  });
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function summaryOf(findings: readonly Finding[], { tools, tokens, isShort }: Lists): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const size = `${counted(tools.length, 'tool')}, about ${counted(tokens, 'token')}${isShort ? ', if all were listed' : ''}`;
  return `${counted(errors, 'error')}, ${counted(findings.length - errors, 'warning')}   ${size}`;
}

/** What the newest revision lists, as clients see it. */
function listsIn({ server, revisions, isSearched = false }: Contract): Lists {
  const newest = Object.keys(revisions).sort().at(-1) ?? '';
  const all = revisions[newest];
  const listed = (entries: readonly JsonObject[] = []) => entries.filter((entry) => entry['listed'] !== false);
  const tools = listed(all?.tools);
  return {
    server: server.name,
    tools,
    prompts: listed(all?.prompts),
    resources: listed(all?.resources),
    templates: listed(all?.resourceTemplates),
    tokens: tokensOf(tools),
    isShort: isSearched,
  };
}

/** What `decorum lint` was called with. */
export interface LintOptions {
  readonly entry: string | undefined;
  /** Names of clients; empty for all. */
  readonly clients: readonly string[];
  readonly json: boolean;
}

/**
 * Prints what clients refuse or cut of a program's lists. Sets the exit code to `EXIT.failed` if there are errors.
 * @throws {CommandFailure}
 */
export async function lint({ entry, clients, json }: LintOptions): Promise<void> {
  const names = chosen(clients);
  const lists = listsIn(await contractOfProgram(entry));
  const findings = findingsIn(lists, names);
  const text = json ? JSON.stringify(findings, null, 2) : [...linesOf(findings), summaryOf(findings, lists)].join('\n');
  process.stdout.write(`${text}\n`);
  if (findings.some(({ severity }) => severity === 'error')) process.exitCode = EXIT.failed;
}
