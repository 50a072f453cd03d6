import { invalidOption, isObject, type JsonObject } from '@decorum/schema/internal';

import type { CallToolResult, GetPromptResult, ReadResourceResult } from '../protocol/model.js';
import type { CompleteResult } from '../registry/completion-plan.js';
import { HAS_ASKED, WITHIN } from '../registry/caller.js';
import { CombinedSignal } from './combined-signal.js';
import { EXCHANGE } from './context-keys.js';
import type { Context } from './context.js';

/** A call to a tool, prompt, resource or completion, as interceptors see it. */
export interface Call {
  /** The kind of member that is called. */
  readonly kind: 'tool' | 'prompt' | 'resource' | 'completion';
  /**
   * Name of the tool or prompt; URI of the resource; for completions, the prompt or template as the client referenced
   * it.
   */
  readonly name: string;
  /**
   * The arguments as sent, before validation. For a resource, the variables of its template. For a completion, the text
   * typed so far and the arguments already filled in.
   */
  readonly args: JsonObject;
  /** The context that the handler receives. */
  readonly ctx: Context;
}

/** The result of a call, in the types of the newest revision. */
export type CallResult = CallToolResult | GetPromptResult | ReadResourceResult | CompleteResult;

/** Options of `next`. */
export interface NextOptions {
  /** Ends the rest of the call: `ctx.signal` of the handler aborts when this signal does, or when the request ends. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs the rest of the chain: further interceptors, and the handler.
 * @throws {TypeError} for anything but options
 */
export type Next = (options?: NextOptions) => Promise<CallResult>;

/**
 * Wraps calls to tools, prompts, resources and completions, including the validation of their arguments. Calls that
 * `access` denies don't reach interceptors. Return the result of `next`, or another result of the same kind. Throw to
 * reject the call: the client sees a `ToolError` or `McpError`, and any other error is masked. `next` may throw an
 * `InputSignal`, which ends a round and is not an error: don't catch it.
 * @param call the call to run
 * @param next runs the rest of the chain, at most once
 */
export type Interceptor = (call: Call, next: Next) => CallResult | Promise<CallResult>;

/** An interceptor that may call `next` again, such as one that tries a call twice. */
export interface RepeatingInterceptor {
  readonly repeats: boolean;
  /** @param next runs the rest of the chain, as often as it is called, until the client has been asked a question */
  readonly intercept: Interceptor;
}

/** Anything that `interceptors` may have. */
export type AnyInterceptor = Interceptor | RepeatingInterceptor;

/** Runs a call inside all interceptors. Checks that each result is of the right kind. */
export type Intercept = <R extends CallResult>(call: Call, run: (ctx: Context) => Promise<R>) => Promise<R>;

/** The rest of a chain. */
type Rest = (ctx: Context) => Promise<CallResult>;

/** Chains interceptors, the first outermost. Returns undefined if there are none. */
export function intercepting(interceptors: readonly AnyInterceptor[]): Intercept | undefined {
  if (interceptors.length === 0) return undefined;
  return <R extends CallResult>(call: Call, run: (ctx: Context) => Promise<R>) => {
    const chain = interceptors.reduceRight<Rest>(
      (rest, interceptor) => (ctx) => runOne(interceptor, ctx === call.ctx ? call : { ...call, ctx }, rest),
      run,
    );
    return chain(call.ctx) as Promise<R>;
  };
}

/**
 * Rejects a list that has anything but interceptors.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireInterceptors(list: unknown, where: string): void {
  const isOne = (each: unknown) => {
    const { repeats, intercept } = (each ?? {}) as Partial<RepeatingInterceptor>;
    return typeof each === 'function' || (typeof repeats === 'boolean' && typeof intercept === 'function');
  };
  if (Array.isArray(list) && list.every(isOne)) return;
  const problem = 'must be an array of functions, or of objects `{ repeats: true, intercept(call, next) { … } }`';
  throw invalidOption(where, 'interceptors', problem);
}

/**
 * Rejects a call in place of options: the function that creates an interceptor was listed without being called.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireCalled(maker: string, given: unknown, call: string): void {
  if (!isObject(given) || !('kind' in given && 'ctx' in given)) return;
  const problem = `contains \`${maker}\` itself. Write \`interceptors: [${call}]\``;
  throw invalidOption('McpServer', 'interceptors', problem);
}

/** The member that each kind of result must have. */
const MEMBERS = { tool: 'content', prompt: 'messages', resource: 'contents', completion: 'completion' } as const;

/** What errors call an interceptor. */
function nameOf(interceptor: AnyInterceptor): string {
  if (typeof interceptor === 'function') return interceptor.name || '(anonymous)';
  const { name } = interceptor.constructor;
  return name === 'Object' ? interceptor.intercept.name : name;
}

/** @throws {Error} for a second run that could not be told from the first one, or that was not declared */
function requireRepeatable(interceptor: AnyInterceptor, ctx: Context): void {
  const problem = `The interceptor ${nameOf(interceptor)} called next() twice`;
  if (typeof interceptor === 'function' || !interceptor.repeats) {
    throw new Error(`${problem}. Call it once, or declare it as \`{ repeats: true, intercept(call, next) { … } }\`.`);
  }
  if (!ctx[HAS_ASKED]) return;
  const remedy = 'Call it again only for members that ask nothing';
  throw new Error(`${problem}, but the client was asked a question in this request. ${remedy}.`);
}

/** Runs the rest within a signal, if one is given. */
async function runRest(rest: Rest, ctx: Context, options: NextOptions | undefined): Promise<CallResult> {
  const { signal } = options ?? {};
  const isKnown =
    options === undefined || (isObject(options) && Object.keys(options).every((name) => name === 'signal'));
  if (!isKnown || options instanceof AbortSignal || (signal !== undefined && !(signal instanceof AbortSignal))) {
    throw new TypeError('`next` takes an AbortSignal as an option: write `next({ signal })`.');
  }
  if (signal === undefined) return await rest(ctx);
  signal.throwIfAborted();
  const combined = new CombinedSignal(ctx, signal);
  try {
    return await rest(ctx[WITHIN](combined));
  } catch (error) {
    combined.hasFailed = true;
    throw error;
  } finally {
    combined.end();
  }
}

async function runOne(interceptor: AnyInterceptor, call: Call, rest: Rest): Promise<CallResult> {
  let isCalled = false;
  const next: Next = (options) => {
    if (isCalled) requireRepeatable(interceptor, call.ctx);
    const failing = isCalled || typeof interceptor !== 'function' ? { hasFailed: false } : undefined;
    // a handler that may run again has its whole budget each time, and what it writes to memory is its own
    const ctx = failing ? call.ctx[WITHIN](failing) : call.ctx;
    isCalled = true;
    const exchange = call.ctx[EXCHANGE]();
    const before = exchange.remembered?.enter() ?? 0;
    const running = runRest(rest, ctx, options);
    // an interceptor that returns its own result may never await this promise
    running.catch(() => {
      if (failing) failing.hasFailed = true;
      else exchange.remembered?.drop(before);
    });
    return running;
  };
  const result: unknown = await (typeof interceptor === 'function'
    ? interceptor(call, next)
    : interceptor.intercept(call, next));
  const member = MEMBERS[call.kind];
  const found = isObject(result) ? result[member] : undefined;
  if (member === 'completion' ? isObject(found) : Array.isArray(found)) return result as CallResult;
  throw new Error(
    `The interceptor ${nameOf(interceptor)} did not return the result of a ${call.kind}: "${member}" is missing. ` +
      'Return the result of next(), or a complete result of your own.',
  );
}
