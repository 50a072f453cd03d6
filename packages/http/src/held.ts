import type { Refusal } from './refusal.js';

/** Requests that wait for code of others, such as `authenticate` or a store. No close waits for that: they are refused. */
export class Held {
  private readonly refusals = new Set<(refusal: Refusal) => void>();

  /** The outcome of what a request waits for, or the refusal that comes first. */
  async until<T>(step: PromiseLike<T>): Promise<T> {
    let refuse: (refusal: Refusal) => void = () => {};
    const refused = new Promise<never>((_, reject) => {
      refuse = reject;
    });
    this.refusals.add(refuse);
    try {
      return await Promise.race([step, refused]);
    } finally {
      this.refusals.delete(refuse);
    }
  }

  /** Refuses all that wait. */
  refuse(refusal: Refusal): void {
    for (const refuse of this.refusals) refuse(refusal);
  }
}
