import { newestOf } from '@decorum/core/internal';

import { DISCOVER, LISTS } from './answers.js';
import { isJson, type Json } from './message.js';

type Method = keyof typeof LISTS;

/** The entries of a program's lists as JSON, by URI, URI template or name. */
export type Lists = Readonly<Record<Method, ReadonlyMap<string, string>>>;

/** Sends a request to a program. Resolves with its response. */
export type Ask = (method: string, params: Json) => Promise<Json>;

/** What a program serves to a client. */
export interface Catalog {
  /** The program's `serverInfo`. */
  readonly info: Json;
  readonly lists: Lists;
}

/** A difference between the lists of two programs. */
export interface Change {
  readonly sign: '+' | '-' | '~';
  readonly kind: 'tool' | 'prompt' | 'resource';
  readonly name: string;
}

/** Servers with a search would list only some of their tools. */
const EVERYTHING = { _meta: { 'dev.decorum/tools': 'all' } };

const KEYS = ['uri', 'uriTemplate', 'name'];
const MAX_PAGES = 50;

async function listOf(ask: Ask, method: Method): Promise<Map<string, string>> {
  const entries = new Map<string, string>();
  let cursor: unknown;
  const params = method === 'tools/list' ? EVERYTHING : {};
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { result } = await ask(method, cursor === undefined ? params : { ...params, cursor });
    if (!isJson(result)) break;
    for (const entry of (result[LISTS[method]] as Json[] | undefined) ?? []) {
      const key = KEYS.map((name) => entry[name]).find((value) => typeof value === 'string');
      entries.set(String(key), JSON.stringify(entry));
    }
    cursor = result['nextCursor'];
    if (typeof cursor !== 'string') break;
  }
  return entries;
}

async function readLists(ask: Ask): Promise<Lists> {
  const methods = Object.keys(LISTS) as Method[];
  const lists = await Promise.all(methods.map(async (method) => [method, await listOf(ask, method)] as const));
  return Object.fromEntries(lists) as unknown as Lists;
}

/** The newest revision without sessions. */
export const STATELESS = newestOf('stateless').id;
/** The relay, as a client of the programs. */
export const RELAY = { name: 'decorum-dev', version: '1.0.0' };
/** What the relay can do as a client: it shows cards, so it sees the tools that only hosts with cards see. */
export const RELAY_CAPABILITIES = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};
const INFO = 'io.modelcontextprotocol/serverInfo';
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': STATELESS,
  'io.modelcontextprotocol/clientInfo': RELAY,
  'io.modelcontextprotocol/clientCapabilities': RELAY_CAPABILITIES,
};

/** A session to read a catalog in, and the result of its `initialize`. */
export interface CatalogSession {
  readonly ask: Ask;
  readonly begun: Json;
}

/**
 * Reads the catalog of a program without a session if the program supports that, and else in a session.
 * @param send sends a request without a session
 * @param begin begins a session, or finds one; undefined if there is none
 */
export async function readCatalog(
  send: Ask,
  begin: () => Promise<CatalogSession | undefined>,
): Promise<Catalog | undefined> {
  const ask: Ask = (method, params) =>
    send(method, { ...params, _meta: { ...(params['_meta'] as Json | undefined), ...ENVELOPE } });
  const { result } = await ask(DISCOVER, {});
  const session = isJson(result) ? { ask, begun: result } : await begin();
  if (session === undefined) return undefined;
  const { serverInfo, _meta: meta } = session.begun;
  const info = serverInfo ?? (isJson(meta) ? meta[INFO] : undefined);
  return { info: isJson(info) ? info : {}, lists: await readLists(session.ask) };
}

const KINDS = {
  'tools/list': 'tool',
  'prompts/list': 'prompt',
  'resources/list': 'resource',
  'resources/templates/list': 'resource',
} as const;

/** The differences between the lists of two programs. */
export function differences(before: Lists, after: Lists): Change[] {
  return (Object.keys(KINDS) as Method[]).flatMap((method) => {
    const [old, now] = [before[method], after[method]];
    const kind = KINDS[method];
    const there = [...now.keys()].flatMap((name): Change[] => {
      if (!old.has(name)) return [{ sign: '+', kind, name }];
      return old.get(name) === now.get(name) ? [] : [{ sign: '~', kind, name }];
    });
    const gone = [...old.keys()].filter((name) => !now.has(name));
    return [...there, ...gone.map((name): Change => ({ sign: '-', kind, name }))];
  });
}

/** The `list_changed` notifications for some changes. */
export function notificationsOf(changes: readonly Change[]): string[] {
  const kinds = new Set(changes.map(({ kind }) => kind));
  return [...kinds].map((kind) => `notifications/${kind}s/list_changed`);
}

/** All `list_changed` notifications, for when the changes are unknown. */
export const ALL_CHANGED = ['tool', 'prompt', 'resource'].map((kind) => `notifications/${kind}s/list_changed`);

/** Whether a tool has a card: HTML that hosts show with its result (MCP Apps). */
export function haveCards(lists: Lists): boolean {
  return [...lists['tools/list'].values()].some((text) => {
    if (!text.includes('"ui://')) return false;
    const { _meta: meta } = JSON.parse(text) as Json;
    const { ui, 'ui/resourceUri': flat } = isJson(meta) ? meta : {};
    const uri = isJson(ui) ? ui['resourceUri'] : flat;
    return typeof uri === 'string' && uri.startsWith('ui://');
  });
}
