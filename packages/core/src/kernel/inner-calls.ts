import { andThen, isObject, isPromise, type JsonObject } from '@decorum/schema/internal';

import type { Effect } from '../protocol/effects.js';
import { FAILURES, McpError, ToolError } from '../protocol/errors.js';
import type { Exchange } from '../protocol/exchange.js';
import { InputSignal } from '../protocol/input.js';
import { type Asking, noted, type Observation, type ObservedRequest } from '../protocol/observed.js';
import { NOTHING, type Reply } from '../protocol/reply.js';
import type { Question } from '../protocol/revisions/revision.js';
import type { InnerCall, InnerCalls } from '../registry/inner-call.js';
import type { Caller } from '../registry/caller.js';
import type { Registry } from '../registry/registry.js';
import { CompletionContext } from './completion-context.js';
import { Context } from './context.js';
import { EXCHANGE, SCOPE } from './context-keys.js';
import type { ErrorReporter } from './error-reporter.js';
import { type AnyInterceptor, intercepting } from './interceptors.js';
import { observedExchange, outcomeOf, type RequestOutcome } from './observed.js';
import type { Observing } from './observed-kernel.js';
import { askingOf } from './observed-questions.js';
import { Observers, Work } from './observers.js';

/** What a server has of its own for calls of its members. */
export interface InnerParts {
  readonly registry: Registry;
  readonly reporter: ErrorReporter;
  readonly interceptors: readonly AnyInterceptor[];
  /** Whether the server has error rules. */
  readonly hasRules: boolean;
  /** Whether the server has a logger or `onError`, and so masks errors itself. */
  readonly masks: boolean;
  readonly observing: Observing | undefined;
}

/** The functions that replace those of the exchange of the server that mounts. */
type Own = Partial<Pick<Exchange, 'params' | 'ask'>> & { observation?: Observation };

/** A request, as the server of the member would have got it. Everything else is that of the server that mounts. */
function innerExchange(outer: Exchange, { kind, name }: InnerCall, own: Own): Exchange {
  const named = (): JsonObject => {
    const { params } = outer;
    const { ref } = params;
    if (kind !== 'completion') return { ...params, [kind === 'resource' ? 'uri' : 'name']: name };
    return isObject(ref)
      ? { ...params, ref: { ...ref, [ref['type'] === 'ref/prompt' ? 'name' : 'uri']: name } }
      : params;
  };
  return new Proxy(outer, {
    get(target, key) {
      if (key === 'params') return named();
      const value: unknown = Reflect.get(key in own ? own : target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** How a call ended. */
type Ended<R> = { readonly result: R } | { readonly error: unknown };

/** A call that plugins observe. */
class InnerWork<R extends object> extends Work<Ended<R>, RequestOutcome> implements Observation {
  readonly request: ObservedRequest;
  readonly call: InnerCall;
  readonly outer: Exchange;
  readonly exchange: Exchange;
  ended: unknown = undefined;
  /** The error of the member, before its server has masked it. */
  private thrown: unknown = undefined;
  isDenied = false;
  shown: Observation['shown'] = undefined;

  constructor(
    private readonly server: ServerCalls,
    { call, outer }: { readonly call: InnerCall; readonly outer: Exchange },
    private readonly run: (exchange: Exchange) => R | Promise<R>,
  ) {
    super();
    this.call = call;
    this.outer = outer;
    this.exchange = innerExchange(outer, call, { observation: this, ask: server.asks(this) });
    this.request = observedExchange(this.exchange, server.parts.registry);
  }

  effects(): readonly Effect[] {
    return this.outer.finishedEffects;
  }

  protected start(): Ended<R> | Promise<Ended<R>> {
    const complete = (result: R): Ended<R> => {
      this.ended = { kind: 'complete', result };
      return { result };
    };
    const failed = (error: unknown): Ended<R> => {
      const isInterim = error instanceof InputSignal;
      this.ended = isInterim ? { kind: 'input-required', questions: {} } : { kind: 'failed', error };
      this.thrown = error;
      return { error: this.server.failure(error, this) };
    };
    try {
      const result = this.run(this.exchange);
      return isPromise(result) ? result.then(complete, failed) : complete(result);
    } catch (error) {
      return failed(error);
    }
  }

  protected endOf(ended: Ended<R>, milliseconds: number): RequestOutcome {
    return outcomeOf(this.replyOf(ended), milliseconds, this);
  }

  private replyOf(ended: Ended<R>): Reply {
    const { cancelled, revision } = this.outer;
    if (cancelled !== undefined) return { text: undefined, cancelled };
    // read by plugins that want the result, and by no others
    if ('result' in ended)
      return {
        get text() {
          return JSON.stringify(ended);
        },
      };
    const { error } = ended;
    if (error instanceof InputSignal) return NOTHING;
    // the server that mounts masks the error, and gives it a reference
    const masked = error instanceof McpError || error instanceof ToolError ? {} : { reference: '' };
    const code = error instanceof McpError ? revision.errorCode(error) : undefined;
    if (this.call.kind === 'tool' && code === undefined) return { text: undefined, ...masked };
    const told = error instanceof ToolError ? error.message : 'Internal error';
    const failure = error instanceof McpError ? error : new McpError('internal-error', told);
    return {
      text: undefined,
      failure,
      ran: true,
      thrown: this.thrown ?? error,
      code: code ?? FAILURES['internal-error'].code,
      ...masked,
    };
  }
}

/** What a server does around calls of its members on a server that mounts it. */
class ServerCalls implements InnerCalls {
  private readonly intercept: ReturnType<typeof intercepting>;
  private readonly observers: Observers<ObservedRequest, RequestOutcome> | undefined;
  private readonly asking: Asking | undefined;

  constructor(readonly parts: InnerParts) {
    const { observing, interceptors, reporter } = parts;
    const report = (error: unknown) => void reporter.report(error);
    this.intercept = intercepting(interceptors);
    this.observers = observing && new Observers(observing.requests, report);
    this.asking = observing && askingOf(observing.questions, report);
  }

  run<R extends object>(call: InnerCall, run: (caller: Caller) => R | Promise<R>): R | Promise<R> {
    const outer = (call.caller as Context)[EXCHANGE]();
    const { observers } = this;
    if (observers !== undefined) {
      const work = new InnerWork(this, { call, outer }, (exchange) => this.pass(this.within(call, exchange), run));
      return andThen(observers.observe(work.request, work), valueOf);
    }
    const fail = (error: unknown): never => {
      throw this.failure(error, { call, outer, exchange: innerExchange(outer, call, {}) });
    };
    try {
      const result = this.pass(call, run);
      return isPromise(result) ? result.catch(fail) : result;
    } catch (error) {
      return fail(error);
    }
  }

  /** Passes a call through the interceptors. */
  private pass<R extends object>(call: InnerCall, run: (caller: Caller) => R | Promise<R>): R | Promise<R> {
    const { kind, name, args } = call;
    const ctx = call.caller as Context;
    if (this.intercept === undefined) return run(ctx);
    return this.intercept({ kind, name, args, ctx }, async (inner) => await (run(inner) as never)) as R | Promise<R>;
  }

  /** The call with a context whose questions plugins see. */
  private within(call: InnerCall, exchange: Exchange): InnerCall {
    const { caller } = call;
    const isCompletion = caller instanceof CompletionContext;
    const { [SCOPE]: scope } = caller as Context;
    return {
      ...call,
      caller: isCompletion ? new CompletionContext(exchange, caller.args, scope) : new Context(exchange, scope),
    };
  }

  /** Asks the client, and lets plugins see the questions of a call. */
  asks(work: Observation & { readonly outer: Exchange; readonly exchange: Exchange }): Exchange['ask'] {
    const { outer } = work;
    const { asking } = this;
    const send = (question: Question) => outer.ask(question);
    if (asking === undefined) return (question) => noted(work, question, () => send(question));
    const observed = async (question: Question): Promise<JsonObject> => {
      const { method, params } = question;
      const asked = { method, id: undefined, exchange: work.exchange };
      const withMeta = (meta: JsonObject | undefined) =>
        meta ? { ...question, params: { ...params, _meta: meta }, identity: question.identity ?? params } : question;
      if (outer.peer.endRound === undefined) return await asking(asked, (meta) => send(withMeta(meta)));
      try {
        return await send(question);
      } catch (signal) {
        const fail = async () => await Promise.reject(signal as Error);
        if (signal instanceof InputSignal) asking(asked, fail).catch(() => {});
        throw signal;
      }
    };
    return (question) => noted(work, question, () => observed(question));
  }

  /** The error that the server that mounts gets: one for clients, if the member's own server decides what they see. */
  failure(
    error: unknown,
    { call, outer, exchange }: { call: InnerCall; outer: Exchange; exchange: Exchange },
  ): unknown {
    const { reporter, masks } = this.parts;
    const isPublic = error instanceof McpError || error instanceof ToolError;
    if (isPublic && exchange.observation !== undefined) exchange.observation.shown = { error, reference: undefined };
    if (isPublic || error instanceof InputSignal || outer.over) return error;
    if (!masks && reporter.expected(error, exchange) === undefined) return error;
    const shown = call.kind === 'tool' ? reporter.shown(error, exchange) : reporter.publicError(error, exchange);
    const reference = exchange.observation?.shown?.reference;
    if (outer.observation !== undefined) outer.observation.shown = { error: shown, reference };
    return shown;
  }
}

function valueOf<R>(ended: Ended<R>): R {
  if ('error' in ended) throw ended.error;
  return ended.result;
}

/** What a server does around calls of its members on a server that mounts it; undefined if nothing. */
export function innerCalls(parts: InnerParts): InnerCalls | undefined {
  const { interceptors, hasRules, masks, observing } = parts;
  return interceptors.length > 0 || hasRules || masks || observing !== undefined ? new ServerCalls(parts) : undefined;
}
