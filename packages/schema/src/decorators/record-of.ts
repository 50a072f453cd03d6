import type { ItemType } from './array-of.js';
import { type FieldDecorator, fieldDecorator } from './describe.js';

/**
 * Declares a DTO field as a record: an object whose keys the client chooses. Add `{ each: true }` to class-validator
 * rules that apply to the values.
 * @param type the type of the values, as in `@ArrayOf`
 * @example
 * ```ts
 * class Prices {
 *   @RecordOf(Number) @Min(0, { each: true }) byCurrency!: Record<string, number>;
 * }
 * ```
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a field
 */
export function RecordOf(type: ItemType): FieldDecorator;
export function RecordOf(type: ItemType, ...rest: unknown[]): FieldDecorator {
  return fieldDecorator([type, ...rest], {
    decorator: 'RecordOf',
    example: '@RecordOf(Number)',
    takesClass: true,
    facts: { form: { kind: 'RecordOf', of: type } },
  });
}
