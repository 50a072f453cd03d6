import type { PolicyOptions } from '../../metadata/policy-options.js';
import type { Policy, PolicyParts } from './policy.js';

/** The policy of a member's `retry`; undefined if it has none. */
export function retryPolicy(_option: PolicyOptions['retry'], _parts: PolicyParts): Policy | undefined {
  return undefined;
}
