import { Automaton, TooComplex } from './regex-automaton.js';
import { Search } from './regex-search.js';
import { contains, type Part, parseRegex, within } from './regex-syntax.js';

// A backtracking matcher takes exponential time if a loop of the automaton can read a string in two ways. It takes
// polynomial time if several loops in a row can read the same string (Weideman et al., "Analyzing Matching Time
// Behavior of Backtracking Regular Expression Matchers", CIAA 2016).

/** A loop with this many rounds counts as unbounded. */
const MANY_ROUNDS = 1000;
/**
 * Candidate limits for the length of strings to match. A pattern that is too slow for all of them is rejected.
 */
const LENGTHS = [1000, 500, 250, 100];
/**
 * Cap on the ways in which a matcher may read a string. Two million ways take 20 to 100 ms. Choices between loops are
 * not counted, and may multiply that time.
 */
const MAX_WAYS = 2e6;
/** Caps for a pattern that may match strings of any length: ways per character, and regardless of the length. */
const MAX_LINEAR_WAYS = { each: 16, once: 1e5 };

/** What is wrong with a pattern that no text is short enough for, and the remedy. */
export const TOO_SLOW =
  'can take exponential time, or minutes for a few hundred characters. Rewrite it: neither one repeated part nor two in a row may match the same text in several ways';

/** Thrown for a pattern that a schema can't use. */
export class BadPattern extends Error {
  constructor(
    readonly pattern: string,
    readonly problem: string,
  ) {
    super(`the pattern ${pattern} ${problem}`);
  }
}

/** Thrown for a pattern that no text is short enough for. */
export class SlowPattern extends BadPattern {
  constructor(pattern: string) {
    super(pattern, TOO_SLOW);
  }
}

function beginsAtStart(part: Part): boolean {
  if (part.kind === 'choice') return part.parts.every(beginsAtStart);
  if (part.kind === 'sequence') return part.parts[0] !== undefined && beginsAtStart(part.parts[0]);
  return part.kind === 'start';
}

const ANYWHERE: Part = {
  kind: 'repeat',
  body: { kind: 'character', source: '[^]' },
  least: 0,
  most: Number.POSITIVE_INFINITY,
};

/**
 * Sample characters that reveal whether two sets intersect: those of the pattern, their neighbors, and one of each
 * kind. The last one is both a pictograph and a component of emoji.
 */
function samplesFor(source: string): string[] {
  const escapes = [...source.matchAll(/\\(?:x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]+)\})/gi)];
  const codes = [
    ...[...source].map((c) => c.codePointAt(0) ?? 0),
    ...escapes.map(([, x, u, point]) => Number.parseInt(x ?? u ?? point ?? '0', 16)),
  ];
  const near = codes.flatMap((code) => [code - 1, code, code + 1]).filter((code) => code >= 0 && code <= 0x10_ffff);
  return [...new Set([...near.map((code) => String.fromCodePoint(code)), ...'azAZ09_ \n\t-.~\0éЖα漢\u0301€\u2028🦰'])];
}

/** Coefficients by power of the string's length. */
type Polynomial = readonly number[];

const sum = (terms: readonly Polynomial[]): Polynomial =>
  Array.from({ length: Math.max(...terms.map(({ length }) => length)) }, (_, power) =>
    terms.reduce((total, term) => total + (term[power] ?? 0), 0),
  );

/** The number of ways in which a matcher can read a string, for each loop that it may be in. */
function waysOf(part: Part, source: string, { flags, isAnchored }: Readonly<{ flags: string; isAnchored: boolean }>) {
  const automaton = new Automaton(samplesFor(source), flags);
  const { loops } = automaton;
  const { last } = automaton.add(isAnchored ? part : { kind: 'sequence', parts: [ANYWHERE, part] });
  if (automaton.hasDoubleStep) throw new TooComplex();
  const search = new Search(automaton);
  if (loops.some(({ states }, i) => search.canPartAndMeet(states, i))) throw new TooComplex();
  // Where the expression may end, nothing can fail afterwards and cause backtracking.
  const mustEnd = contains(part, ['assertion', 'look', 'backreference']);
  const ways: Polynomial[] = [];
  for (const { states, rounds } of loops) {
    const goals = mustEnd ? states : states.filter((state) => !last.includes(state));
    const before = loops.slice(0, ways.length).map((loop, j) => {
      if (!search.canShare(loop.states, goals)) return [];
      const gap = search.gap(loop.states, states);
      return (ways[j] ?? []).map((number) => number / gap);
    });
    const all = sum([[1], ...before]);
    ways.push(rounds < MANY_ROUNDS ? all.map((number) => number * rounds) : [0, ...all]);
  }
  // a backreference adds another comparison
  const compared = within(part).flatMap(({ kind }) => (kind === 'backreference' ? [0] : []));
  return ways.map((polynomial) => [...compared, ...polynomial]);
}

/** Loops in a row that read the same string start one after another, so `n` to the power of `k` is divided by `k!`. */
function value(polynomial: Polynomial, length: number): number {
  let total = 0;
  let power = 1;
  for (const [k, number] of polynomial.entries()) {
    if (k > 0) power *= length / k;
    total += number * power;
  }
  return total;
}

const isLinear = ([once = 0, each = 0, ...more]: Polynomial): boolean =>
  once <= MAX_LINEAR_WAYS.once && each <= MAX_LINEAR_WAYS.each && more.every((number) => number === 0);

/**
 * The maximum length of a string that takes at most about a second to match, or to fail to match.
 * @returns `Infinity` if the time is linear in the length; 0 if the pattern is too slow for any string, or too complex
 *   to analyze
 */
export function longestText(source: string, flags = ''): number {
  const syntax = parseRegex(source);
  const kept = flags.replaceAll(/[^isu]/g, '');
  const isAnchored = beginsAtStart(syntax);
  const repeated = new Set(within(syntax).flatMap((part) => (part.kind === 'repeat' ? within(part) : [])));
  const looks = within(syntax).flatMap((part) => (part.kind === 'look' ? [part] : []));
  try {
    const ways = [
      ...waysOf(syntax, source, { flags: kept, isAnchored }),
      ...looks.flatMap((look) =>
        // a lookaround outside of a loop is tried at one position only
        waysOf(look.body, source, { flags: kept, isAnchored: isAnchored && !repeated.has(look) }),
      ),
    ];
    const isSimple = looks.length === 0 || !contains(syntax, ['repeat']);
    if (isSimple && ways.every(isLinear)) return Number.POSITIVE_INFINITY;
    return LENGTHS.find((length) => ways.every((each) => value(each, length) <= MAX_WAYS)) ?? 0;
  } catch (error) {
    if (error instanceof TooComplex) return 0;
    throw error;
  }
}
