import type { JsonObject } from '@decorum/schema/internal';

import type { MemberKind } from '../metadata/records.js';
import type { Access } from '../protocol/wire.js';

/**
 * A framework that runs the members of a provider itself, because its guards run before arguments are checked. Decorum
 * asks it two questions about each member at startup, and one before it answers a call with a result that it has kept. In
 * return, the framework asks one in each call: it gets an `UncheckedInput`, and decides when to check it.
 */
export interface MemberHost {
  /**
   * May a caller know about this member?
   * @returns a second condition, besides `access`, for seeing and subscribing to the member. Undefined if there is none
   */
  shown?(key: string, kind: MemberKind): Access | undefined;
  /**
   * Which parameters of the method does the framework fill in?
   * @returns their positions. By default none
   */
  provides?(key: string): readonly number[];
  /**
   * May a caller have a result that `memoize` has kept, or that of an equal call that runs? The method is not called then.
   * @param member the member
   * @param args the arguments as sent. For a resource, the variables of its template; for a completion, the text
   * @param context the context of the call
   * @returns false to run the call, which then fails in its own way
   */
  admits?(
    member: { readonly key: string; readonly kind: MemberKind },
    args: JsonObject,
    context: never,
  ): Promise<boolean>;
  /**
   * Calls the method of a tool's `preview` in place of the tool's own, inside of all that protects the tool.
   * @param member.key the tool
   * @param member.by the method that makes the plan
   * @param context the context of the call
   * @returns the plan, or a promise of it
   */
  preview?(member: { readonly key: string; readonly by: string }, input: UncheckedInput, context: never): unknown;
}

/** Passed to a method of a hosted provider in place of its input. Completion methods get the text, as usual. */
export interface UncheckedInput {
  readonly kind: MemberKind;
  /** The arguments as sent. For a resource, the variables of its template. */
  readonly args: JsonObject;
  /**
   * Are the arguments valid?
   * @returns the method's input
   * @throws {ToolError | McpError} an error that lists the problems
   */
  check(): unknown;
}
