/** The variables of one run of an interpreted function, by slot. */
export type Frame = unknown[];

/** What generated code uses of the language. */
const GLOBALS: ReadonlyMap<string, unknown> = new Map(
  Object.entries({ Array, Object, isFinite, isNaN, parseInt, undefined }),
);

/** A construct that checks have not needed so far. */
export class NotInterpretable extends Error {
  constructor(construct: string) {
    super(`Generated code contains ${construct}, which the interpreter doesn't know.`);
  }
}

/** The names in one function. The generator gives each variable of a function its own name, so blocks need no scope. */
export class Names {
  private readonly slots = new Map<string, number>();

  /** @param outer values of the names outside of the function. They don't change while it exists. */
  constructor(private readonly outer: ReadonlyMap<string, unknown>) {}

  /** The number of slots in a frame. */
  get size(): number {
    return this.slots.size;
  }

  /** The slot of a variable. The first use reserves it. */
  declare(name: string): number {
    const slot = this.slots.get(name) ?? this.slots.size;
    this.slots.set(name, slot);
    return slot;
  }

  /** The slot of a variable of this function. */
  slotOf(name: string): number | undefined {
    return this.slots.get(name);
  }

  /** The value of a name outside of this function. */
  constant(name: string): unknown {
    if (this.outer.has(name)) return this.outer.get(name);
    if (GLOBALS.has(name)) return GLOBALS.get(name);
    throw new NotInterpretable(`the name "${name}"`);
  }
}
