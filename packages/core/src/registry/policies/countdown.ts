/** A timer that can be paused. Once it is stopped, it stays so. */
export class Countdown {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private armedAt = 0;
  private pauses = 0;
  private isStarted = false;
  private isStopped = false;

  /** @param left milliseconds */
  constructor(
    private left: number,
    private readonly expire: () => void,
  ) {}

  start(): void {
    this.isStarted = true;
    this.arm();
  }

  /** Several pauses may overlap. Each one needs its own `resume`. */
  pause(): void {
    this.pauses += 1;
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.left -= performance.now() - this.armedAt;
  }

  resume(): void {
    this.pauses -= 1;
    this.arm();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private arm(): void {
    if (!this.isStarted || this.isStopped || this.pauses > 0) return;
    this.armedAt = performance.now();
    this.timer = setTimeout(this.expire, Math.max(0, this.left));
  }
}
