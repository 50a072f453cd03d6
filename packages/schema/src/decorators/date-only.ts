import { requireOptions } from '../options.js';
import { type FieldDecorator, fieldDecorator } from './describe.js';

/**
 * Declares a DTO field as a date without a time, such as `2026-01-31`. A field of type `Date` receives midnight UTC of
 * that day; any other field receives the text.
 * @param options set `each` if the field is a list of dates
 * @example
 * ```ts
 * class Booking {
 *   @DateOnly() from!: string;
 *   @DateOnly() until!: Date;
 * }
 * ```
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a field
 */
export function DateOnly(options?: { readonly each?: boolean }): FieldDecorator;
export function DateOnly(options: { readonly each?: boolean } = {}, ...rest: unknown[]): FieldDecorator {
  return fieldDecorator([options, ...rest], {
    decorator: 'DateOnly',
    example: '@DateOnly()',
    facts: { form: { kind: 'DateOnly', each: options.each === true } },
    check: (where) => requireOptions(where, options, { each: 'boolean' }),
  });
}
