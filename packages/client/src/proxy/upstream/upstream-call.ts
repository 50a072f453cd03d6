import {
  type ClientCapabilities,
  type Context,
  InputSignal,
  type JsonObject,
  type LogLevel,
  McpError,
} from '@decorum/core';
import { askClient, type Question as FrontQuestion } from '@decorum/core/plugin';

import type { Question } from '../../questions.js';
import type { Notification, RequestOptions } from '../../request.js';
import type { UpstreamClock } from './clock.js';
import { forwarded, refusal } from './forwarding.js';
import type { Visits } from './visits.js';

/** Cap on the questions of a call that are open at a time. */
const MAX_OPEN = 50;

/** Milliseconds to wait for further questions once one ends the round, so that the client gets them together. */
const TOGETHER_MS = 20;

/** What a call needs of its connection. */
export interface CallParts {
  /** Put before the messages of questions. */
  readonly source: string;
  /** What the connection has declared for the client in front. */
  readonly declared: ClientCapabilities;
  readonly clock: UpstreamClock;
  readonly visits: Visits;
}

interface Asked {
  readonly question: FrontQuestion;
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A request under way upstream, for one call of a client in front. It outlives the handler of that call: without a
 * session in front, the client answers questions in other requests, whose handlers attend to it in turn.
 */
export class UpstreamCall {
  /** The options of the request, by which its questions are told apart from those of others. */
  readonly options: RequestOptions;
  private readonly control = new AbortController();
  private readonly asked = new Map<string, Asked>();
  private count = 0;
  private outcome!: Promise<JsonObject>;
  /** The handler that attends to the call; undefined between rounds. */
  private ctx: Context | undefined;
  private endRound: (signal: InputSignal) => void = () => {};

  /** @param meta what goes upstream in `_meta` */
  constructor(
    readonly parts: CallParts,
    meta: JsonObject,
  ) {
    this.options = {
      signal: this.control.signal,
      meta,
      onProgress: (progress, total, message) => this.ctx?.progress(progress, total, message),
      onNotification: (notification) => this.hear(notification),
    };
  }

  /** Sends the request. */
  send(request: (options: RequestOptions) => Promise<JsonObject>): void {
    this.outcome = request(this.options);
    // nobody may attend to it when it fails
    this.outcome.catch(() => {});
  }

  /** Resolves once the call is over, whatever became of it. */
  get over(): Promise<void> {
    return Promise.allSettled([this.outcome]).then(() => undefined);
  }

  /** Whether it waits for an answer of its user. */
  get isAsking(): boolean {
    return this.asked.size > 0;
  }

  /** Shows a log message to the client in front. */
  hear({ method, params }: Notification): void {
    if (method !== 'notifications/message') return;
    const { level, data, logger } = params;
    this.ctx?.log.write(level as LogLevel, data, typeof logger === 'string' ? logger : undefined);
  }

  /** Cancels the request. */
  cancel(reason: unknown): void {
    this.control.abort(reason);
  }

  /**
   * Asks the client in front a question of the upstream, now or in its next round.
   * @throws {McpError} for a question that can't be asked, and if the client does not answer
   */
  async ask(question: Question, until: AbortSignal): Promise<JsonObject> {
    const { source, declared, visits } = this.parts;
    if (this.asked.size >= MAX_OPEN)
      throw new McpError('internal-error', `A call can ask ${MAX_OPEN} questions at a time.`);
    const key = `${source}.${++this.count}`;
    const front = { ...forwarded(question, { source, declared }), key, until };
    const { elicitationId } = front.params;
    if (typeof elicitationId === 'string') visits.add(elicitationId, elicitationId);
    const withdraw = () => this.asked.get(key)?.reject(until.reason as Error);
    until.addEventListener('abort', withdraw);
    try {
      return await new Promise<JsonObject>((resolve, reject) => {
        const asked = { question: front, resolve, reject };
        this.asked.set(key, asked);
        this.put(asked);
      });
    } finally {
      this.asked.delete(key);
      until.removeEventListener('abort', withdraw);
    }
  }

  /**
   * Attends to the call until its result, or until the client in front has to answer first.
   * @throws {InputSignal} if the client has to answer first. The call goes on meanwhile
   */
  async attend(ctx: Context): Promise<JsonObject> {
    const { signal } = ctx;
    const cancel = () => this.cancel(signal.reason);
    signal.addEventListener('abort', cancel);
    this.ctx = ctx;
    try {
      return await new Promise((resolve, reject) => {
        if (signal.aborted) cancel();
        let isEnding = false;
        this.endRound = (ending) => {
          if (!isEnding) this.parts.clock.after(TOGETHER_MS, () => reject(ending));
          isEnding = true;
        };
        // a result that comes while the round ends is for the next one
        this.outcome.then(
          (result) => isEnding || resolve(result),
          (error: Error) => isEnding || reject(error),
        );
        for (const asked of this.asked.values()) this.put(asked);
      });
    } finally {
      signal.removeEventListener('abort', cancel);
      this.ctx = undefined;
    }
  }

  private put({ question, resolve, reject }: Asked): void {
    if (this.ctx === undefined) return;
    askClient(this.ctx, question).then(resolve, (error: unknown) => {
      if (error instanceof InputSignal) this.endRound(error);
      else reject(refusal(error));
    });
  }
}
