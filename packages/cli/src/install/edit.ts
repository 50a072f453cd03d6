/** Adds entries to the text of a configuration, and takes them out again. */
import { isDeepStrictEqual } from 'node:util';

import { type Format, mapped, type Parsed, type Place, sectionOf, TextProblem, type Value } from './formats/format.js';

/** Where an entry is in a file. */
export interface Target {
  readonly format: Format;
  readonly place: Place;
}

/** The entry of a text; undefined if there is none. */
export const entryOf = (text: string, { format, place }: Target): unknown =>
  sectionOf(format.parse(text, place), place)?.get(place.name);

/** Whether a text has an entry with this value. */
export const hasEntry = (text: string, target: Target, value: Value): boolean =>
  isDeepStrictEqual(entryOf(text, target), mapped(value));

/** Everything besides an entry. A section that is empty without it doesn't count. */
function others(parsed: Parsed, place: Place): Parsed {
  const section = new Map(sectionOf(parsed, place));
  section.delete(place.name);
  const rest = new Map(parsed);
  if (section.size === 0) rest.delete(place.section);
  else rest.set(place.section, section);
  return rest;
}

/** The parsed text of an edit; undefined if it can't be parsed. */
function edited(text: string, { format, place }: Target): Parsed | undefined {
  try {
    return format.parse(text, place);
  } catch (error) {
    if (error instanceof TextProblem) return undefined;
    throw error;
  }
}

/** Makes sure that an edit has changed the entry, and nothing else. */
function checked(before: string, after: string, { target, entry }: { target: Target; entry: unknown }): string {
  const { format, place } = target;
  const parsed = edited(after, target);
  const isRight = parsed && isDeepStrictEqual(sectionOf(parsed, place)?.get(place.name), entry);
  if (isRight && isDeepStrictEqual(others(parsed, place), others(format.parse(before, place), place))) return after;
  throw new TextProblem('it is written in a way that this command cannot edit', 0);
}

/**
 * Adds an entry to a text, or replaces it.
 * @throws {TextProblem} if the text can't be parsed or edited
 */
export function withEntry(text: string, target: Target, value: Value): string {
  const { format, place } = target;
  const isNew = entryOf(text, target) === undefined;
  const free = isNew ? text : format.remove(text, place, false);
  return checked(text, format.add(free, place, value), { target, entry: mapped(value) });
}

/**
 * Takes an entry out of a text.
 * @param dropsSection whether to remove its section, too, if it is empty then
 * @throws {TextProblem} if the text can't be parsed or edited
 */
export const withoutEntry = (text: string, target: Target, dropsSection: boolean): string =>
  checked(text, target.format.remove(text, target.place, dropsSection), { target, entry: undefined });

/** The value of an entry, as JSON has it. */
export function unmapped(value: unknown): Value {
  if (Array.isArray(value)) return value.map(unmapped);
  if (!(value instanceof Map)) return value as Value;
  return Object.fromEntries([...(value as Parsed)].map(([key, each]) => [key, unmapped(each)]));
}

/**
 * Whether an entry has replaced another one, and nothing else has changed.
 * @param before the text from before
 */
export function isReplaced(before: string, text: string, target: Target): boolean {
  try {
    const [old, now] = [entryOf(before, target), entryOf(text, target)];
    if (old === undefined || isDeepStrictEqual(old, now)) return false;
    return withEntry(before, target, unmapped(now)) === text;
  } catch (error) {
    if (error instanceof TextProblem) return false;
    throw error;
  }
}

/** More entries than people install. */
const MAX_ADDED = 20;

/**
 * The entries that make an earlier text the text of today; undefined if something else has changed.
 * A text that results from installing can so be restored with every byte.
 */
export function addedSince(
  before: string,
  text: string,
  target: Target,
): readonly (readonly [name: string, value: Value])[] | undefined {
  const { format, place } = target;
  try {
    const old = sectionOf(format.parse(before, place), place);
    const section = sectionOf(format.parse(text, place), place) ?? new Map<string, unknown>();
    const added = [...section]
      .filter(([name]) => !old?.has(name))
      .map(([name, value]) => [name, unmapped(value)] as const);
    if (added.length > MAX_ADDED) return undefined;
    return withEntries(before, target, added) === text ? added : undefined;
  } catch (error) {
    if (error instanceof TextProblem) return undefined;
    throw error;
  }
}

/** Adds entries, in their order. */
export function withEntries(
  text: string,
  { format, place: { section } }: Target,
  entries: readonly (readonly [name: string, value: Value])[],
): string {
  let result = text;
  for (const [name, value] of entries) result = format.add(result, { section, name }, value);
  return result;
}
