import { startupError } from '../protocol/errors.js';
import { isObject } from '../protocol/jsonrpc.js';
import type { CallToolResult, GetPromptResult, JsonObject, ReadResourceResult } from '../protocol/model.js';
import type { CompleteResult } from '../registry/completion-plan.js';
import type { Context } from './context.js';

/** One run of a tool, prompt, resource or completion, as an interceptor sees it. */
export interface Call {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'completion';
  /** Of the tool or prompt; the URI that is read; for completions the prompt or template as the client names it. */
  readonly name: string;
  /**
   * The arguments as sent, not checked yet. Of a resource the variables of its template, of a completion what is typed
   * and what is filled in already.
   */
  readonly args: JsonObject;
  readonly ctx: Context;
}

/** What a call results in, in the shape of the newest revision. */
export type CallResult = CallToolResult | GetPromptResult | ReadResourceResult | CompleteResult;

/**
 * Stands around every run of a tool, prompt, resource or completion, with the checks of its arguments. It returns the
 * result: what `next` gives, or another of the same kind. It refuses by throwing: the client sees a `ToolError` or
 * `McpError`, and anything else is masked. An `InputSignal` of `next` ends a round and is no error: let it pass.
 * @param call what is to run
 * @param next runs the rest, once
 */
export type Interceptor = (call: Call, next: () => Promise<CallResult>) => CallResult | Promise<CallResult>;

/** Runs a call inside all interceptors. Their result is of the kind that `run` gives. */
export type Intercept = <R extends CallResult>(call: Call, run: () => Promise<R>) => Promise<R>;

/** Puts interceptors around each other, the first outermost; undefined where there are none. */
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
 * Refuses a call instead of options: what makes an interceptor was listed itself, and not what it makes.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireCalled(maker: string, given: unknown, call: string): void {
  if (!isObject(given) || !('kind' in given && 'ctx' in given)) return;
  const problem = `holds \`${maker}\` itself. Write \`interceptors: [${call}]\``;
  throw startupError('DECORUM_INVALID_OPTION', 'McpServer', 'interceptors', problem);
}

/** What a result has, by the kind of its call. */
const MEMBERS = { tool: 'content', prompt: 'messages', resource: 'contents', completion: 'completion' } as const;

async function runOne(interceptor: Interceptor, call: Call, next: () => Promise<CallResult>): Promise<CallResult> {
  const name = interceptor.name || 'without a name';
  let isCalled = false;
  const result: unknown = await interceptor(call, () => {
    if (isCalled) throw new Error(`The interceptor ${name} has called next() twice. A call runs once.`);
    isCalled = true;
    const running = next();
    // an interceptor that does not wait for it has a result of its own
    running.catch(() => {});
    return running;
  });
  const member = MEMBERS[call.kind];
  const found = isObject(result) ? result[member] : undefined;
  if (member === 'completion' ? isObject(found) : Array.isArray(found)) return result as CallResult;
  throw new Error(
    `The interceptor ${name} returned no result of a ${call.kind}: it has no "${member}". ` +
      'Return what next() gives, or a result of your own.',
  );
}
