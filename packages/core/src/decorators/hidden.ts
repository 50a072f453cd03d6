import { type MemberDecorator, memberDecorator } from './member-decorator.js';

/**
 * Takes an inherited member out of service: neither listed nor callable.
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named members
 */
export function Hidden(): MemberDecorator {
  return memberDecorator('hidden', {});
}
