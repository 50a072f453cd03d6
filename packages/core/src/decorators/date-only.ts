import { fieldWriter } from '../metadata/store.js';
import type { FieldDecorator } from './describe.js';

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
 */
export function DateOnly(options: { readonly each?: boolean } = {}): FieldDecorator {
  return fieldWriter({ form: { kind: 'DateOnly', each: options.each === true } });
}
