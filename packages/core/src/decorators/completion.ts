import type { CompletionOptions } from '../metadata/member-options.js';
import type { CompletionValues } from '../metadata/records.js';
import { type MemberDecorator, memberDecorator } from './member-decorator.js';

/** Methods that complete: they take what is typed so far and the `CompletionContext`, whose `args` are filled in already. */
export type CompletionMethod = (value: string, context: never) => CompletionValues | Promise<CompletionValues>;

/**
 * Serves a method as the completion of one argument.
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named members
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` without parentheses, and on anything but a method
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
