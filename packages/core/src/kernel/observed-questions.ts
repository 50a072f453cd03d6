import { ClientError } from '../protocol/errors.js';
import type { Exchange } from '../protocol/exchange.js';
import { InputSignal } from '../protocol/input.js';
import type { JsonObject } from '../protocol/model.js';
import type { AskedQuestion, Asking, ObservedQuestion, QuestionOutcome } from '../protocol/observed.js';
import { requestOf } from './observed.js';
import { type Observer, Observers } from './observers.js';
import { questionMeta } from './question-meta.js';

type Settled = { readonly answer: JsonObject } | { readonly error: unknown };

class Ended implements QuestionOutcome {
  readonly status: QuestionOutcome['status'];
  readonly code: number | undefined;
  readonly error: unknown;
  readonly #settled: Settled;

  constructor(
    settled: Settled,
    readonly milliseconds: number,
    isCancelled: boolean,
  ) {
    const error = 'error' in settled ? settled.error : undefined;
    const isSignal = error instanceof InputSignal;
    this.#settled = settled;
    this.status = isSignal ? 'input-required' : isCancelled ? 'cancelled' : 'error' in settled ? 'error' : 'ok';
    this.code = error instanceof ClientError ? error.code : undefined;
    this.error = isSignal ? undefined : error;
  }

  get result(): JsonObject | undefined {
    return 'answer' in this.#settled ? (structuredClone(this.#settled.answer) as JsonObject) : undefined;
  }
}

/** Creates what stands around questions to clients; undefined if no plugin does. */
export function askingOf(
  observers: readonly Observer<ObservedQuestion, QuestionOutcome>[],
  report: (error: unknown) => void,
): Asking | undefined {
  if (observers.length === 0) return undefined;
  const around = new Observers(observers, 'ask', report);
  let hasReported = false;
  const reportMeta = (cause: Error) => {
    if (!hasReported) report(new Error('A plugin has set a `_meta` that is not sent. Reported once.', { cause }));
    hasReported = true;
  };
  return async ({ method, id, exchange }: AskedQuestion, send) => {
    const asking = exchange as Exchange;
    const question = { method, id, request: requestOf(asking), meta: {} };
    const settle = async (): Promise<Settled> => {
      try {
        return { answer: await send(questionMeta(question.meta, reportMeta)) };
      } catch (error) {
        return { error };
      }
    };
    const settled = await around.around(question, {
      start: settle,
      end: (ended, milliseconds) => new Ended(ended, milliseconds, 'error' in ended && asking.cancelled !== undefined),
    });
    if ('error' in settled) throw settled.error;
    return settled.answer;
  };
}
