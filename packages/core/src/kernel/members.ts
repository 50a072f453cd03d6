import { McpError } from '../protocol/errors.js';
import type { Exchange } from '../protocol/exchange.js';
import { isObject } from '../protocol/jsonrpc.js';
import { andThen } from '../protocol/maybe-promise.js';
import type { JsonObject } from '../protocol/model.js';
import type { Access, MirroredArgument } from '../protocol/wire.js';
import { isAdmitted } from './admission.js';
import { Context } from './context.js';
import type { ErrorReporter } from './error-reporter.js';
import type { Call, CallResult, Intercept } from './interceptors.js';

/** What running a member gives. */
export type Outcome<R> =
  | { readonly kind: 'complete'; readonly result: R }
  /** The client must answer first: the questions, in the words of the protocol. */
  | { readonly kind: 'input-required'; readonly questions: JsonObject }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A tool, prompt, resource or completion that a request names, and how to run it. */
export interface Invocation<R extends CallResult> {
  readonly kind: Call['kind'];
  readonly name: string;
  /** As they were sent; undefined where none were. */
  readonly args: unknown;
  /** Who may use it; undefined where everybody may. */
  readonly access: Access | undefined;
  /** What callers without access get: they can't tell that the member exists. */
  deny(): Outcome<R>;
  readonly mirrored?: readonly MirroredArgument[];
  /** By default interceptors stand around the run. */
  readonly isIntercepted?: boolean;
  /** The handler's context, where it is not a plain one. */
  readonly context?: Context;
  run(args: JsonObject, context: Context): R | Promise<R>;
}

const NO_ARGUMENTS: JsonObject = Object.freeze({});

/** Runs members: access, then interceptors, then the plan. The only place that does. */
export class Members {
  constructor(
    private readonly reporter: ErrorReporter,
    /** Stands around what members run; undefined where nothing does. */
    private readonly intercept: Intercept | undefined,
  ) {}

  /** Synchronous where nothing has to be waited for. Throws, or rejects, where `deny` does, and for questions that cannot be sent. */
  run<R extends CallResult>(
    exchange: Exchange,
    invocation: Invocation<R>,
    mayRun = invocation.access === undefined,
  ): Outcome<R> | Promise<Outcome<R>> {
    if (!mayRun) return this.admit(exchange, invocation);
    const { kind, name, args = NO_ARGUMENTS, mirrored, isIntercepted = true } = invocation;
    const { intercept } = this;
    let outcome: Outcome<R>;
    try {
      if (!isObject(args)) throw new McpError('invalid-params', '"arguments" is not an object.');
      if (mirrored !== undefined && mirrored.length > 0) exchange.peer.checkArguments?.(mirrored, args);
      const ctx = invocation.context ?? new Context(exchange);
      const result =
        intercept === undefined || !isIntercepted
          ? invocation.run(args, ctx)
          : intercept({ kind, name, args, ctx }, async () => await invocation.run(args, ctx));
      if (result instanceof Promise) return wait(result, exchange);
      outcome = { kind: 'complete', result };
    } catch (error) {
      outcome = { kind: 'failed', error };
    }
    return askedBy(exchange, outcome);
  }

  private admit<R extends CallResult>(exchange: Exchange, invocation: Invocation<R>): Outcome<R> | Promise<Outcome<R>> {
    return andThen(isAdmitted(invocation.access as Access, exchange, this.reporter), (admitted) =>
      admitted ? this.run(exchange, invocation, true) : invocation.deny(),
    );
  }
}

async function wait<R>(running: Promise<R>, exchange: Exchange): Promise<Outcome<R>> {
  let outcome: Outcome<R>;
  try {
    outcome = { kind: 'complete', result: await running };
  } catch (error) {
    outcome = { kind: 'failed', error };
  }
  return await askedBy(exchange, outcome);
}

/** If the client must answer first, that is the outcome, even where the handler swallowed the signal. */
function askedBy<R>(exchange: Exchange, outcome: Outcome<R>): Outcome<R> | Promise<Outcome<R>> {
  const round = exchange.peer.endRound?.(exchange);
  return round === undefined ? outcome : round.then((questions) => ({ kind: 'input-required', questions }) as const);
}
