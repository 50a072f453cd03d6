import type { Part } from './regex-syntax.js';

const MAX_CHARACTERS = 3000;
/** Bounded repetitions up to this count are expanded. Others are treated as unbounded. */
const MAX_COPIES = { character: 64, group: 4 };
/**
 * Cap on the copies of a group in nested repetitions, because the ways to read the copies multiply. Above the cap, the
 * repetitions count as unbounded.
 */
const MAX_NESTED_COPIES = 16;

/** Thrown for a pattern whose time is exponential, or cannot be determined. */
export class TooComplex extends Error {}

/** The states where a part can start and end, and whether it can match the empty string. */
interface Ends {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly isSkippable: boolean;
}

const NOTHING: Ends = { first: [], last: [], isSkippable: true };

/** The Glushkov automaton of an expression: its states are the expression's characters. */
export class Automaton {
  readonly next: Set<number>[] = [];
  /** For each state, a bit set of the sample characters that it reads. */
  readonly reads: bigint[] = [];
  /** For each state, the outermost loop around it, if any. All states of a loop lead to each other. */
  readonly loopOf: (number | undefined)[] = [];
  /** The outermost loops, with their states and the maximum number of rounds. */
  readonly loops: { readonly states: number[]; readonly rounds: number }[] = [];
  /** Whether a loop can take the same step in two ways, as in `(a*)*`. */
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

  /** Lets JavaScript itself decide which characters a class or an escape matches. */
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
    const range = most - least + 1;
    const isEndless = most === Number.POSITIVE_INFINITY;
    // in JavaScript, mandatory rounds may be empty
    if (least > MAX_COPIES.group && canBeEmpty(body)) throw new TooComplex();
    const isLong = (isEndless ? least : most) > MAX_COPIES[isCharacter ? 'character' : 'group'];
    if (isLong || (most > 1 && !isEndless && !isCharacter && copiesIn(body) * most > MAX_NESTED_COPIES)) {
      return this.#loop(body, least === 0, isCharacter ? range : Number.POSITIVE_INFINITY);
    }
    let ends = NOTHING;
    // inside a loop, copying is more precise; elsewhere, counting rounds is
    const endsInLoop = isEndless || (isCharacter && range > 1 && this.#depth === 0);
    for (let i = endsInLoop ? 1 : 0; i < least; i++) ends = this.#join(ends, this.add(body));
    if (endsInLoop) return this.#join(ends, this.#loop(body, least === 0, range));
    // expand a{0,3} as (a(a(a)?)?)?, which can be read in only one way, unlike a?a?a?
    const optional = Array.from({ length: most - least }, () => this.add(body));
    return this.#join(
      ends,
      optional.reduceRight((rest, each) => ({ ...this.#join(each, rest), isSkippable: true }), NOTHING),
    );
  }

  #loop(body: Part, isSkippable: boolean, rounds: number): Ends {
    if (this.#depth === 0) this.loops.push({ states: [], rounds });
    this.#depth += 1;
    const ends = this.add(body);
    this.#depth -= 1;
    this.#link(ends.last, ends.first);
    return { ...ends, isSkippable: isSkippable || ends.isSkippable };
  }
}

function canBeEmpty(part: Part): boolean {
  if ('parts' in part) return part.parts[part.kind === 'choice' ? 'some' : 'every'](canBeEmpty);
  return part.kind === 'repeat' ? part.least === 0 || canBeEmpty(part.body) : part.kind !== 'character';
}

/** The number of copies that a part is expanded to. Nested repetitions multiply. */
function copiesIn(part: Part): number {
  const inner = 'parts' in part ? part.parts : 'body' in part ? [part.body] : [];
  const isWrittenOut = part.kind === 'repeat' && part.body.kind !== 'character' && part.most <= MAX_COPIES.group;
  return (isWrittenOut ? Math.max(1, part.most) : 1) * Math.max(1, ...inner.map(copiesIn));
}
