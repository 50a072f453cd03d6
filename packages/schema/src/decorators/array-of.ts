import type { Class } from '../metadata/store.js';
import { type FieldDecorator, fieldDecorator } from './describe.js';

/** Type of a list's items or a record's values: a constructor such as `String`, or a DTO class. */
export type ItemType = StringConstructor | NumberConstructor | BooleanConstructor | BigIntConstructor | Class;

/**
 * Declares a DTO field as a list. Add `{ each: true }` to class-validator rules that apply to the items.
 * @param type `String`, `Number`, `Boolean`, `Date`, `BigInt`, `Uint8Array`, or a DTO class
 * @example
 * ```ts
 * class Post {
 *   @ArrayOf(String) @MaxLength(20, { each: true }) @ArrayMaxSize(5) tags!: string[];
 * }
 * ```
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a field
 */
export function ArrayOf(type: ItemType): FieldDecorator;
export function ArrayOf(type: ItemType, ...rest: unknown[]): FieldDecorator {
  return fieldDecorator([type, ...rest], {
    decorator: 'ArrayOf',
    example: '@ArrayOf(String)',
    takesClass: true,
    facts: { form: { kind: 'ArrayOf', of: type } },
  });
}
