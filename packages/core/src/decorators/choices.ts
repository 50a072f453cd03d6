import { fieldWriter } from '../metadata/store.js';
import type { FieldDecorator } from './describe.js';

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
 */
export function Choices(titles: TitledChoices, options: { readonly each?: boolean } = {}): FieldDecorator {
  return fieldWriter({ form: { kind: 'Choices', titles, each: options.each === true } });
}
