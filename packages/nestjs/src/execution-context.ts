import type { CompletionContext, Context, UncheckedInput } from '@decorum/core';
import type { ArgumentsHost } from '@nestjs/common';

/** What a client calls: a decorated method, a tool that `addTool` added, or a method of an extension. */
export interface McpMember {
  readonly kind: 'tool' | 'resource' | 'prompt' | 'completion' | 'extension';
  /**
   * Name of the tool or prompt, URI or template of the resource; for completions, the name of the argument; for
   * extensions, the JSON-RPC method.
   */
  readonly name: string;
  /** Name of the class's method. The same as `name` if there is no class. */
  readonly key: string;
}

type Facts = Pick<McpExecutionContext, 'member' | 'arguments' | 'context'> & {
  check(): unknown;
  admit?(): void;
};

/** Marks calls across copies of this package: a guard may come from a package that has its own copy. */
const MARK = Symbol.for('decorum:nestjs:call');

const isCall = (argument: unknown): argument is McpExecutionContext =>
  typeof argument === 'object' && argument !== null && MARK in argument;

/** The facts about an MCP call, for guards, interceptors and filters. */
export class McpExecutionContext {
  /** Internal. */
  readonly [MARK] = true;
  readonly member: McpMember;
  /**
   * The arguments as sent, before they are checked. Undefined if guards only decide whether to show the member, or to
   * list the resources of a template.
   */
  readonly arguments: UncheckedInput['args'] | undefined;
  readonly #context: Context | CompletionContext | undefined;
  /** The context of the run whose parameters are being read. */
  #running: Context | CompletionContext | undefined;
  readonly #check: () => unknown;
  readonly #admit: (() => void) | undefined;

  /** Internal. */
  constructor({ member, arguments: args, context, check, admit }: Facts) {
    this.member = member;
    this.arguments = args;
    this.#context = context;
    this.#check = check;
    this.#admit = admit;
  }

  /**
   * Finds the call that a guard, interceptor or filter runs for.
   * @param host the object that Nest passes to the guard, interceptor or filter
   * @throws {TypeError} for anything but an MCP call. Check `host.getType() === 'mcp'` first
   */
  static from(host: ArgumentsHost): McpExecutionContext {
    const found = host.getArgs<unknown[]>().find(isCall);
    if (found !== undefined) return found;
    throw new TypeError(
      `The context is not that of a call over MCP, but of type "${host.getType()}". Check \`context.getType() === 'mcp'\` first.`,
    );
  }

  /**
   * The second parameter of the method. Undefined if guards only decide whether to show the member. To decorators of
   * parameters, its signal is that of the method: it aborts when an interceptor stops waiting, too.
   */
  get context(): Context | CompletionContext | undefined {
    return this.#running ?? this.#context;
  }

  /** Internal: starts a run of the method, whose parameters are read at once. */
  static start<R>(call: McpExecutionContext, running: Context | CompletionContext | undefined, start: () => R): R {
    call.#running = running;
    try {
      return start();
    } finally {
      call.#running = undefined;
    }
  }

  /** Internal: checks the arguments and returns the method's input. */
  static inputOf(call: McpExecutionContext): unknown {
    return call.#check();
  }

  /** Internal: called last before the method. Throws if the call has been cancelled meanwhile. */
  static admit(call: McpExecutionContext): void {
    call.#admit?.();
  }
}
