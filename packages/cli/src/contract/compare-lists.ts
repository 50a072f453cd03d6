/** Compares the lists of one revision: finds what became of each entry. */
import type { JsonObject } from '@decorum/core';

import type { Change, EntryPair } from './change.js';
import { promptChanges } from './compare-prompt.js';
import { resourceChanges, servesUri, serviceOf } from './compare-resource.js';
import { toolChanges } from './compare-tool.js';
import type { Lists } from './contract.js';
import type { SchemaComparer } from './schema/compare-schemas.js';
import { mostSimilar } from './similar.js';

type Entries = readonly JsonObject[];

/** What has changed of the lists of one revision. */
export function listChanges(before: Lists, after: Lists, schemas: SchemaComparer): readonly Change[] {
  const compare = (pair: EntryPair) => toolChanges(pair, schemas);
  return [
    ...namedChanges({ before: before.tools, after: after.tools }, { kind: 'tool', compare }),
    ...namedChanges({ before: before.prompts, after: after.prompts }, { kind: 'prompt', compare: promptChanges }),
    ...uriChanges(before, after),
    ...templateChanges(before.resourceTemplates, after.resourceTemplates),
  ];
}

interface Named {
  readonly kind: 'tool' | 'prompt';
  compare(pair: EntryPair): readonly Change[];
}

const nameOf = (entry: JsonObject): string => String(entry['name']);

const aliasesOf = ({ aliases }: JsonObject): readonly string[] => (Array.isArray(aliases) ? aliases.map(String) : []);

/** The entries by what they can be called. A name wins over an alias. */
const callable = (entries: Entries): ReadonlyMap<string, JsonObject> =>
  new Map([
    ...entries.flatMap((entry) => aliasesOf(entry).map((alias) => [alias, entry] as const)),
    ...entries.map((entry) => [nameOf(entry), entry] as const),
  ]);

function namedChanges(
  { before, after }: { readonly before: Entries; readonly after: Entries },
  { kind, compare }: Named,
): readonly Change[] {
  const [old, current] = [callable(before), callable(after)];
  const added = after.filter((entry) => !old.has(nameOf(entry)));
  const renamed = new Set<string>();
  const changes = [...old].flatMap(([name, entry]): readonly Change[] => {
    const target = current.get(name);
    if (target === undefined) return [goneChange({ name, entry }, kind, added)];
    const pair = { member: name, before: entry, after: target };
    if (nameOf(entry) !== name) {
      // what an alias and its name share is said once
      return current.get(nameOf(entry)) === target ? [] : compare(pair);
    }
    if (nameOf(target) === name) return compare(pair);
    renamed.add(nameOf(target));
    const why = `is called ${nameOf(target)} now; the old name is an alias`;
    return [{ class: 'widening', member: name, path: 'name', why }, ...compare(pair)];
  });
  const unknown = added.filter((entry) => !renamed.has(nameOf(entry)));
  return [
    ...changes,
    ...unknown.map((entry) => newChange(nameOf(entry), kind)),
    ...after.flatMap((entry) => aliasChanges(entry, old)),
  ];
}

const newChange = (member: string, kind: string): Change => ({
  class: 'widening',
  member,
  path: '',
  why: `the ${kind} is new`,
});

function goneChange(
  { name, entry }: { readonly name: string; readonly entry: JsonObject },
  kind: string,
  added: Entries,
): Change {
  const common = { class: 'breaking', member: name, path: 'name' } as const;
  if (nameOf(entry) !== name) return { ...common, why: `the alias of ${nameOf(entry)} is gone` };
  const similar = mostSimilar(entry, added);
  const remedy = similar && ` → add aliases: ['${name}'] to ${nameOf(similar)}`;
  return { ...common, why: `the ${kind} is gone${remedy ?? ''}` };
}

/** Aliases that are new, of entries that are not. */
function aliasChanges(entry: JsonObject, old: ReadonlyMap<string, JsonObject>): readonly Change[] {
  const name = nameOf(entry);
  if (!old.has(name)) return [];
  return aliasesOf(entry)
    .filter((alias) => !old.has(alias))
    .map((alias) => ({
      class: 'widening',
      member: name,
      path: 'aliases',
      why: `can also be called ${alias}`,
      field: 'aliases',
    }));
}

const byKey = (entries: Entries, key: string): ReadonlyMap<string, JsonObject> =>
  new Map(entries.map((entry) => [String(entry[key]), entry]));

function uriChanges(before: Lists, after: Lists): readonly Change[] {
  const [old, current] = [byKey(before.resources, 'uri'), byKey(after.resources, 'uri')];
  const changes = [...old].flatMap(([member, entry]): readonly Change[] => {
    const target = current.get(member);
    if (target !== undefined) return resourceChanges({ member, before: entry, after: target });
    const template = after.resourceTemplates.find((each) => servesUri(String(each['uriTemplate']), member));
    if (template === undefined)
      return [{ class: 'breaking', member, path: 'uri', why: goneWhy(entry, [...current], old) }];
    const why = `is on no list any more, but ${String(template['uriTemplate'])} serves it`;
    const moved = { class: 'wording', member, path: 'uri', why } as const;
    return [moved, ...resourceChanges({ member, before: entry, after: { ...entry, mimeType: template['mimeType'] } })];
  });
  const added = [...current.keys()].filter((uri) => !old.has(uri));
  return [...changes, ...added.map((uri) => newChange(uri, 'resource'))];
}

function goneWhy(
  entry: JsonObject,
  current: readonly (readonly [uri: string, JsonObject])[],
  old: ReadonlyMap<string, JsonObject>,
): string {
  const [moved] = current.filter(([uri, each]) => !old.has(uri) && each['name'] === entry['name']);
  return moved === undefined ? 'the resource is gone' : `the resource has another URI: ${moved[0]}`;
}

function templateChanges(before: Entries, after: Entries): readonly Change[] {
  const [old, current] = [byKey(before, 'uriTemplate'), byKey(after, 'uriTemplate')];
  const added = new Set([...current.keys()].filter((template) => !old.has(template)));
  const changes = [...old].flatMap(([member, entry]): readonly Change[] => {
    const same = current.get(member);
    if (same !== undefined) return resourceChanges({ member, before: entry, after: same });
    const common = { member, path: 'uriTemplate' };
    const serving = (how: string) => [...current].find(([template]) => serviceOf(member, template) === how);
    const [wider, target] = serving('same') ?? [];
    if (wider !== undefined && target !== undefined) {
      added.delete(wider);
      const pair = { member, before: entry, after: target };
      return [
        { ...common, class: 'widening', why: `is ${wider} now, which serves the same URIs` },
        ...resourceChanges(pair),
      ];
    }
    const [other] = serving('renamed') ?? [];
    if (other === undefined) return [{ ...common, class: 'breaking', why: 'the template is gone' }];
    added.delete(other);
    return [{ ...common, class: 'breaking', why: `its variables have other names: it is ${other} now` }];
  });
  return [...changes, ...[...added].map((template) => newChange(template, 'template'))];
}
