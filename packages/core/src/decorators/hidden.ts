import { type MemberDecorator, memberDecorator } from './member-decorator.js';

/**
 * Removes an inherited member: clients can neither list nor call it.
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named members
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a method
 * @example
 * ```ts
 * class Files {
 *   @Tool({ description: 'Deletes all files' })
 *   clear() {
 *     return 'Deleted.';
 *   }
 * }
 *
 * class ReadOnlyFiles extends Files {
 *   @Hidden()
 *   override clear(): never {
 *     throw new Error('These files are read-only.');
 *   }
 * }
 * ```
 */
export function Hidden(): MemberDecorator;
export function Hidden(...args: unknown[]): MemberDecorator {
  return memberDecorator('hidden', {}, args);
}
