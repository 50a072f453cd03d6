import { InputSignal } from './input.js';

/** The result of an effect by its key; without one where it is `undefined`. */
export type Effect = readonly [key: string, result?: unknown];

/** What the handler of one request does once, by key: however often it asks for it, and however often it runs. */
export class Effects {
  private readonly done: Map<string, unknown>;
  private readonly underWay = new Map<string, Promise<unknown>>();
  private sealed = false;
  /** Something was done that was not done before. */
  begun = false;

  /** @param done results of earlier runs, by key */
  constructor(done: Iterable<Effect> = []) {
    this.done = new Map(done as Iterable<readonly [string, unknown]>);
  }

  /**
   * Runs an effect, unless it has been run, or is. One that fails is not remembered.
   * @returns a promise that rejects with {InputSignal} where the round is over
   */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    if (this.done.has(key)) return Promise.resolve(this.done.get(key) as T);
    const running = this.underWay.get(key) ?? this.run(key, effect).finally(() => this.underWay.delete(key));
    this.underWay.set(key, running);
    return running as Promise<T>;
  }

  /**
   * Waits for what has begun, so that it is remembered, and for what that begins; then lets nothing new begin. Never
   * rejects.
   */
  async settle(): Promise<void> {
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay.values());
    this.sealed = true;
  }

  /** Results by key, as JSON can say them: it has no `undefined`. */
  entries(): readonly Effect[] {
    return [...this.done].map(([key, result]) => (result === undefined ? [key] : [key, result]));
  }

  private async run(key: string, effect: () => unknown): Promise<unknown> {
    // it would be forgotten, and done again
    if (this.sealed) throw new InputSignal();
    this.begun = true;
    const result = await effect();
    this.done.set(key, result);
    return result;
  }
}
