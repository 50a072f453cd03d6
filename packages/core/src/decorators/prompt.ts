import type { Parsed, SchemaSource } from '@decorum/schema/internal';

import type { NamedOptions } from '../metadata/member-options.js';
import { type MemberDecorator, memberDecorator, type Method } from './member-decorator.js';

/** Options of `@Prompt`. */
export type PromptOptions<I extends SchemaSource = SchemaSource> = NamedOptions<I>;

/** Serves a method as a prompt, with a schema for its arguments. */
export function Prompt<I extends SchemaSource>(
  options: PromptOptions<I> & { readonly input: I },
): MemberDecorator<(input: Parsed<I>, context: never) => unknown>;
/**
 * Serves a method as a prompt. Return text (one user message), a content block, messages from `user()` and
 * `assistant()`, a list of these, or a complete result.
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named members
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a method
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/prompts
 * @example
 * ```ts
 * class Place {
 *   @IsString() city!: string;
 * }
 *
 * class Travel {
 *   @Prompt({ description: 'Asks what to pack for a city' })
 *   pack({ city }: Place) {
 *     return `What should I pack for a day in ${city}?`;
 *   }
 * }
 * ```
 */
export function Prompt(options?: PromptOptions): MemberDecorator<Method>;
export function Prompt(options: PromptOptions = {}, ...rest: unknown[]): MemberDecorator<Method> {
  return memberDecorator('prompt', options, [options, ...rest]);
}
