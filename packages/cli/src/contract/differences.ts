import type { JsonObject } from '@decorum/core';

import type { Change, ChangeClass } from './change.js';
import { listChanges } from './compare-lists.js';
import { SchemaComparer } from './schema/compare-schemas.js';
import { type Contract, KEYS, LIST_NAMES, type Lists } from './contract.js';

/** A difference between two contracts. */
export interface Difference {
  readonly class: ChangeClass;
  /** Name, URI or URI template of the member; the date for a revision. */
  readonly member: string;
  /** What has changed of it, as in `arguments.currency`. */
  readonly path: string;
  readonly why: string;
}

const ORDER: readonly ChangeClass[] = ['breaking', 'widening', 'wording'];

const filled = (lists: Partial<Lists> = {}): Lists => ({
  tools: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
  ...lists,
});

/** What clients that know one contract notice of another: first what breaks them. */
export function differences(before: Contract, after: Contract): readonly Difference[] {
  const common = Object.keys(before.revisions).filter((date) => Object.hasOwn(after.revisions, date));
  const found = new Found();
  const schemas = new SchemaComparer();
  for (const date of common) {
    const [old, current] = [filled(before.revisions[date]), filled(after.revisions[date])];
    found.look(date, [old, current]);
    for (const change of listChanges(old, current, schemas)) found.add(change, date);
  }
  const all = [...serverChanges(before, after), ...found.all()];
  return ORDER.flatMap((wanted) => all.filter((each) => each.class === wanted));
}

function serverChanges({ server, revisions }: Contract, after: Contract): readonly Difference[] {
  const gone = Object.keys(revisions).filter((date) => !Object.hasOwn(after.revisions, date));
  const added = Object.keys(after.revisions).filter((date) => !Object.hasOwn(revisions, date));
  const name = { class: 'wording', member: server.name, path: 'server.name' } as const;
  return [
    ...gone.map((date) => ({
      ...REVISION,
      class: 'breaking' as const,
      member: date,
      why: 'the revision is no longer served',
    })),
    ...added.map((date) => ({
      ...REVISION,
      class: 'widening' as const,
      member: date,
      why: 'the revision is served now',
    })),
    ...(server.name === after.server.name ? [] : [{ ...name, why: `the server is called ${after.server.name} now` }]),
  ];
}

const REVISION = { path: 'revisions' };

/** Changes, with the revisions that have them. */
class Found {
  private readonly changes = new Map<string, { readonly change: Change; readonly dates: string[] }>();
  /** The revisions in which an entry has a field, before or after. */
  private readonly fields = new Map<string, Set<string>>();

  look(date: string, both: readonly Lists[]): void {
    for (const lists of both)
      for (const list of LIST_NAMES) for (const entry of lists[list]) this.note(date, String(entry[KEYS[list]]), entry);
  }

  private note(date: string, member: string, entry: JsonObject): void {
    const aliases = Array.isArray(entry['aliases']) ? entry['aliases'].map(String) : [];
    for (const name of [member, ...aliases]) {
      for (const field of ['', ...Object.keys(entry)]) {
        const key = `${name}\n${field}`;
        this.fields.set(key, (this.fields.get(key) ?? new Set()).add(date));
      }
    }
  }

  add(change: Change, date: string): void {
    const key = JSON.stringify([change.class, change.member, change.path, change.why]);
    const known = this.changes.get(key);
    if (known === undefined) this.changes.set(key, { change, dates: [date] });
    else if (!known.dates.includes(date)) known.dates.push(date);
  }

  /** Names the revisions of a change, unless all have it that could. */
  all(): readonly Difference[] {
    return [...this.changes.values()].map(({ change: { field = '', why, ...change }, dates }) => {
      const possible = this.fields.get(`${change.member}\n${field}`)?.size ?? 0;
      return { ...change, why: dates.length >= possible ? why : `${why} (in ${dates.join(', ')})` };
    });
  }
}
