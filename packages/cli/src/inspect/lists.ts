import type { Client } from '@decorum/client';
import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';
import { CommandFailure, EXIT, plainLine, plainText } from 'create-decorum';

import { cut, tableOf } from '../table.js';
import type { Answer } from './answer.js';
import { type Field, namesOf, propertyOf, requiredOf, typeNameOf } from './fields.js';

type Entries = readonly JsonObject[];

interface List {
  /** Its name in `--json`. */
  readonly key: string;
  /** The capability without which the server has none. */
  readonly capability: string;
  readonly titles: readonly string[];
  fetch(client: Client): Promise<unknown>;
  row(entry: JsonObject): readonly unknown[];
}

const describe = ({ title, description }: JsonObject): string =>
  String(description ?? title ?? '').split('\n', 1)[0] ?? '';

function argumentsIn({ inputSchema }: JsonObject): string {
  const schema = isObject(inputSchema) ? inputSchema : {};
  const root: Field = { schema, root: schema };
  const required = requiredOf(root);
  const shown = namesOf(root).map((name) => {
    const type = typeNameOf(propertyOf(root, name) ?? { ...root, schema: {} });
    return `${name}${required.includes(name) ? '' : '?'}:${type}`;
  });
  return shown.join(' ');
}

function promptArguments({ arguments: all }: JsonObject): string {
  const named = Array.isArray(all) ? all.filter(isObject) : [];
  return named.map(({ name, required }) => `${String(name)}${required === true ? '' : '?'}`).join(' ');
}

/** The lists of a server, by the names they have on the command line. */
const LISTS: Readonly<Record<string, List>> = {
  tools: {
    key: 'tools',
    capability: 'tools',
    titles: ['TOOL', 'ARGUMENTS', 'DESCRIPTION'],
    fetch: async (client) => await client.listTools(),
    row: (entry) => [entry['name'], argumentsIn(entry), describe(entry)],
  },
  prompts: {
    key: 'prompts',
    capability: 'prompts',
    titles: ['PROMPT', 'ARGUMENTS', 'DESCRIPTION'],
    fetch: async (client) => await client.listPrompts(),
    row: (entry) => [entry['name'], promptArguments(entry), describe(entry)],
  },
  resources: {
    key: 'resources',
    capability: 'resources',
    titles: ['RESOURCE', 'TYPE', 'NAME'],
    fetch: async (client) => await client.listResources(),
    row: (entry) => [entry['uri'], entry['mimeType'], describe({ ...entry, title: entry['title'] ?? entry['name'] })],
  },
  templates: {
    key: 'resourceTemplates',
    capability: 'resources',
    titles: ['TEMPLATE', 'TYPE', 'NAME'],
    fetch: async (client) => await client.listResourceTemplates(),
    row: (entry) => [
      entry['uriTemplate'],
      entry['mimeType'],
      describe({ ...entry, title: entry['title'] ?? entry['name'] }),
    ],
  },
};

const fetched = async (list: List, client: Client): Promise<Entries> =>
  Object.hasOwn(client.capabilities, list.capability) ? ((await list.fetch(client)) as Entries) : [];

const width = (): number => (process.stdout.isTTY ? process.stdout.columns : Infinity);

/** On a terminal, long arguments must leave room for the description. */
const MAX_ARGUMENTS = 40;

function rendered({ titles, row }: List, entries: Entries): string {
  const cells = entries.map((entry) => row(entry).map(plainLine));
  const isNarrow = titles[1] === 'ARGUMENTS' && width() < Infinity;
  const rows = isNarrow ? cells.map(([name, args = '', ...rest]) => [name, cut(args, MAX_ARGUMENTS), ...rest]) : cells;
  return tableOf(titles, rows, width());
}

/**
 * One list of the server, or all of them.
 * @param name `tools`, `prompts`, `resources` or `templates`
 * @throws {CommandFailure} with `EXIT.usage`
 */
export async function listAnswer(client: Client, name: string | undefined): Promise<Answer> {
  if (name === undefined) return await allLists(client);
  const list = Object.hasOwn(LISTS, name) ? LISTS[name] : undefined;
  if (list === undefined) {
    throw new CommandFailure(`There is no list ${name}. Use one of ${Object.keys(LISTS).join(', ')}.`, EXIT.usage);
  }
  const entries = await fetched(list, client);
  return { json: entries, text: entries.length === 0 ? `There are no ${name}.` : rendered(list, entries) };
}

async function allLists(client: Client): Promise<Answer> {
  const json: Record<string, Entries> = {};
  const tables: string[] = [];
  for (const list of Object.values(LISTS)) {
    const entries = await fetched(list, client);
    json[list.key] = entries;
    if (entries.length > 0) tables.push(rendered(list, entries));
  }
  return { json, text: tables.join('\n\n') };
}

/** What the server is, and what it has. */
export async function overview(client: Client): Promise<Answer> {
  const { serverInfo, revision, capabilities, instructions } = client;
  const lists = await allLists(client);
  const name = serverInfo === undefined ? 'A server without a name' : `${serverInfo.name} ${serverInfo.version}`;
  const first = [name, revision, Object.keys(capabilities).join(', ')].map(plainLine).join('   ').trimEnd();
  return {
    json: { server: serverInfo, revision, capabilities, instructions, ...(lists.json as object) },
    text: [first, plainText(instructions), lists.text].filter((each) => each !== '').join('\n\n'),
  };
}
