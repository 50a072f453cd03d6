/** How many may run at once. Each takes a thread of Node's four and 128 MiB. */
const RUNNING = 2;

/** How many may wait. The last one waits for about five seconds. */
const WAITING = 32;

/** Too many users are signing in at the moment. Answer with 503 and `Retry-After`. */
export class SignInBusyError extends Error {
  override readonly name = 'SignInBusyError';
  /** When to try again, in seconds. */
  readonly retryAfter = 5;

  constructor() {
    super('Too many users are signing in at the moment');
  }
}

/** Lets a flood of sign-ins wait, so that it leaves threads and memory for everything else. */
export class Derivations {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /**
   * Runs a derivation in its turn.
   * @param maxWaiting how many others may wait already
   * @throws {SignInBusyError} if more wait
   */
  async run<T>(derive: () => Promise<T>, maxWaiting = WAITING): Promise<T> {
    if (this.running < RUNNING) this.running++;
    else await this.turn(maxWaiting);
    try {
      return await derive();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }

  private turn(maxWaiting: number): Promise<void> {
    if (this.waiting.length >= maxWaiting) throw new SignInBusyError();
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }
}
