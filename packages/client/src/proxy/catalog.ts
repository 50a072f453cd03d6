import { type JsonObject, McpError } from '@decorum/core';
import { FAILURES, isObject } from '@decorum/core/internal';

import { ALL_TOOLS } from '../pages.js';
import { fits, type Takes } from './name-filter.js';
import { type EntryOf, type Kind, keyOf, KINDS, readEntry } from './entries.js';

/** Cap on the pages of a list. */
const MAX_PAGES = 1000;

/** Cap on the characters of a cursor: it is kept, to find lists without an end. */
const MAX_CURSOR = 65_536;

/** What an upstream lists, by kind. */
export type Catalog = { readonly [K in Kind]: readonly EntryOf[K][] };

/** Caps on what is taken from an upstream. */
export interface CatalogLimits {
  /** Entries of each list. */
  readonly members: number;
  /** Bytes of each entry's JSON. */
  readonly memberBytes: number;
}

/** How to read the lists of an upstream. */
export interface CatalogSource {
  readonly limits: CatalogLimits;
  /** Which entries to take. */
  readonly filters: { readonly [K in Kind]: Takes<EntryOf[K]> };
  /** Sends a request to the upstream. */
  request(method: string, params: JsonObject): Promise<JsonObject>;
  /** Told of what is left out. */
  warn(problem: string): void;
}

/** The list of each kind: its method, the field with its entries, and the capability that goes with it. */
export const LISTS = {
  tool: { method: 'tools/list', member: 'tools', capability: 'tools' },
  prompt: { method: 'prompts/list', member: 'prompts', capability: 'prompts' },
  resource: { method: 'resources/list', member: 'resources', capability: 'resources' },
  template: { method: 'resources/templates/list', member: 'resourceTemplates', capability: 'resources' },
} as const satisfies Readonly<Record<Kind, object>>;

/** No entries at all. */
export const EMPTY_CATALOG: Catalog = { tool: [], prompt: [], resource: [], template: [] };

/**
 * Reads one list of an upstream, up to its cap.
 * @throws {ConnectionError | McpError} if the upstream doesn't answer
 */
export async function readList<K extends Kind>(kind: K, source: CatalogSource): Promise<readonly EntryOf[K][]> {
  const { limits, filters, warn } = source;
  const entries: EntryOf[K][] = [];
  const keys = new Set<string>();
  let count = 0;
  for await (const given of rawEntries(kind, source)) {
    if (count >= limits.members) {
      warn(`has more than ${limits.members} ${LISTS[kind].member}. The others are left out; raise \`limits.members\``);
      return entries;
    }
    count += 1;
    const read = readEntry(kind, given, limits.memberBytes);
    if ('problem' in read) warn(`has a ${kind}${nameOf(given)} that ${read.problem}. It is left out`);
    else if (!keys.has(keyOf(kind, read.entry)) && filters[kind](read.entry)) {
      // the first of a name counts, for the digest of the contract too
      keys.add(keyOf(kind, read.entry));
      entries.push(read.entry);
    }
  }
  const missing = filters[kind].patterns?.filter((pattern) => ![...keys].some((key) => fits(key, pattern))) ?? [];
  for (const pattern of missing) warn(`has no ${kind} that fits ${JSON.stringify(pattern)} of \`filter\``);
  return entries;
}

/**
 * Reads all lists of an upstream that it offers.
 * @param offers whether the upstream has declared a capability
 */
export async function readCatalog(source: CatalogSource, offers: (capability: string) => boolean): Promise<Catalog> {
  const lists = KINDS.map(async (kind) => {
    return [kind, offers(LISTS[kind].capability) ? await readList(kind, source) : []] as const;
  });
  return Object.fromEntries(await Promise.all(lists)) as unknown as Catalog;
}

async function* rawEntries(kind: Kind, { request }: CatalogSource): AsyncGenerator<JsonObject, void, void> {
  const { method, member } = LISTS[kind];
  const seen = new Set<unknown>();
  let cursor: unknown;
  do {
    const params = { ...(kind === 'tool' && { _meta: ALL_TOOLS }), ...(cursor !== undefined && { cursor }) };
    const page = await request(method, params).catch(unlessMissing);
    const found = page?.[member];
    if (!Array.isArray(found)) return;
    for (const entry of found) yield isObject(entry) ? entry : {};
    cursor = page?.['nextCursor'] ?? undefined;
    if (seen.has(cursor) || (typeof cursor === 'string' && cursor.length > MAX_CURSOR)) return;
    seen.add(cursor);
  } while (cursor !== undefined && seen.size < MAX_PAGES);
}

/** Servers may have resources but no templates. */
function unlessMissing(error: unknown): undefined {
  if (error instanceof McpError && error.code === FAILURES['method-not-found'].code) return undefined;
  throw error;
}

const nameOf = ({ name }: JsonObject): string =>
  typeof name === 'string' ? ` ${JSON.stringify(name.slice(0, 80))}` : '';
