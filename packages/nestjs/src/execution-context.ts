import type { CompletionContext, Context, UncheckedInput } from '@decorum/core';
import type { ArgumentsHost } from '@nestjs/common';

/** A decorated method. */
export interface McpMember {
  readonly kind: 'tool' | 'resource' | 'prompt' | 'completion';
  /** Name of the tool or prompt, URI or template of the resource; for completions, the name of the argument. */
  readonly name: string;
  /** Name of the method. */
  readonly key: string;
}

type Facts = Pick<McpExecutionContext, 'member' | 'arguments' | 'context'> & { check(): unknown };

/** Marks the calls of all copies of this package: a guard may come from a package that has another one. */
const MARK = Symbol.for('decorum:nestjs:call');

const isCall = (argument: unknown): argument is McpExecutionContext =>
  typeof argument === 'object' && argument !== null && MARK in argument;

/** What guards, interceptors and filters can know of a call over MCP. */
export class McpExecutionContext {
  /** Internal. */
  readonly [MARK] = true;
  readonly member: McpMember;
  /** The arguments as sent, before they are checked. Undefined while guards are asked for a list. */
  readonly arguments: UncheckedInput['args'] | undefined;
  /** The second parameter of the method. Undefined while guards are asked for a list. */
  readonly context: Context | CompletionContext | undefined;
  readonly #check: () => unknown;

  /** Internal. */
  constructor({ member, arguments: args, context, check }: Facts) {
    this.member = member;
    this.arguments = args;
    this.context = context;
    this.#check = check;
  }

  /**
   * The call that a guard, interceptor or filter stands around.
   * @param host what Nest passes to it
   * @throws {TypeError} for anything but a call over MCP: check `host.getType() === 'mcp'` before
   */
  static from(host: ArgumentsHost): McpExecutionContext {
    const found = host.getArgs<unknown[]>().find(isCall);
    if (found !== undefined) return found;
    throw new TypeError(
      `The context is not that of a call over MCP, but of type "${host.getType()}". Check \`context.getType() === 'mcp'\` first.`,
    );
  }

  /** Internal: the method's input, after the check of the arguments. */
  static inputOf(call: McpExecutionContext): unknown {
    return call.#check();
  }
}
