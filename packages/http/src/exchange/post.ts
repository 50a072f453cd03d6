import type { McpError, Principal, RequestId, TransportInfo } from '@decorum/core';
import { errorFrame, type Reply } from '@decorum/core/transport';

import { challengeOf } from '../auth/challenge.js';
import { internalError } from '../endpoint/answer.js';
import { type AnswerHeaders, type HttpContext, transportInfo } from '../endpoint/http-context.js';
import { HttpError, HttpLimitError } from '../endpoint/http-error.js';
import type { ExchangeParts } from './exchange-parts.js';

/** One POST, and how it is answered if it is denied or fails. The kinds of POST differ in where results go. */
export abstract class Post {
  abstract readonly principal: Principal | undefined;
  protected abstract readonly context: HttpContext;
  protected abstract readonly parts: ExchangeParts;
  /** Whether the HTTP response has been sent or started. */
  protected abstract readonly hasResponded: boolean;
  /** Whether the message belongs to a session, or would if the endpoint kept sessions. */
  protected abstract readonly inSession: boolean;

  get kind() {
    return 'http' as const;
  }

  get transport(): TransportInfo {
    return transportInfo(this.context, this.parts.credentials);
  }

  /** Sends a complete HTTP response, or the end of the one that has started. */
  protected abstract answer(status: number, text?: string, headers?: AnswerHeaders): void;

  /** The id of the message, if it can be read. */
  protected get id(): RequestId | undefined {
    return undefined;
  }

  /** Headers of every response. */
  protected get headers(): AnswerHeaders {
    return {};
  }

  /** Answers a message that the kernel has denied. A batch gets one error, because none of its messages has run. */
  protected deny(failure: McpError, { text, parts: all }: Reply): void {
    const { principal, inSession } = this;
    const { status, headers } = challengeOf(failure, { principal, inSession }, this.parts.gate?.auth);
    this.answer(status, (all ? undefined : text) ?? errorFrame(undefined, failure), { ...this.headers, ...headers });
  }

  /** Answers with an error, or drops the connection if it's too late for that. */
  protected fail(error: unknown): void {
    if (error instanceof HttpError) {
      if (error instanceof HttpLimitError) this.parts.hit(error.hitBy(this.context));
      return this.answer(error.status, error.body(this.id), error.headers);
    }
    this.parts.report(error);
    if (this.hasResponded) return this.context.drop();
    this.answer(500, internalError(this.id));
  }
}
