import { quantile } from './slices.js';

/** The bar (target) of a line: a minimum ratio of limit ÷ server, a maximum cost or, for `noise`, an equal cost. */
export type Bar = { readonly atLeast: number } | { readonly atMost: number } | { readonly equal: number };

/** The bars of `--check`, by case and line. Lines without a bar are only reported. */
export const BARS: Readonly<Record<string, Readonly<Record<string, Bar>>>> = {
  noise: { 'limit again': { equal: 1 } },
  add: { session: { atLeast: 1 }, stateless: { atLeast: 0.95 } },
  echo: { session: { atLeast: 0.85 }, stateless: { atLeast: 0.85 } },
  'add-1000': { 'session ÷ 4 tools': { atLeast: 0.97 }, 'stateless ÷ 4 tools': { atLeast: 0.97 } },
  'list-1000': { session: { atLeast: 2.5 }, stateless: { atLeast: 2.5 } },
  blob: { session: { atLeast: 0.95 }, stateless: { atLeast: 0.95 } },
  'progress-1000': { session: { atLeast: 5 }, stateless: { atLeast: 5 } },
  auth: { 'token cached': { atLeast: 1 / 1.15 }, 'embedded token': { atLeast: 0.8 } },
  plugins: {
    'session, telemetry': { atLeast: 0.92 },
    'stateless, telemetry': { atLeast: 0.92 },
    'session, metrics': { atLeast: 0.92 },
    'stateless, metrics': { atLeast: 0.92 },
  },
  fastify: { session: { atLeast: 0.88 }, stateless: { atLeast: 0.83 } },
  node: { session: { atLeast: 1.08 }, stateless: { atLeast: 1.03 } },
  stdio: { session: { atLeast: 0.9 }, 'stateless ÷ same bytes': { atLeast: 0.9 } },
  sessions: {
    idle: { atMost: 1024 },
    'with a stream, more': { atMost: 5 * 1024 },
    // two collections never leave exactly the same heap, but a real leak of any object per call would exceed this
    'kept per call, session': { atMost: 16 },
    'kept per call, stateless': { atMost: 16 },
  },
  cold: { weather: { atLeast: 1 / 1.1 }, 'weather, bundled ÷ as built': { atLeast: 1 / 0.6 } },
};

/**
 * Tolerance of a bar, as a fraction. Measuring the same route against itself (the case `noise`) on two busy cores gave
 * ratios with a standard deviation of 1.9 % per start and 0.9 % for the median of three starts. 95 % of the medians
 * were within 2.5 % of 1.
 */
export const MARGIN = 0.03;

/** If the bounds of the median are further apart than this fraction of it, the starts are too noisy for a verdict. */
const NOISY = 0.05;

/** Whether a bar is reached. `noisy` means that the starts disagree too much to tell. */
export type Verdict = 'reached' | 'missed' | 'noisy';

/**
 * Bounds between which the true median lies, from the order of the values alone (the sign test). Of three values, these
 * are the lowest and the highest; of nine, the third lowest and the third highest. The median is above the lower bound
 * in 88 to 93 of 100 cases, and as often below the upper one. So more starts narrow the bounds, however noisy the
 * machine is.
 */
function boundsOfMedian(values: readonly number[]): readonly [number, number] {
  const sorted = values.toSorted((a, b) => a - b);
  const cut = Math.max(0, Math.floor(sorted.length / 3) - 1);
  return [sorted[cut] as number, sorted.at(-1 - cut) as number];
}

/** Judges the values of all starts. If both bounds of the median reach or miss the bar, their distance doesn't matter. */
export function judge(values: readonly number[], bar: Bar): Verdict {
  if (values.length === 0) return 'noisy';
  const median = quantile(values, 0.5);
  const bounds = boundsOfMedian(values);
  const isNoisy = bounds[1] - bounds[0] > NOISY * median;
  const isReached = (reached: number) => reaches(reached, bar);
  if ('equal' in bar) return isReached(median) && !isNoisy ? 'reached' : 'noisy';
  if (bounds.every(isReached)) return 'reached';
  if (!bounds.some(isReached)) return 'missed';
  if (isNoisy) return 'noisy';
  return isReached(median) ? 'reached' : 'missed';
}

function reaches(value: number, bar: Bar): boolean {
  if ('equal' in bar) return Math.abs(value - bar.equal) <= MARGIN * bar.equal;
  return 'atLeast' in bar ? value >= bar.atLeast * (1 - MARGIN) : value <= bar.atMost * (1 + MARGIN);
}
