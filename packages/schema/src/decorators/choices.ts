import { requireOptions } from '../options.js';
import { type FieldDecorator, fieldDecorator } from './describe.js';

/** Values with their titles. Use a `Map` when the values are not strings. */
export type TitledChoices = Readonly<Record<string, string>> | ReadonlyMap<string | number | boolean, string>;

/**
 * Declares the values that a DTO field may have, with a title for each. If you don't need titles, use class-validator's
 * `@IsIn`.
 * @param titles a title for each value
 * @param options set `each` if the field is a list of such values
 * @example
 * ```ts
 * class Query {
 *   @Choices({ c: 'Celsius', f: 'Fahrenheit' }) unit!: 'c' | 'f';
 *   @Choices(new Map([[1, 'Low'], [2, 'High']])) priority!: 1 | 2;
 * }
 * ```
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a field
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
    check: (where) => requireOptions(where, options, { each: 'boolean' }),
  });
}
