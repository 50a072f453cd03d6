import type { Catalog } from './catalog.js';
import { digestOfJson } from './canonical.js';
import { type EntryOf, type Kind, KINDS, keyOf } from './entries.js';

/** `<kind>:<name, URI or template>` and the digest of each entry. */
const digestsOf = (catalog: Catalog): ReadonlyMap<string, string> =>
  new Map(
    KINDS.flatMap((kind) =>
      catalog[kind].map((entry) => [idOf(kind, entry), digestOfJson(entry)] as readonly [string, string]),
    ),
  );

const idOf = (kind: Kind, entry: EntryOf[Kind]): string => `${kind}:${keyOf(kind, entry)}`;

/** The digest of a contract: of all entries, in any order. */
export const digestOfCatalog = (catalog: Catalog): string =>
  digestOfJson([...digestsOf(catalog)].toSorted(([one], [other]) => (one < other ? -1 : 1)));

/** What is served of a contract that changed, and what to say about it. */
export interface Pinned {
  readonly catalog: Catalog;
  readonly problem: string | undefined;
}

const NOTHING: Catalog = { tool: [], prompt: [], resource: [], template: [] };

/** Serves only what is in the contract that was pinned. */
export class Pin {
  private pinned: ReadonlyMap<string, string> | undefined;

  /** @param pin `digest` for the first contract that is seen, or the digest of the only one to accept */
  constructor(private readonly pin: string) {}

  /** Members that are new or different are left out, because nobody has reviewed them. */
  check(catalog: Catalog): Pinned {
    const digest = digestOfCatalog(catalog);
    if (this.pinned === undefined) {
      if (this.pin !== 'digest' && this.pin !== digest) {
        const problem = `has the contract ${digest}, but ${this.pin} is pinned. None of its members is served. Review it, and pin the new digest`;
        return { catalog: NOTHING, problem };
      }
      this.pinned = digestsOf(catalog);
      return { catalog, problem: undefined };
    }
    const { pinned } = this;
    const differing: string[] = [];
    const known = KINDS.map((kind) => {
      const isKnown = (entry: EntryOf[Kind]) => {
        const id = idOf(kind, entry);
        if (pinned.get(id) === digestOfJson(entry)) return true;
        differing.push(id);
        return false;
      };
      return [kind, (catalog[kind] as readonly EntryOf[Kind][]).filter(isKnown)] as const;
    });
    const names = differing.slice(0, 10).map((id) => JSON.stringify(id.slice(0, 80)));
    const problem =
      differing.length === 0
        ? undefined
        : `has changed its contract to ${digest}. Left out: ${names.join(', ')}${differing.length > 10 ? ' and others' : ''}. Review it, and restart with the new contract pinned`;
    return { catalog: Object.fromEntries(known) as unknown as Catalog, problem };
  }
}
