import type { JsonObject } from '@decorum/schema/internal';

import { QuestionError } from '../protocol/errors.js';
import type { Exchange } from '../protocol/exchange.js';
import { InputSignal } from '../protocol/input.js';
import type { FailureCause } from '../protocol/failure-cause.js';
import type { AskedQuestion, Asking, Observation, ObservedQuestion } from '../protocol/observed.js';
import type { Reply } from '../protocol/reply.js';
import { questionCauseOf } from './failure-causes.js';
import { type Hooks, Observers, Task } from './observers.js';
import { questionMeta } from './question-meta.js';

type Settled = { readonly answer: JsonObject } | { readonly error: unknown };

/** How a question to the client ended. */
class Ended {
  /**
   * `ok` if the client has answered, even by declining. `input-required` if the question ends the round: the answer
   * arrives with another request.
   */
  readonly status: 'ok' | 'error' | 'cancelled' | 'input-required';
  /** The code of the client's error. */
  readonly code: number | undefined;
  /** Why it failed: `timeout`, `client`, `cancelled` and so on. Undefined unless `status` is `error` or `cancelled`. */
  readonly cause: FailureCause | undefined;
  readonly error: unknown;
  readonly #settled: Settled;

  constructor(
    settled: Settled,
    readonly milliseconds: number,
    cancelled: Reply['cancelled'],
  ) {
    const error = 'error' in settled ? settled.error : undefined;
    const isSignal = error instanceof InputSignal;
    this.#settled = settled;
    const failed = cancelled === undefined ? 'error' : 'cancelled';
    this.status = isSignal ? 'input-required' : 'answer' in settled ? 'ok' : failed;
    this.code = error instanceof QuestionError ? error.code : undefined;
    const hasFailed = this.status === 'error' || this.status === 'cancelled';
    this.cause = hasFailed ? questionCauseOf(error, cancelled) : undefined;
    this.error = isSignal ? undefined : error;
  }

  /** A copy of the answer. */
  get result(): JsonObject | undefined {
    return 'answer' in this.#settled ? (structuredClone(this.#settled.answer) as JsonObject) : undefined;
  }
}

/** How a question to the client ended, as plugins see it. */
export type QuestionOutcome = Pick<Ended, keyof Ended>;

/** Waits for the answer. Never rejects. */
async function settle(asking: Promise<JsonObject>): Promise<Settled> {
  try {
    return { answer: await asking };
  } catch (error) {
    return { error };
  }
}

/** Creates the function that runs plugins around questions to clients; undefined if no plugin has `ask`. */
export function askingOf(
  hooks: Hooks<ObservedQuestion, QuestionOutcome>,
  report: (error: unknown) => void,
): Asking | undefined {
  if (hooks.around.length === 0) return undefined;
  const observers = new Observers(hooks, report);
  let hasReported = false;
  const reportMeta = (cause: Error) => {
    if (!hasReported) report(new Error('A plugin has set a `_meta` that is not sent. Reported once.', { cause }));
    hasReported = true;
  };
  return async ({ method, id, exchange }: AskedQuestion, send) => {
    const asking = exchange as Exchange;
    const { request } = asking.observation as Observation;
    const question = { method, id, request, meta: {} };
    const sending = new Task<Settled, QuestionOutcome>(
      () => settle(send(questionMeta(question.meta, reportMeta))),
      (settled, milliseconds) => new Ended(settled, milliseconds, asking.cancelled),
    );
    const settled = await observers.observe(question, sending);
    if ('error' in settled) throw settled.error;
    return settled.answer;
  };
}
