import { excerpt, invalidOption, isObject, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import type { TimedAlias } from '../metadata/member-options.js';
import { type Alias, type Member, requireName } from './plan.js';

const OPTIONS: OptionTypes<TimedAlias> = { name: 'string', until: 'string' };

const DAY_MS = 86_400_000;

/** The start of a day, in UTC; NaN for anything but a day of the calendar. */
function startOf(day: string): number {
  const start = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(day) : Number.NaN;
  // some parsers take February 30 for a day in March
  return !Number.isNaN(start) && new Date(start).toISOString().startsWith(day) ? start : Number.NaN;
}

/** Whether the last day of an alias is over. */
export const hasEnded = ({ until }: Alias): boolean => until !== undefined && Date.now() >= startOf(until) + DAY_MS;

/**
 * The aliases of a tool or prompt, with the prefix of its provider; undefined if it has none.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, `DECORUM_INVALID_NAME`
 */
export function aliasesOf({
  options: { aliases = [], name },
  key,
  prefix,
  where,
}: Member<'tool' | 'prompt'>): readonly Alias[] | undefined {
  return aliases.length === 0 ? undefined : parsedAliases(aliases, { own: name ?? key, prefix, where });
}

/**
 * Reads aliases.
 * @param place.own the member's own name
 * @param place.prefix put before each alias
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, `DECORUM_INVALID_NAME`
 */
export function parsedAliases(
  aliases: readonly unknown[],
  { own, prefix, where }: { readonly own: string; readonly prefix: string; readonly where: string },
): readonly Alias[] {
  const parsed = aliases.map((given) => aliasOf(given, where));
  const names = parsed.map(({ name }) => name);
  const twice = names.find((each, index) => names.indexOf(each) < index);
  if (twice !== undefined) throw invalidOption(where, 'aliases', `has "${twice}" twice. Remove one of them`);
  if (names.includes(own)) {
    throw invalidOption(where, 'aliases', `has "${own}", which is the member's own name. Remove it`);
  }
  return prefixed(parsed, prefix, where);
}

/** @throws {DecorumError} `DECORUM_INVALID_NAME` for a name that clients may reject */
export function prefixed(aliases: readonly Alias[], prefix: string, where: string): readonly Alias[] {
  return aliases.map((alias) => {
    const name = prefix + alias.name;
    requireName(name, `${where} (aliases)`);
    return { ...alias, name };
  });
}

function aliasOf(given: unknown, where: string): Alias {
  if (typeof given === 'string') return { name: given, until: undefined };
  if (!isObject(given)) {
    const problem = `has ${excerpt(String(JSON.stringify(given)))}, which is no name. Write ['list_bills']`;
    throw invalidOption(where, 'aliases', problem);
  }
  const place = `${where} (aliases)`;
  requireOptions(place, given, OPTIONS);
  const { name, until } = given as Partial<TimedAlias>;
  if (name === undefined)
    throw invalidOption(place, 'name', "is missing. Write { name: 'list_bills', until: '2027-01-31' }");
  if (until !== undefined && Number.isNaN(startOf(until))) {
    throw invalidOption(place, 'until', `is "${until}", which is not a day. Write the last one, such as '2027-01-31'`);
  }
  return { name, until };
}
