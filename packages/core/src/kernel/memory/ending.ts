import type { Exchange } from '../../protocol/exchange.js';
import type { ErrorReporter } from '../error-reporter.js';
import { MemoryFull } from './kept-values.js';

/** How the run of a member has ended. */
interface Ended {
  readonly kind: string;
  readonly result?: object;
  readonly error?: unknown;
}

type Failed = { readonly kind: 'failed'; readonly error: unknown };

/**
 * Stores what a run wants to remember, if it has completed. Tells the operator if that is too much.
 * @returns the outcome: another one if this fails
 */
export async function remembering<E extends Ended>(
  exchange: Exchange,
  outcome: E,
  reporter: Pick<ErrorReporter, 'warn'>,
): Promise<E | Failed> {
  const ended = await stored(exchange, outcome);
  const { cause } = (ended.error ?? {}) as { readonly cause?: unknown };
  if (cause instanceof MemoryFull) {
    const { name, uri } = exchange.params;
    reporter.warn({ method: exchange.method, member: name ?? uri }, `ctx.memory: a caller would have ${cause.message}`);
  }
  return ended;
}

async function stored<E extends Ended>(exchange: Exchange, outcome: E): Promise<E | Failed> {
  const { over, fault, remembered } = exchange;
  const isError = (outcome.result as { readonly isError?: unknown } | undefined)?.isError === true;
  const isDue = outcome.kind === 'complete' && !isError && !over && fault === undefined;
  try {
    await remembered?.end(isDue);
    return outcome;
  } catch (error) {
    return { kind: 'failed', error };
  }
}
