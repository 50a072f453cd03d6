/** A call that waits for its turn. */
export interface Waiting {
  /** The key of its caller. */
  readonly caller: string;
  /** Runs it. Never throws. */
  start(): void;
  /** Refuses it, because another call takes its place. */
  refuse(): void;
}

/** Calls that wait, first come, first served for each caller. Callers take turns. */
export class WaitingLine {
  /** The caller whose turn it is comes first. Callers without waiting calls have no entry. */
  private readonly lines = new Map<string, Set<Waiting>>();
  private length = 0;

  /** @param max how many calls may wait */
  constructor(private readonly max: number) {}

  /**
   * Adds a call. If the line is full, it takes the place of the last call of the caller who has the most calls in it,
   * so that one caller can't keep all others out.
   * @returns false if there is no place
   */
  add(waiting: Waiting): boolean {
    if (this.length >= this.max && !this.makePlace(waiting.caller)) return false;
    const line = this.lines.get(waiting.caller) ?? new Set();
    this.lines.set(waiting.caller, line.add(waiting));
    this.length += 1;
    return true;
  }

  private makePlace(caller: string): boolean {
    const own = this.lines.get(caller)?.size ?? 0;
    let longest: Set<Waiting> = new Set();
    for (const line of this.lines.values()) if (line.size > longest.size) longest = line;
    // both would have the same afterwards, or more
    if (longest.size < own + 2) return false;
    const last = [...longest].at(-1) as Waiting;
    this.remove(last);
    last.refuse();
    return true;
  }

  /** Removes a call that no longer waits. */
  remove(waiting: Waiting): void {
    const { caller } = waiting;
    const line = this.lines.get(caller);
    if (line?.delete(waiting) !== true) return;
    this.length -= 1;
    if (line.size === 0) this.lines.delete(caller);
  }

  /** Removes the next call whose caller may run one. Undefined if there is none. */
  next(mayRun: (caller: string) => boolean): Waiting | undefined {
    for (const [caller, line] of this.lines) {
      if (!mayRun(caller)) continue;
      const [first] = line as Iterable<Waiting>;
      if (first === undefined) continue;
      this.remove(first);
      // the others come before this caller's next call
      if (this.lines.delete(caller)) this.lines.set(caller, line);
      return first;
    }
    return undefined;
  }
}
