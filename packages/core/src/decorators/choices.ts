import { requireKnown } from '../protocol/option-names.js';
import { type FieldDecorator, fieldDecorator } from './describe.js';

/** The values of a choice with their titles: an object, or a `Map` where the values aren't strings. */
export type TitledChoices = Readonly<Record<string, string>> | ReadonlyMap<string | number | boolean, string>;

/**
 * Declares the values that a DTO field may have, each with a title for people. Where titles aren't needed, use
 * class-validator's `@IsIn`.
 * @param titles the title of each value
 * @param options `each`: the field is a list, and each item is one of the values
 * @example
 * ```ts
 * class Query {
 *   @Choices({ c: 'Celsius', f: 'Fahrenheit' }) unit!: 'c' | 'f';
 *   @Choices(new Map([[1, 'Low'], [2, 'High']])) priority!: 1 | 2;
 * }
 * ```
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` without parentheses, and on anything but a field
 */
export function Choices(titles: TitledChoices, options?: { readonly each?: boolean }): FieldDecorator;
export function Choices(
  titles: TitledChoices,
  options: { readonly each?: boolean } = {},
  ...rest: unknown[]
): FieldDecorator {
  return fieldDecorator([titles, options, ...rest], {
    decorator: 'Choices',
    example: "@Choices({ c: 'Celsius', f: 'Fahrenheit' })",
    facts: { form: { kind: 'Choices', titles, each: options.each === true } },
    check: (where) => requireKnown(where, options, { each: 'boolean' }),
  });
}
