/** Lets calls begin: all at once, or one after another. */
export class Turns {
  private inside = 0;
  private readonly waiting = new Set<() => void>();

  /**
   * @param max the calls that may be inside or wait
   * @param isSerial whether calls take turns
   */
  constructor(
    private readonly max: number,
    public isSerial: boolean,
  ) {}

  /** Whether a call has to wait now. */
  get isTaken(): boolean {
    return this.isSerial && this.inside > 0;
  }

  /** Whether no further call may even wait. */
  get isFull(): boolean {
    return this.inside + this.waiting.size >= this.max;
  }

  /**
   * Waits for a turn.
   * @returns a function that ends it
   * @throws {unknown} the reason of the signal if it aborts first
   */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.isTaken) await this.wait(signal);
    else this.inside += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.next();
    };
  }

  /** The call that ends hands its place to the next one. */
  private next(): void {
    const [begin] = this.waiting;
    if (begin) begin();
    else this.inside -= 1;
  }

  private async wait(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const stop = () => {
        this.waiting.delete(begin);
        reject(signal.reason as Error);
      };
      const begin = () => {
        this.waiting.delete(begin);
        signal.removeEventListener('abort', stop);
        resolve();
      };
      this.waiting.add(begin);
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}
