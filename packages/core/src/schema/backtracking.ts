import { type Part, parseRegex } from './regex-syntax.js';

/**
 * How the time of a backtracking matcher can grow with the length of its input. The criteria are those of Weideman et
 * al., "Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers" (CIAA 2016): on the automaton of
 * the expression, exponential means that a loop can read some text in two ways, and polynomial that two loops in a row
 * can share it in more than one way. So many loops in a row that a short text has too many ways count as exponential.
 */
export type Backtracking = 'linear' | 'polynomial' | 'exponential';

/** More steps than this are not spent on one pattern. */
const MAX_STEPS = 500_000;
const MAX_CHARACTERS = 3000;
/** A repetition up to this often is written out; others are taken for endless ones. */
const MAX_COPIES = { character: 64, group: 4 };
/** How often an endless loop goes round, for an estimate: the strings that are tried are not much longer. */
const ENDLESS = 1000;
/** In how many ways loops in a row may share a text, for the pattern to count as linear and as polynomial. */
const MAX_WAYS = { linear: 100_000, polynomial: ENDLESS ** 3 };

class TooComplex extends Error {}

/** Where a part can begin and end, and whether it can match nothing. */
interface Ends {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly isSkippable: boolean;
}

const NOTHING: Ends = { first: [], last: [], isSkippable: true };

/** The automaton of an expression whose states are its characters (Glushkov's construction). */
class Automaton {
  readonly next: Set<number>[] = [];
  /** Which of the sample characters each state reads. */
  readonly reads: bigint[] = [];
  /** The outermost loop around each state, if any: its states all lead to each other. */
  readonly loopOf: (number | undefined)[] = [];
  /** The outermost loops: their states, and how many times each can go round. */
  readonly loops: { readonly states: number[]; readonly rounds: number }[] = [];
  /** A loop can go the same way twice, as in `(a*)*`. */
  hasDoubleStep = false;
  #depth = 0;
  readonly #sets = new Map<string, bigint>();
  readonly #samples: readonly string[];
  readonly #flags: string;

  constructor(samples: readonly string[], flags: string) {
    this.#samples = samples;
    this.#flags = flags;
  }

  add(part: Part): Ends {
    switch (part.kind) {
      case 'character':
        return this.#character(part.source);
      case 'sequence':
        return part.parts.reduce<Ends>((ends, each) => this.#join(ends, this.add(each)), NOTHING);
      case 'choice':
        return part.parts
          .map((each) => this.add(each))
          .reduce((a, b) => ({
            first: [...a.first, ...b.first],
            last: [...a.last, ...b.last],
            isSkippable: a.isSkippable || b.isSkippable,
          }));
      case 'repeat':
        return this.#repeat(part.body, part.least, part.most);
      default:
        return NOTHING;
    }
  }

  #character(source: string): Ends {
    if (this.next.length >= MAX_CHARACTERS) throw new TooComplex();
    const state = this.next.push(new Set()) - 1;
    this.reads.push(this.#setOf(source));
    this.loopOf.push(this.#depth > 0 ? this.loops.length - 1 : undefined);
    if (this.#depth > 0) this.loops.at(-1)?.states.push(state);
    return { first: [state], last: [state], isSkippable: false };
  }

  /** JavaScript itself says which characters a class or an escape stands for. */
  #setOf(source: string): bigint {
    const present = this.#sets.get(source);
    if (present !== undefined) return present;
    const pattern = new RegExp(`^(?:${source})$`, this.#flags);
    const set = this.#samples.reduce((bits, sample, i) => (pattern.test(sample) ? bits | (1n << BigInt(i)) : bits), 0n);
    this.#sets.set(source, set);
    return set;
  }

  #link(from: readonly number[], to: readonly number[]): void {
    for (const state of from) {
      for (const target of to) {
        const targets = this.next[state];
        if (targets?.has(target)) this.hasDoubleStep = true;
        else targets?.add(target);
      }
    }
  }

  #join(a: Ends, b: Ends): Ends {
    this.#link(a.last, b.first);
    return {
      first: a.isSkippable ? [...a.first, ...b.first] : a.first,
      last: b.isSkippable ? [...a.last, ...b.last] : b.last,
      isSkippable: a.isSkippable && b.isSkippable,
    };
  }

  #repeat(body: Part, least: number, most: number): Ends {
    const isCharacter = body.kind === 'character';
    const copies = MAX_COPIES[isCharacter ? 'character' : 'group'];
    const range = most - least + 1;
    // the ways to read copies of copies multiply
    const isTooMany = least > copies || (!isCharacter && most > 1 && within(body).some(isRepeatedGroup));
    if (isTooMany || (!isCharacter && range < ENDLESS && most > copies)) return this.#loop(body, least === 0, range);
    let ends = NOTHING;
    const endsInLoop = most === Number.POSITIVE_INFINITY || (isCharacter && range > 2);
    for (let i = endsInLoop ? 1 : 0; i < least; i++) ends = this.#join(ends, this.add(body));
    if (endsInLoop) return this.#join(ends, this.#loop(body, least === 0, range));
    // a{0,3} is (a(a(a)?)?)?, which can be read in one way only, unlike a?a?a?
    const optional = Array.from({ length: most - least }, () => this.add(body));
    return this.#join(
      ends,
      optional.reduceRight((rest, each) => ({ ...this.#join(each, rest), isSkippable: true }), NOTHING),
    );
  }

  #loop(body: Part, isSkippable: boolean, rounds: number): Ends {
    if (this.#depth === 0) this.loops.push({ states: [], rounds: Math.min(rounds, ENDLESS) });
    this.#depth += 1;
    const ends = this.add(body);
    this.#depth -= 1;
    this.#link(ends.last, ends.first);
    return { ...ends, isSkippable: isSkippable || ends.isSkippable };
  }
}

const isRepeatedGroup = (part: Part): boolean =>
  part.kind === 'repeat' && part.body.kind !== 'character' && part.most > 1;

/** Follows several readers of the same text at once. */
class Search {
  #steps = 0;
  readonly #automaton: Automaton;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  /** The situations that follow from one, where reader `i` must stay within `loops[i]`. */
  #after(states: readonly number[], loops: readonly (number | undefined)[]): number[][] {
    const { next, reads, loopOf } = this.#automaton;
    let found: { states: number[]; common: bigint }[] = [{ states: [], common: -1n }];
    for (const [i, state] of states.entries()) {
      found = found.flatMap(({ states: before, common }) =>
        [...(next[state] ?? [])]
          .filter((target) => loops[i] === undefined || loopOf[target] === loops[i])
          .map((target) => ({ states: [...before, target], common: common & (reads[target] ?? 0n) }))
          .filter((each) => each.common !== 0n),
      );
      this.#steps += found.length;
      if (this.#steps > MAX_STEPS) throw new TooComplex();
    }
    return found.map((each) => each.states);
  }

  /** Every situation that can be reached, with those that follow from it. */
  #reach(starts: readonly (readonly number[])[], loops: readonly (number | undefined)[]): Map<string, string[]> {
    const seen = new Map<string, string[]>();
    const queue = [...starts];
    for (let states = queue.pop(); states !== undefined; states = queue.pop()) {
      const key = states.join();
      if (seen.has(key)) continue;
      const followers = this.#after(states, loops);
      seen.set(key, followers.map(String));
      queue.push(...followers);
    }
    return seen;
  }

  /** Whether two readers that set out together in a loop can part and meet again. */
  canPartAndMeet(states: readonly number[], loop: number): boolean {
    const together = states.map((state) => [state, state]);
    const before = new Map<string, string[]>();
    for (const [key, followers] of this.#reach(together, [loop, loop])) {
      for (const follower of followers) before.set(follower, [...(before.get(follower) ?? []), key]);
    }
    const meeting = new Set(together.map(String));
    // what is added meanwhile is visited too
    for (const key of meeting) for (const earlier of before.get(key) ?? []) meeting.add(earlier);
    return [...meeting].some((key) => new Set(key.split(',')).size > 1);
  }

  /** Whether the same text can be read by staying in one loop, by staying in a later one, and by going over. */
  canShare(from: readonly number[], to: readonly number[]): boolean {
    const { loopOf } = this.#automaton;
    return from.some((p) =>
      to.some((q) => this.#reach([[p, p, q]], [loopOf[p], undefined, loopOf[q]]).has(`${p},${q},${q}`)),
    );
  }
}

/** A part, and all those inside it. */
function within(part: Part): Part[] {
  const inner = 'parts' in part ? part.parts : 'body' in part ? [part.body] : [];
  return [part, ...inner.flatMap(within)];
}

const contains = (part: Part, kinds: readonly Part['kind'][]): boolean =>
  within(part).some(({ kind }) => kinds.includes(kind));

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

/** Characters such that what two sets have in common shows: those of the pattern, their neighbours, and one of each kind. */
function samplesFor(source: string): string[] {
  const escapes = [...source.matchAll(/\\(?:x([\da-fA-F]{2})|u\{?([\da-fA-F]{4,6}))/g)];
  const codes = [
    ...[...source].map((c) => c.codePointAt(0) ?? 0),
    ...escapes.map(([, x, u]) => Number.parseInt(x ?? u ?? '0', 16)),
  ];
  const near = codes.flatMap((code) => [code - 1, code, code + 1]).filter((code) => code >= 0 && code <= 0x10_ffff);
  return [...new Set([...near.map((code) => String.fromCodePoint(code)), ...'azAZ09_ \n\t-.~\0éЖ漢\u2028'])];
}

function judge(part: Part, source: string, flags: string): Backtracking {
  const automaton = new Automaton(samplesFor(source), flags);
  const { loops } = automaton;
  const { last } = automaton.add(beginsAtStart(part) ? part : { kind: 'sequence', parts: [ANYWHERE, part] });
  if (automaton.hasDoubleStep) return 'exponential';
  const search = new Search(automaton);
  if (loops.some(({ states }, i) => search.canPartAndMeet(states, i))) return 'exponential';
  // Where the expression may end as soon as it is reached, nothing later can fail and send the matcher back.
  const mustEnd = contains(part, ['assertion', 'look', 'backreference']);
  const ways: number[] = [];
  for (const [i, { states, rounds }] of loops.entries()) {
    const goals = mustEnd ? states : states.filter((state) => !last.includes(state));
    const before = ways.filter((_, j) => search.canShare(loops[j]?.states ?? [], goals));
    ways[i] = rounds * Math.max(1, ...before);
  }
  const most = Math.max(0, ...ways);
  if (most > MAX_WAYS.polynomial) return 'exponential';
  if (most > MAX_WAYS.linear) return 'polynomial';
  return loops.length > 0 && contains(part, ['look', 'backreference']) ? 'polynomial' : 'linear';
}

/** Tells how long matching can take. What is too complex to tell counts as exponential. */
export function backtracking(source: string, flags = ''): Backtracking {
  const syntax = parseRegex(source);
  const kept = flags.replaceAll(/[^isu]/g, '');
  try {
    const looks = within(syntax).flatMap((part) => (part.kind === 'look' ? [part.body] : []));
    const risks = [syntax, ...looks].map((part) => judge(part, source, kept));
    if (risks.includes('exponential')) return 'exponential';
    if (risks.length === 1) return risks[0] ?? 'linear';
    return contains(syntax, ['repeat']) ? 'polynomial' : 'linear';
  } catch (error) {
    if (error instanceof TooComplex) return 'exponential';
    throw error;
  }
}
