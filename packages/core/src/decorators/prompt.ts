import type { Icon, JsonObject } from '../protocol/model.js';
import type { Access } from '../protocol/wire.js';
import type { Parsed, SchemaSource } from '../schema/shape.js';
import { type MemberDecorator, memberDecorator, type Method } from './member-decorator.js';

/** Options of `@Prompt`. */
export interface PromptOptions<I extends SchemaSource = SchemaSource> {
  /** 1 to 128 characters out of `A–Z a–z 0–9 _ - .`; by default the name of the method. */
  readonly name?: string;
  /** For people. */
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly _meta?: JsonObject;
  /** Who may see and use it. By default everybody. */
  readonly access?: Access;
  /**
   * Schema of the arguments. They are strings on the wire; numbers and booleans are read from their text. By default
   * the class of the first parameter, where the compiler emits it.
   */
  readonly input?: I;
}

/**
 * Serves a method as a prompt. It returns text (one message of the user), a content block, messages made by `user()`
 * and `assistant()`, a list of these, or a complete result.
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named members
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
 */
export function Prompt<I extends SchemaSource>(
  options: PromptOptions<I> & { readonly input: I },
): MemberDecorator<(input: Parsed<I>, context: never) => unknown>;
export function Prompt(options?: PromptOptions & { readonly input?: undefined }): MemberDecorator<Method>;
export function Prompt(options: object = {}): MemberDecorator<Method> {
  return memberDecorator('prompt', options);
}
