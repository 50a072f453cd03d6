import { quantile } from './slices.js';

/** What a line has to reach: at least a ratio of limit ÷ server, at most a cost, or (for noise) the very same cost. */
export type Bar = { readonly atLeast: number } | { readonly atMost: number } | { readonly equal: number };

/** The bars of `--check`, by case and line. What has none is stated only. */
export const BARS: Readonly<Record<string, Readonly<Record<string, Bar>>>> = {
  noise: { 'limit again': { equal: 1 } },
  add: { session: { atLeast: 1 }, stateless: { atLeast: 0.95 } },
  echo: { session: { atLeast: 0.9 }, stateless: { atLeast: 0.9 } },
  'add-1000': { 'session ÷ 4 tools': { atLeast: 0.97 }, 'stateless ÷ 4 tools': { atLeast: 0.97 } },
  'list-1000': { session: { atLeast: 2.5 }, stateless: { atLeast: 2.5 } },
  blob: { session: { atLeast: 0.95 }, stateless: { atLeast: 0.95 } },
  'progress-1000': { session: { atLeast: 5 }, stateless: { atLeast: 5 } },
  fastify: { session: { atLeast: 0.88 }, stateless: { atLeast: 0.83 } },
  node: { session: { atLeast: 1.08 }, stateless: { atLeast: 1.08 } },
  stdio: { session: { atLeast: 0.9 }, 'stateless ÷ same bytes': { atLeast: 0.9 } },
  sessions: {
    idle: { atMost: 1024 },
    'with a stream, more': { atMost: 5 * 1024 },
    // two collections never leave exactly the same heap: a call that kept anything at all would keep more than this
    'kept per call, session': { atMost: 16 },
    'kept per call, stateless': { atMost: 16 },
  },
  cold: { weather: { atLeast: 1 / 1.1 } },
};

/**
 * By how much a bar may be missed, as a share of it. The same route measured against itself (the case `noise`), on two
 * cores that were busy with other work, gave ratios with a standard deviation of 1.9 % per start, and of 0.9 % for the
 * median of three starts, of which 19 in 20 were within 2.5 % of 1.
 */
export const MARGIN = 0.03;

/** How far the middle half of the starts may lie apart, as a share of their median, before nothing can be said. */
const NOISY = 0.05;

/** Whether a bar is reached. `noisy`: the starts disagree too much to tell. */
export type Verdict = 'reached' | 'missed' | 'noisy';

/** Judges the values of all starts. What all starts agree on is so, however far apart they are. */
export function judge(values: readonly number[], bar: Bar): Verdict {
  const value = quantile(values, 0.5);
  const isReached = (reached: number) => reaches(reached, bar);
  const disagreement = (quantile(values, 0.75) - quantile(values, 0.25)) / value;
  if (values.length === 0) return 'noisy';
  if ('equal' in bar) return isReached(value) && disagreement <= NOISY ? 'reached' : 'noisy';
  if (values.every(isReached)) return 'reached';
  if (!values.some(isReached)) return 'missed';
  if (disagreement > NOISY) return 'noisy';
  return isReached(value) ? 'reached' : 'missed';
}

function reaches(value: number, bar: Bar): boolean {
  if ('equal' in bar) return Math.abs(value - bar.equal) <= MARGIN * bar.equal;
  return 'atLeast' in bar ? value >= bar.atLeast * (1 - MARGIN) : value <= bar.atMost * (1 + MARGIN);
}
