import type { PolicyOptions } from '../../metadata/policy-options.js';
import type { Policy, PolicyParts } from './policy.js';

/** The policy of a member's `breaker`; undefined if it has none. */
export function breakerPolicy(_option: PolicyOptions['breaker'], _parts: PolicyParts): Policy | undefined {
  return undefined;
}
