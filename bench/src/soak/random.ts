/** Random numbers. The same seed gives the same numbers. */
export class Random {
  private state: number;

  /** @param seed any text, such as the seed of the run and the name of a worker */
  constructor(seed: string) {
    let hash = 2_166_136_261;
    for (let at = 0; at < seed.length; at += 1) hash = Math.imul(hash ^ seed.charCodeAt(at), 16_777_619);
    this.state = hash;
  }

  /** A number from 0 to below 1 (the generator "mulberry32"). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer from `from` to `to`, inclusive. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** Returns true with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws {Error} for an empty list */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('There is nothing to pick from.');
    return list[this.int(0, list.length - 1)] as T;
  }

  /** Random bytes, mostly not valid text. */
  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.int(0, 255)));
  }
}
