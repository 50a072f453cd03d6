// a test may have replaced the global timers
import { clearTimeout, setTimeout } from 'node:timers';

import type { JsonObject } from '@decorum/core';

import { guard } from './guard.js';
import type { AskingCall, RequestOptions } from './request.js';

/** The longest time that a timer of Node can wait, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

/** What becomes of a call. */
export interface Outcome {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
  /** Gives up on the call, and tells the server. */
  readonly give: (error: Error) => void;
  /** Called when the server has not answered in time. */
  readonly expire: () => void;
}

/** A request that waits for its response. */
export class PendingCall implements AskingCall {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RequestOptions;
  private timer: NodeJS.Timeout | undefined;
  /** What the call waits for that isn't the server: questions that are being answered, and the user who signs in. */
  private pauses = 0;

  /** @param timeoutMs milliseconds to wait for the server; 0 waits without an end */
  constructor(
    { method, params, options }: AskingCall,
    private readonly outcome: Outcome & { readonly timeoutMs: number },
  ) {
    this.method = method;
    this.params = params;
    this.options = options;
    this.restart();
  }

  /** Starts the time again, because the server is at work. */
  restart(): void {
    clearTimeout(this.timer);
    const { timeoutMs, expire } = this.outcome;
    if (timeoutMs > 0 && this.pauses === 0) this.timer = setTimeout(expire, Math.min(timeoutMs, LONGEST_MS));
  }

  /** Stops the time while the client has to do something. */
  pause(): void {
    this.pauses += 1;
    clearTimeout(this.timer);
  }

  goOn(): void {
    this.pauses -= 1;
    this.restart();
  }

  /** Calls a function of the caller. If it fails, the caller has no use for the call. */
  tell(callback: () => unknown): void {
    guard(callback, this.outcome.give);
  }

  resolve(result: JsonObject): void {
    this.end();
    this.outcome.resolve(result);
  }

  reject(error: Error): void {
    this.end();
    this.outcome.reject(error);
  }

  private end(): void {
    this.pauses = Infinity;
    clearTimeout(this.timer);
  }
}
