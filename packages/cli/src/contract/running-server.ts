import { type Client, connectClient, ConnectionError } from '@decorum/client';
import { type JsonObject, McpError } from '@decorum/core';
import { CommandFailure, EXIT } from 'create-decorum';

import { failureOf } from '../inspect/failure.js';
import { MAX_MESSAGE_BYTES } from '../inspect/target.js';
import { servesUri } from './compare-resource.js';
import { type Contract, KEYS, LIST_NAMES, type Lists } from './contract.js';

/** How to reach a running server. */
export interface RunningServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** What is listed, with the capability that goes with it. */
const CAPABILITIES = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  resourceTemplates: 'resources',
} as const;

/**
 * The contract of a running server, as the caller with these headers sees it.
 * @param dates the revisions to ask for. Those that the server doesn't speak are left out
 * @param known URIs of resources that are listed although a template serves them. Others come and go
 * @throws {CommandFailure} if the server can't be reached, or speaks none of the revisions
 */
export async function contractOfServer(
  server: RunningServer,
  dates: readonly string[],
  known: ReadonlySet<string>,
): Promise<Contract> {
  if (!URL.canParse(server.url)) throw new CommandFailure(`${server.url} is not a URL.`, EXIT.usage);
  const revisions: Record<string, Lists> = {};
  let name = '';
  const refusals: unknown[] = [];
  for (const date of dates) {
    try {
      const client = await connectTo(server, date).catch((error: unknown) => {
        // all other errors would come again with the next revision
        if (!isRefusal(error)) throw error;
        refusals.push(error);
      });
      if (client === undefined) continue;
      revisions[date] = withoutInstances(await listsOf(client), known);
      name = client.serverInfo?.name ?? server.url;
    } catch (error) {
      throw failureOf(error);
    }
  }
  // what isn't an MCP server says more than that it doesn't speak a revision
  if (Object.keys(revisions).length === 0)
    throw failureOf(refusals.find((each) => codeOf(each) === 'protocol') ?? refusals.at(-1));
  return { server: { name }, revisions };
}

const codeOf = (error: unknown) => (error instanceof ConnectionError ? error.code : undefined);

/** Whether a server that can be reached doesn't speak the revision that it was asked for. */
const isRefusal = (error: unknown): boolean =>
  error instanceof McpError || ['protocol', 'unsupported-revision'].includes(codeOf(error) ?? '');

/** Servers with a search would list only some of their tools. */
const EVERYTHING = { 'decorum-tools': 'all' };

const connectTo = ({ url, headers, timeoutMs }: RunningServer, revision: string): Promise<Client> =>
  connectClient(new URL(url), {
    clientInfo: { name: 'decorum-diff', version: '0.0.0' },
    revision,
    timeoutMs,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    headers: { ...EVERYTHING, ...headers },
  });

/** All lists of a server. Closes the client. */
async function listsOf(client: Client): Promise<Lists> {
  try {
    const lists: [string, readonly JsonObject[]][] = [];
    for (const list of LIST_NAMES) lists.push([list, distinct(await entriesOf(client, list), KEYS[list])]);
    return Object.fromEntries(lists) as unknown as Lists;
  } finally {
    await client.close();
  }
}

async function entriesOf(client: Client, list: keyof Lists): Promise<readonly JsonObject[]> {
  if (!Object.hasOwn(client.capabilities, CAPABILITIES[list])) return [];
  const fetched = {
    tools: () => client.listTools(),
    prompts: () => client.listPrompts(),
    resources: () => client.listResources(),
    resourceTemplates: () => client.listResourceTemplates(),
  };
  return (await fetched[list]()) as unknown as readonly JsonObject[];
}

/** Entries with a name. The first of each name counts. */
function distinct(entries: readonly JsonObject[], key: string): readonly JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const entry of entries) {
    const name = entry[key];
    if (typeof name === 'string' && !found.has(name)) found.set(name, entry);
  }
  return [...found.values()];
}

/** Leaves out resources that a template lists: they are its data. */
function withoutInstances(lists: Lists, known: ReadonlySet<string>): Lists {
  const templates = lists.resourceTemplates.map(({ uriTemplate }) => String(uriTemplate));
  const isInstance = (uri: string) => !known.has(uri) && templates.some((template) => servesUri(template, uri));
  return { ...lists, resources: lists.resources.filter(({ uri }) => !isInstance(String(uri))) };
}
