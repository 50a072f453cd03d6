import type { Entrant } from './entrant.js';

/**
 * Length of a slice in milliseconds of CPU time. Long enough to include garbage collections, short enough for many
 * slices.
 */
const SLICE_MS = 50;

/**
 * Minimum number of slices per entrant. While the machine is not quiet, slices are added for up to `MORE_MS`. It is
 * quiet if the interquartile range of the limit's slices is at most `QUIET` times their median.
 */
const SLICES = 12;
const MORE_MS = 8000;
const QUIET = 0.08;

/** Microseconds of CPU time per call of one entrant, for each slice. */
export type Slices = readonly number[];

/**
 * Runs all entrants in short slices in random order, so that disturbances affect all of them.
 * @param entrants the first one is the limit, which shows whether the machine is quiet
 * @param warmUp warm-up calls of each entrant; V8 needs thousands to settle
 */
export async function interleave(
  entrants: ReadonlyMap<string, Entrant>,
  warmUp: number,
): Promise<ReadonlyMap<string, Slices>> {
  for (const entrant of entrants.values()) await entrant.prepare();
  // in four rounds, so that V8 doesn't optimize shared code for a single entrant
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

/** Shuffles items, because the cost of a call depends slightly on the previous user of the core. */
export function shuffled<T>(items: Iterable<T>): T[] {
  return [...items]
    .map((item) => ({ item, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/** The quantile of values; `share` is from 0 to 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? NaN;
  return below + ((sorted[Math.ceil(place)] ?? NaN) - below) * (place - Math.floor(place));
}

/** The first quartile represents undisturbed slices. It is more stable than the minimum, which may be an outlier. */
export const firstQuartile = (values: readonly number[]): number => quantile(values, 0.25);
export const median = (values: readonly number[]): number => quantile(values, 0.5);
