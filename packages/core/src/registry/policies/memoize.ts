import type { PolicyOptions } from '../../metadata/policy-options.js';
import type { Policy, PolicyParts } from './policy.js';

/** The policy of a member's `memoize`; undefined if it has none. */
export function memoizePolicy(_option: PolicyOptions['memoize'], _parts: PolicyParts): Policy | undefined {
  return undefined;
}
