import type { PolicyOptions } from '../../metadata/policy-options.js';
import type { Policy, PolicyParts } from './policy.js';

/** The policy of a member's `concurrency`; undefined if it has none. */
export function concurrencyPolicy(_option: PolicyOptions['concurrency'], _parts: PolicyParts): Policy | undefined {
  return undefined;
}
