import { type Automaton, TooComplex } from './regex-automaton.js';

/** Cap on search steps per pattern. */
const MAX_STEPS = 500_000;

/** Follows several readers of the same text at once. */
export class Search {
  #steps = 0;
  readonly #automaton: Automaton;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  /** The next states of all readers, where reader `i` must stay within `loops[i]`. */
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

  /** All reachable states of the readers, with their successors. */
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

  /** Whether two readers that start together in a loop can part and meet again. */
  canPartAndMeet(states: readonly number[], loop: number): boolean {
    const together = states.map((state) => [state, state]);
    const before = new Map<string, string[]>();
    for (const [key, followers] of this.#reach(together, [loop, loop])) {
      for (const follower of followers) before.set(follower, [...(before.get(follower) ?? []), key]);
    }
    const meeting = new Set(together.map(String));
    // the loop also visits entries that it adds
    for (const key of meeting) for (const earlier of before.get(key) ?? []) meeting.add(earlier);
    return [...meeting].some((key) => new Set(key.split(',')).size > 1);
  }

  /**
   * Whether the same text can be read within one loop, within a later loop, and by moving from the first to the second.
   */
  canShare(from: readonly number[], to: readonly number[]): boolean {
    const { loopOf } = this.#automaton;
    return from.some((p) =>
      to.some((q) => this.#reach([[p, p, q]], [loopOf[p], undefined, loopOf[q]]).has(`${p},${q},${q}`)),
    );
  }

  /** The minimum distance between two positions at which a string can move from one loop to another. */
  gap(from: readonly number[], to: readonly number[]): number {
    const { next, reads } = this.#automaton;
    const cameFrom = new Map<number, number | undefined>(from.map((state) => [state, undefined]));
    // the loop also visits entries that it adds
    for (const state of cameFrom.keys()) {
      for (const target of next[state] ?? []) {
        if (to.includes(target)) return periodOf(pathTo(state, cameFrom).map((each) => reads[each] ?? 0n));
        if (!cameFrom.has(target)) cameFrom.set(target, state);
      }
    }
    return 1;
  }
}

function pathTo(state: number, cameFrom: ReadonlyMap<number, number | undefined>): number[] {
  const before = cameFrom.get(state);
  return before === undefined ? [] : [...pathTo(before, cameFrom), state];
}

/** The number of characters after which a string can overlap with itself. */
function periodOf(sets: readonly bigint[]): number {
  const meets = (shift: number) => sets.slice(shift).every((set, i) => (set & (sets[i] ?? 0n)) !== 0n);
  let period = 1;
  while (period < sets.length && !meets(period)) period += 1;
  return period;
}
