import { andThen, isObject, type JsonObject } from '@decorum/schema/internal';

import { McpError } from '../protocol/errors.js';
import type { Exchange } from '../protocol/exchange.js';
import type { Access, MirroredArgument } from '../protocol/wire.js';
import { isAdmitted } from './admission.js';
import type { Budget } from './budgets/budget.js';
import { Context } from './context.js';
import type { ErrorReporter } from './error-reporter.js';
import type { Call, CallResult, Intercept } from './interceptors.js';
import { remembering } from './memory/ending.js';

/** The outcome of running a member. */
export type Outcome<R> =
  | { readonly kind: 'complete'; readonly result: R }
  /** The client must answer first: the questions in wire format. */
  | { readonly kind: 'input-required'; readonly questions: JsonObject }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A tool, prompt, resource or completion to run for a request. */
export interface Invocation<R extends CallResult> {
  readonly kind: Call['kind'];
  readonly name: string;
  /** The arguments as sent, if any. */
  readonly args: unknown;
  /** The access function; undefined if everybody may use the member. */
  readonly access: Access | undefined;
  /** The outcome for callers without access. They must not be able to tell that the member exists. */
  deny(): Outcome<R>;
  readonly mirrored?: readonly MirroredArgument[];
  /** Whether interceptors run. Defaults to true. */
  readonly isIntercepted?: boolean;
  /** What keeps the result within a maximum; undefined if there is none. */
  readonly budget?: Budget<R> | undefined;
  /** The handler's context, if it needs a special one. */
  readonly context?: Context;
  run(args: JsonObject, context: Context): R | Promise<R>;
}

const NO_ARGUMENTS: JsonObject = Object.freeze({});

/** Runs members, synchronously if possible. */
export interface MemberRunner {
  /** Runs a member. Throws or rejects if `deny` does, and for questions that cannot be sent. */
  run<R extends CallResult>(exchange: Exchange, invocation: Invocation<R>): Outcome<R> | Promise<Outcome<R>>;
}

/** Runs members: access check, then interceptors, then the plan. All runs go through here. */
export class Members implements MemberRunner {
  constructor(
    private readonly reporter: ErrorReporter,
    /** Runs interceptors around members; undefined without interceptors. */
    private readonly intercept: Intercept | undefined,
  ) {}

  run<R extends CallResult>(exchange: Exchange, invocation: Invocation<R>): Outcome<R> | Promise<Outcome<R>> {
    if (invocation.access !== undefined) return this.admit(exchange, invocation, invocation.access);
    const { kind, name, args = NO_ARGUMENTS, mirrored, isIntercepted = true, budget } = invocation;
    const { intercept } = this;
    exchange.member = name;
    let outcome: Outcome<R>;
    try {
      if (!isObject(args)) throw new McpError('invalid-params', '"arguments" is not an object.');
      if (mirrored !== undefined && mirrored.length > 0) exchange.peer.checkArguments?.(mirrored, args);
      const ctx = invocation.context ?? new Context(exchange, budget && { maxResultChars: budget.maxChars });
      const result =
        intercept === undefined || !isIntercepted
          ? invocation.run(args, ctx)
          : intercept({ kind, name, args, ctx }, async (inner) => {
              // cancelled while an interceptor was waiting
              if (exchange.over || (inner !== ctx && inner.signal.aborted)) throw inner.signal.reason as Error;
              return await invocation.run(args, inner);
            });
      if (result instanceof Promise) return this.wait(result, exchange, budget);
      outcome = { kind: 'complete', result: budget === undefined ? result : budget.limit(result) };
    } catch (error) {
      outcome = { kind: 'failed', error };
    }
    return exchange.hasAsked || exchange.remembered !== undefined ? this.end(exchange, outcome) : outcome;
  }

  private async wait<R extends CallResult>(
    running: Promise<R>,
    exchange: Exchange,
    budget: Budget<R> | undefined,
  ): Promise<Outcome<R>> {
    let outcome: Outcome<R>;
    try {
      const result = await running;
      outcome = { kind: 'complete', result: budget === undefined ? result : budget.limit(result) };
    } catch (error) {
      outcome = { kind: 'failed', error };
    }
    return exchange.hasAsked || exchange.remembered !== undefined ? await this.end(exchange, outcome) : outcome;
  }

  /** If the client must answer first, that is the outcome, even if the handler swallowed the signal. */
  private async end<R extends CallResult>(exchange: Exchange, outcome: Outcome<R>): Promise<Outcome<R>> {
    const round = exchange.hasAsked ? exchange.peer.endRound?.(exchange) : undefined;
    const ended: Outcome<R> = round === undefined ? outcome : { kind: 'input-required', questions: await round };
    return exchange.remembered === undefined ? ended : await remembering(exchange, ended, this.reporter);
  }

  private admit<R extends CallResult>(
    exchange: Exchange,
    invocation: Invocation<R>,
    access: Access,
  ): Outcome<R> | Promise<Outcome<R>> {
    return andThen(isAdmitted(access, exchange, this.reporter), (admitted) => {
      if (!admitted) {
        if (exchange.observation !== undefined) exchange.observation.isDenied = true;
        return invocation.deny();
      }
      // cancelled and answered in the meantime
      if (exchange.over) return { kind: 'failed', error: exchange.signal.reason };
      return this.run(exchange, { ...invocation, access: undefined });
    });
  }
}
