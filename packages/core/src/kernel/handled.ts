import { setTimeout as wait } from 'node:timers/promises';

import type { Exchange } from '../protocol/exchange.js';

/** Number of failed questions after which a handler is paused: endless retries would starve the event loop. */
const MANY_FAILURES = 100;
const PAUSE_MS = 10;

/** Promises of one handler, which may stop waiting for them. */
export class Handled {
  private failures = 0;

  constructor(private readonly exchange: Exchange) {}

  /** Marks a promise as handled: if the handler stops waiting, a rejection must not end the process. */
  promise<T>(given: Promise<T>): Promise<T> {
    const handled = given.catch((error: unknown) => this.failed(error));
    handled.catch(() => {});
    return handled;
  }

  /** Pauses after many failures: a handler that retries at once in a loop would starve everything else. */
  private async failed(error: unknown): Promise<never> {
    if (++this.failures % MANY_FAILURES !== 0) throw error;
    if (this.exchange.over) await new Promise<never>(() => {});
    await wait(PAUSE_MS);
    throw error;
  }
}
