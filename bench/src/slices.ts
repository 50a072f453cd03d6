import type { Entrant } from './entrant.js';

/** How long a slice is, in milliseconds of CPU: long enough to have its share of collections, short enough for many. */
const SLICE_MS = 50;

/**
 * How many slices each gets at least. There are more, for so many milliseconds, while the machine is not quiet, which it
 * is when the middle half of the limit's slices is within this share of their median.
 */
const SLICES = 12;
const MORE_MS = 8000;
const QUIET = 0.08;

/** The cost of one entrant's calls, in microseconds of CPU per call, slice by slice. */
export type Slices = readonly number[];

/**
 * Runs all entrants in short slices of random order, so that whatever happens to the machine happens to all.
 * @param entrants the first is the limit, which tells whether the machine is quiet
 * @param warmUp calls that each makes before: V8 needs thousands to settle
 */
export async function interleave(
  entrants: ReadonlyMap<string, Entrant>,
  warmUp: number,
): Promise<ReadonlyMap<string, Slices>> {
  for (const entrant of entrants.values()) await entrant.prepare();
  // in four parts, so that none is compiled for itself alone
  for (let part = 0; part < 4; part += 1) {
    for (const entrant of shuffled(entrants.values())) await entrant.slice(Math.ceil(warmUp / 4));
  }
  const calls = new Map<string, number>();
  for (const [name, entrant] of entrants) calls.set(name, await callsPerSlice(entrant, Math.ceil(warmUp / 8)));
  const costs = new Map([...entrants.keys()].map((name) => [name, [] as number[]]));
  const [limit = []] = costs.values();
  const end = performance.now() + MORE_MS;
  while (limit.length < SLICES || (performance.now() < end && !isQuiet(limit))) {
    for (const [name, entrant] of shuffled(entrants)) {
      const count = calls.get(name) ?? 1;
      costs.get(name)?.push((await entrant.slice(count)) / count);
    }
  }
  for (const entrant of entrants.values()) await entrant.finish();
  return costs;
}

const isQuiet = (slices: Slices): boolean =>
  quantile(slices, 0.75) - quantile(slices, 0.25) <= QUIET * quantile(slices, 0.5);

async function callsPerSlice(entrant: Entrant, calls: number): Promise<number> {
  return Math.max(1, Math.round((SLICE_MS * 1000 * calls) / (await entrant.slice(calls))));
}

/** In another order each time: what a call costs depends a little on who had the core before. */
export function shuffled<T>(items: Iterable<T>): T[] {
  return [...items]
    .map((item) => ({ item, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/** The value below which that share of all values is. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? NaN;
  return below + ((sorted[Math.ceil(place)] ?? NaN) - below) * (place - Math.floor(place));
}

/** The cheap quarter of the slices: those that nothing disturbed. Steadier than the cheapest, which may be luck. */
export const firstQuartile = (values: readonly number[]): number => quantile(values, 0.25);
export const median = (values: readonly number[]): number => quantile(values, 0.5);
