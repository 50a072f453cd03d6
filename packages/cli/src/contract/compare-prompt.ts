import type { JsonObject } from '@decorum/core';
import { isObject } from '@decorum/core/internal';

import { type Change, type EntryPair, listingChange, wordingChanges } from './change.js';

const COMPARED = ['name', 'arguments', 'aliases', 'listed'];

/** What has changed of a prompt. */
export function promptChanges(pair: EntryPair): readonly Change[] {
  return [...argumentChanges(pair), ...listingChange(pair), ...wordingChanges(pair, COMPARED)];
}

function argumentChanges({ member, before, after }: EntryPair): readonly Change[] {
  const [old, current] = [argumentsOf(before), argumentsOf(after)];
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((name) => {
    const changes = argumentChange(old.get(name), current.get(name), name);
    return changes.map((change) => ({ ...change, member, path: `arguments.${name}`, field: 'arguments' }));
  });
}

const argumentsOf = ({ arguments: all }: JsonObject): ReadonlyMap<string, JsonObject> =>
  new Map((Array.isArray(all) ? all.filter(isObject) : []).map((each) => [String(each['name']), each]));

function argumentChange(
  old: JsonObject | undefined,
  current: JsonObject | undefined,
  name: string,
): readonly Pick<Change, 'class' | 'why'>[] {
  const subject = `argument "${name}"`;
  if (current === undefined) return [{ class: 'breaking', why: `${subject} is gone` }];
  const isRequired = current['required'] === true;
  if (old === undefined && isRequired) return [{ class: 'breaking', why: `${subject} is now required` }];
  if (old === undefined) return [{ class: 'widening', why: `${subject} is new` }];
  const wasRequired = old['required'] === true;
  const pair = { member: name, before: old, after: current };
  const texts = wordingChanges(pair, ['name', 'required']).map(({ why }) => ({
    class: 'wording' as const,
    why: `${subject} ${why}`,
  }));
  if (wasRequired === isRequired) return texts;
  if (isRequired) return [{ class: 'breaking', why: `${subject} is now required` }, ...texts];
  return [{ class: 'widening', why: `${subject} is no longer required` }, ...texts];
}
