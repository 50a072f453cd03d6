import { McpError, type RequestId } from '@decorum/core';

import { onAbort } from './on-abort.js';
import type { PendingCall } from './pending-call.js';
import type { Question } from './questions.js';
import type { AskingCall } from './request.js';

/** Cap on the questions that are answered at a time. A server that asks more gets an error. */
const MAX_QUESTIONS = 100;

/** Cap on the answers that are being sent at a time. A server that takes none gets no more. */
const MAX_REPLIES = 100;

interface Asked {
  ask(question: Question, call: AskingCall | undefined, signal: AbortSignal): Promise<object>;
  failed?(error: Error): void;
}

/** The questions of a server that are being answered. */
export class ServerQuestions {
  private readonly open = new Set<AbortController>();
  /** Those that were sent as requests, which the server may withdraw. */
  private readonly sent = new Map<RequestId, AbortController>();

  private replies = 0;

  constructor(private readonly asked: Asked) {}

  /**
   * Answers a request of the server.
   * @param calls the calls that may ask
   * @returns the `result` or `error` of the response; undefined if the server has withdrawn the question
   */
  async answer(
    { id, ...question }: Question & { readonly id: RequestId },
    calls: readonly PendingCall[],
  ): Promise<object | undefined> {
    const control = new AbortController();
    this.sent.set(id, control);
    for (const call of calls) call.pause();
    try {
      const call = calls.length === 1 ? calls[0] : undefined;
      return { result: await this.ask(question, call, control) };
    } catch (error) {
      if (control.signal.aborted) return undefined;
      const { code, message, data } = error instanceof McpError ? error : this.failure(error);
      return { error: { code, message, data } };
    } finally {
      for (const call of calls) call.goOn();
      if (this.sent.get(id) === control) this.sent.delete(id);
    }
  }

  /** Servers may be anybody's, so they don't learn what went wrong in the client. */
  private failure(error: unknown): McpError {
    const { asked } = this;
    if (!asked.failed) return new McpError('internal-error', String(error));
    asked.failed(error instanceof Error ? error : new Error(String(error)));
    return new McpError('internal-error', 'The client could not answer.');
  }

  /** Sends an answer, unless too many are being sent. Never rejects, because the connection may have ended. */
  async reply(send: () => Promise<unknown>): Promise<void> {
    if (this.replies >= MAX_REPLIES) return;
    this.replies += 1;
    await send().catch(() => {});
    this.replies -= 1;
  }

  /** Answers a question in a result. */
  async inRound(question: Question, call: AskingCall): Promise<object> {
    const control = new AbortController();
    const { signal } = call.options;
    signal?.throwIfAborted();
    const off = onAbort(signal, () => control.abort(signal?.reason));
    try {
      return await Promise.race([this.ask(question, call, control), aborted(control.signal)]);
    } finally {
      off();
    }
  }

  /** The server no longer needs an answer. */
  withdraw(id: RequestId): void {
    this.sent.get(id)?.abort(new Error('The server has withdrawn the question.'));
  }

  /** Nobody needs the answers any more. */
  end(): void {
    for (const control of this.open) control.abort(new Error('The connection has ended.'));
  }

  private async ask(question: Question, call: AskingCall | undefined, control: AbortController): Promise<object> {
    if (this.open.size >= MAX_QUESTIONS) {
      throw new McpError('internal-error', `The client answers at most ${MAX_QUESTIONS} questions at a time.`);
    }
    this.open.add(control);
    try {
      return await this.asked.ask(question, call, control.signal);
    } finally {
      this.open.delete(control);
    }
  }
}

async function aborted(signal: AbortSignal): Promise<never> {
  return await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}
