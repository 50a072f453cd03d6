import { type MemberDecorator, memberDecorator } from './member-decorator.js';

/**
 * Takes an inherited member out of service: neither listed nor callable.
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named members
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` without parentheses, and on anything but a method
 */
export function Hidden(): MemberDecorator;
export function Hidden(...args: unknown[]): MemberDecorator {
  return memberDecorator('hidden', {}, args);
}
