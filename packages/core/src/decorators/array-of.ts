import { fieldWriter, type Class } from '../metadata/store.js';
import type { FieldDecorator } from './describe.js';

/** Type of a list's items or a record's values: a constructor such as `String`, or a DTO class. */
export type ItemType = StringConstructor | NumberConstructor | BooleanConstructor | BigIntConstructor | Class;

/**
 * Declares a DTO field as a list. Give class-validator rules for the items `{ each: true }`.
 * @param type `String`, `Number`, `Boolean`, `Date`, `BigInt`, `Uint8Array`, or a DTO class
 * @example
 * ```ts
 * class Post {
 *   @ArrayOf(String) @MaxLength(20, { each: true }) @ArrayMaxSize(5) tags!: string[];
 * }
 * ```
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named fields
 */
export function ArrayOf(type: ItemType): FieldDecorator {
  return fieldWriter({ form: { kind: 'ArrayOf', of: type } });
}
