/** The processes that have recorded that they live, for stores of one process: those before it are dead. */
export class Processes {
  private readonly ends = new Map<string, number>();

  /** @param now milliseconds since 1970 */
  constructor(private readonly now: () => number) {}

  beat(process: string, ttlMs: number): void {
    this.ends.set(process, this.now() + ttlMs);
  }

  lives(process: string): boolean {
    const end = this.ends.get(process);
    if (end === undefined || end > this.now()) return end !== undefined;
    this.ends.delete(process);
    return false;
  }

  end(process: string): void {
    this.ends.delete(process);
  }
}
