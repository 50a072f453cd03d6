import { invalidOption, isObject, type JsonObject } from '@decorum/schema/internal';

import type { CallToolResult, GetPromptResult, ReadResourceResult } from '../protocol/model.js';
import type { CompleteResult } from '../registry/completion-plan.js';
import type { Context } from './context.js';

/** A call to a tool, prompt, resource or completion, as interceptors see it. */
export interface Call {
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
  readonly ctx: Context;
}

/** The result of a call, in the types of the newest revision. */
export type CallResult = CallToolResult | GetPromptResult | ReadResourceResult | CompleteResult;

/**
 * Wraps calls to tools, prompts, resources and completions, including the validation of their arguments. Calls that
 * `access` denies don't reach interceptors. Return the result of `next`, or another result of the same kind. Throw to
 * reject the call: the client sees a `ToolError` or `McpError`, and any other error is masked. `next` may throw an
 * `InputSignal`, which ends a round and is not an error: don't catch it.
 * @param call the call to run
 * @param next runs the rest of the chain, at most once
 */
export type Interceptor = (call: Call, next: () => Promise<CallResult>) => CallResult | Promise<CallResult>;

/** Runs a call inside all interceptors. Checks that each result is of the right kind. */
export type Intercept = <R extends CallResult>(call: Call, run: () => Promise<R>) => Promise<R>;

/** Chains interceptors, the first outermost. Returns undefined if there are none. */
export function intercepting(interceptors: readonly Interceptor[]): Intercept | undefined {
  if (interceptors.length === 0) return undefined;
  return <R extends CallResult>(call: Call, run: () => Promise<R>) => {
    const chain = interceptors.reduceRight<() => Promise<CallResult>>(
      (next, interceptor) => () => runOne(interceptor, call, next),
      run,
    );
    return chain() as Promise<R>;
  };
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

async function runOne(interceptor: Interceptor, call: Call, next: () => Promise<CallResult>): Promise<CallResult> {
  const name = interceptor.name || '(anonymous)';
  let isCalled = false;
  const result: unknown = await interceptor(call, () => {
    if (isCalled) throw new Error(`The interceptor ${name} called next() twice. Call it once.`);
    isCalled = true;
    const running = next();
    // an interceptor that returns its own result may never await this promise
    running.catch(() => {});
    return running;
  });
  const member = MEMBERS[call.kind];
  const found = isObject(result) ? result[member] : undefined;
  if (member === 'completion' ? isObject(found) : Array.isArray(found)) return result as CallResult;
  throw new Error(
    `The interceptor ${name} did not return the result of a ${call.kind}: "${member}" is missing. ` +
      'Return the result of next(), or a complete result of your own.',
  );
}
