/** Cap on the failures that are kept. The rest are only counted. */
const KEPT = 40;

/** Counts the requests of the clients. Every request must end up as answered or abandoned. */
export class Ledger {
  /** Requests sent. */
  calls = 0;
  /** Requests that got their answer. */
  answered = 0;
  /** Requests that the client gave up on deliberately: it cancelled them, or cut the connection. */
  abandoned = 0;
  /** Requests that were repeated because a process was killed. */
  repeated = 0;
  /** Requests that were repeated because of a 503. */
  postponed = 0;
  /** How often each act was completed. */
  readonly acts = new Map<string, number>();
  failures: readonly string[] = [];
  failed = 0;

  /** Records a failure. `where` names the client or round, so that the failure can be reproduced. */
  fail(where: string, problem: string): void {
    this.failed += 1;
    if (this.failures.length < KEPT) this.failures = [...this.failures, `${where}: ${problem}`];
  }

  /** Adds the counts of a client in another process. */
  add({ calls, answered, abandoned, failures }: Pick<Ledger, 'calls' | 'answered' | 'abandoned' | 'failures'>): void {
    this.calls += calls;
    this.answered += answered;
    this.abandoned += abandoned;
    this.failed += failures.length;
    this.failures = [...this.failures, ...failures];
  }

  /** Records that an act was completed. */
  did(act: string): void {
    this.acts.set(act, (this.acts.get(act) ?? 0) + 1);
  }

  /** Checks that no request was lost. Call it when all clients have ended. */
  balance(): void {
    const open = this.calls - this.answered - this.abandoned;
    if (open !== 0) this.fail('ledger', `${open} of ${this.calls} requests were neither answered nor abandoned`);
  }
}
