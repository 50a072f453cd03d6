/** The clock of an engine under test. */
export interface ContractClock {
  /** Moves the clock forward by some milliseconds, or waits as long. */
  pass(ms: number): void | Promise<void>;
}

/** A rule, and its check. The check takes what is under test, new and empty, and rejects if that breaks the rule. */
export type ContractRule<Given extends readonly unknown[]> = readonly [
  rule: string,
  check: (...given: Given) => Promise<void>,
];

/** A copy as JSON. Its objects have the prototypes of this module: in Jest, those of a library may have others. */
export const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** The integers from 1. */
export const numbersTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1);

/** Collects what arrives, and waits for it. */
export class Arrivals<T> {
  readonly all: T[] = [];
  private waiting: (() => void) | undefined;

  add(each: T): void {
    this.all.push(each);
    this.waiting?.();
  }

  /** Resolves with the first `count` arrivals, as soon as they are there. */
  async first(count: number): Promise<T[]> {
    while (this.all.length < count) {
      await new Promise<void>((resolve) => {
        this.waiting = resolve;
      });
    }
    return this.all.slice(0, count);
  }
}
