import { type Caller, ON_CANCEL, type RunScope } from '../caller.js';
import { Countdown } from './countdown.js';

/** What a run asks of its time limit. */
export interface Limit {
  readonly ms: number;
  /** The error for the client. Called once the signal has aborted with the reason. */
  error(reason: DOMException): Error;
  /** Told of a handler that still runs. Called with its promise, which settles late or never. */
  late(running: Promise<unknown>, reason: DOMException): void;
}

/** What waits for a run. */
interface Waiting {
  resolve(result: unknown): void;
  reject(error: unknown): void;
  unlisten(): void;
}

/** One run within a time limit. Creates nothing but itself until the run turns out to be asynchronous. */
export class TimedRun implements RunScope {
  readonly isLimited = true;
  private controller: AbortController | undefined;
  private expired: DOMException | undefined;
  private readonly countdown: Countdown;
  private waiting: Waiting | undefined;
  /** Stops listening to the signal around it. */
  private unlink: (() => void) | undefined;

  /** @param caller the caller of the run; released once the time is over, because the handler may never end */
  constructor(
    private readonly limit: Limit,
    private caller: Caller | undefined,
  ) {
    this.countdown = new Countdown(limit.ms, () => this.expire());
  }

  /** Aborts when the request does, or when the time is over. Created on first use: most handlers never read it. */
  get signal(): AbortSignal {
    if (this.controller !== undefined) return this.controller.signal;
    const controller = (this.controller = new AbortController());
    const outer = this.caller?.signal;
    if (outer === undefined) controller.abort(this.expired);
    else if (outer.aborted) controller.abort(outer.reason);
    else {
      const abort = () => controller.abort(outer.reason);
      outer.addEventListener('abort', abort, { once: true });
      // a request may have many runs, and Node warns about many listeners
      this.unlink = () => outer.removeEventListener('abort', abort);
    }
    return controller.signal;
  }

  get hasFailed(): boolean {
    return this.expired !== undefined;
  }

  /** The client may take its time to answer. */
  asking(answer: Promise<unknown>): void {
    this.countdown.pause();
    const resume = () => this.countdown.resume();
    answer.then(resume, resume);
  }

  /** The member has a limit of its own. */
  replaced(): void {
    this.countdown.stop();
  }

  /** Settles as the run does, unless the time is over before. */
  within<R>(running: Promise<R>): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      const unlisten = (this.caller as Caller)[ON_CANCEL](() => this.countdown.stop());
      this.waiting = { resolve: resolve as Waiting['resolve'], reject, unlisten };
      // refers to nothing else, because the handler may never end
      running.then(
        (result) => this.end()?.resolve(result),
        (error: unknown) => this.end()?.reject(error),
      );
      this.running = running;
      this.countdown.start();
    });
  }

  private running: Promise<unknown> | undefined;

  /** Stops its clock, and listens no longer. */
  end(): Waiting | undefined {
    const { waiting } = this;
    this.waiting = undefined;
    this.running = undefined;
    this.countdown.stop();
    waiting?.unlisten();
    this.unlink?.();
    return waiting;
  }

  private expire(): void {
    const { running, limit } = this;
    const reason = new DOMException(`The time limit of ${limit.ms} ms is over.`, 'TimeoutError');
    this.expired = reason;
    const waiting = this.end();
    this.caller = undefined;
    limit.late(running as Promise<unknown>, reason);
    // a handler that ends at once can't answer instead: nothing waits for it any more
    this.controller?.abort(reason);
    waiting?.reject(limit.error(reason));
  }
}
