import type { PolicyOptions } from '../../metadata/policy-options.js';
import type { Policy, PolicyParts } from './policy.js';

/** The policy of a member's `timeoutMs`; undefined if it has none. */
export function timeoutPolicy(_option: PolicyOptions['timeoutMs'], _parts: PolicyParts): Policy | undefined {
  return undefined;
}
