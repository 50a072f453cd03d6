import type { CompletionOptions } from '../metadata/member-options.js';
import type { CompletionValues } from '../metadata/records.js';
import { type MemberDecorator, memberDecorator } from './member-decorator.js';

/**
 * A completion method. It receives the text typed so far and the `CompletionContext`, which has the other arguments.
 */
export type CompletionMethod = (value: string, context: never) => CompletionValues | Promise<CompletionValues>;

/**
 * Completes one argument of a prompt or resource template.
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named members
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a method
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion
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
 *
 *   @Completion({ for: 'pack', argument: 'city' })
 *   cities(typed: string) {
 *     return ['Oslo', 'Odense', 'Turku'].filter((city) => city.startsWith(typed));
 *   }
 * }
 * ```
 */
export function Completion(options: CompletionOptions): MemberDecorator<CompletionMethod>;
export function Completion(options: CompletionOptions, ...rest: unknown[]): MemberDecorator<CompletionMethod> {
  return memberDecorator('completion', options, [options, ...rest]);
}
