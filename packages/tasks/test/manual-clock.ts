import type { ContractClock } from '@decorum/tasks/store-contract';

/** A clock that only moves when a test moves it, or when someone waits. */
export class ManualClock implements ContractClock {
  private time = Date.UTC(2026, 0, 1);

  readonly now = (): number => this.time;

  async wait(ms: number): Promise<void> {
    this.pass(ms);
  }

  pass(ms: number): void {
    this.time += ms;
  }
}
