import { isObject, type JsonObject } from '@decorum/schema/internal';

import { QuestionError } from '../errors.js';
import { withFailureCause } from '../failure-cause.js';
import { notificationFrame, questionFrame } from '../frame.js';
import type { JsonRpcResponse } from '../jsonrpc.js';
import type { ReachedLimit, ServerLimits } from '../limits.js';
import type { Asker } from '../peer.js';
import type { Question } from '../revisions/revision.js';
import { clientError } from './client-error.js';

type Waiting = (answer: { readonly result: JsonObject } | { readonly error: Error }) => void;

/** Settings of questions that all sessions of a server share. */
export interface QuestionMeans {
  /** Milliseconds to wait for the client's answer to a question. */
  readonly questionTimeoutMs: number;
  readonly limits: Required<ServerLimits>;
  /** Reports a limit that the client has reached. */
  readonly hit: (hit: ReachedLimit) => void;
}

/** The questions that a session's client has not answered yet. */
export class PendingQuestions {
  private waiting: Map<string, Waiting> | undefined;

  constructor(private readonly means: QuestionMeans) {}

  /** Sends a request on the stream of the exchange that it belongs to, and waits for the response. */
  send(id: string, question: Question, exchange: Asker): Promise<JsonObject> {
    const { wire } = exchange;
    if (exchange.cancelled !== undefined) throw exchange.signal.reason as Error;
    exchange.release();
    const waiting = (this.waiting ??= new Map<string, Waiting>());
    const { limits, hit } = this.means;
    if (waiting.size >= limits.maxQuestions) {
      hit({ limit: 'maxQuestions', principal: wire.principal, remoteAddress: wire.transport.remoteAddress });
      throw new QuestionError(`The client has not answered ${limits.maxQuestions} other questions.`);
    }
    return new Promise<JsonObject>((resolve, reject) => {
      const stop = (error: Error, reason: string) => {
        wire.send(notificationFrame('notifications/cancelled', { requestId: id, reason }));
        settle({ error });
      };
      const forget = exchange.onCancel((reason) => stop(reason, 'The request that it belongs to was cancelled.'));
      const ms = question.timeoutMs ?? this.means.questionTimeoutMs;
      const giveUp = () => {
        const late = new QuestionError(`The client did not answer within ${ms} ms.`);
        stop(withFailureCause(late, 'timeout'), 'Timed out.');
      };
      const timer = setTimeout(giveUp, ms);
      const withdraw = () => waiting.has(id) && stop(new QuestionError('The question was withdrawn.'), 'Not needed.');
      question.until?.addEventListener('abort', withdraw, { once: true });
      const settle: Waiting = (answer) => {
        clearTimeout(timer);
        forget();
        waiting.delete(id);
        if ('error' in answer) reject(answer.error);
        else resolve(answer.result);
      };
      waiting.set(id, settle);
      wire.send(questionFrame(id, question.method, question.params));
    });
  }

  /** Settles the question that a response belongs to. Returns whether it is pending here. */
  settle({ id, result, error }: JsonRpcResponse): boolean {
    const waiting = typeof id === 'string' ? this.waiting?.get(id) : undefined;
    waiting?.(isObject(result) ? { result } : { error: clientError(error) });
    return waiting !== undefined;
  }

  /** Rejects all of them: the client is gone. */
  close(): void {
    for (const settle of this.waiting?.values() ?? []) settle({ error: new QuestionError('The session has ended.') });
  }
}
