import { readFileSync } from 'node:fs';

/** The part of a heap snapshot that a census reads. */
interface Snapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: readonly string[]; readonly node_types: readonly (readonly string[])[] };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** Number of objects by the name of their class. */
export type Census = ReadonlyMap<string, number>;

/** Counts the objects in a heap snapshot. */
export function censusOf(file: string): Census {
  const { snapshot, nodes, strings } = JSON.parse(readFileSync(file, 'utf8')) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [kindAt, nameAt] = [fields.indexOf('type'), fields.indexOf('name')];
  const objects = types[kindAt]?.indexOf('object');
  const counts = new Map<string, number>();
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (nodes[at + kindAt] !== objects) continue;
    const name = strings[nodes[at + nameAt] ?? 0] ?? '';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** A class with more objects than before. */
export interface Growth {
  readonly name: string;
  readonly before: number;
  readonly after: number;
}

/**
 * The classes that have at least `least` more objects than before.
 * @param before census of a server that has done everything a few times
 * @param after census of a server that has done everything many times
 */
export function growth(before: Census, after: Census, least: number): Growth[] {
  const all = [...after].map(([name, count]) => ({ name, before: before.get(name) ?? 0, after: count }));
  return all
    .filter((each) => each.after - each.before >= least)
    .sort((a, b) => b.after - b.before - a.after + a.before);
}
