import { type Class, requireOptions } from '@decorum/schema/internal';

import { declaredDefaults } from '../../metadata/class-defaults.js';
import type { PolicyOptions } from '../../metadata/policy-options.js';
import type { MemberRecord } from '../../metadata/records.js';
import { scanMembers } from '../../metadata/scan.js';
import { idempotentPolicy } from '../outcomes/idempotent.js';
import { RESULT_RANGE } from '../plan.js';
import { breakerPolicy } from './breaker.js';
import { concurrencyPolicy } from './concurrency.js';
import { memoizePolicy } from './memoize.js';
import { combined, type Policy, type PolicyParts } from './policy.js';
import { retryPolicy } from './retry.js';
import { timeoutPolicy } from './timeout.js';

/**
 * What decides when and for how long a member runs; undefined if nothing does. Recorded outcomes and kept results cost
 * neither time nor a turn. A breaker counts a call once, whatever its attempts; and all of these share one time limit.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function policyOf(parts: PolicyParts): Policy | undefined {
  const { options } = parts.record;
  const { memoize, breaker, timeoutMs = parts.defaults.timeoutMs, concurrency, retry } = options as PolicyOptions;
  return combined([
    idempotentPolicy(parts),
    memoizePolicy(memoize, parts),
    breakerPolicy(breaker, parts),
    timeoutPolicy(timeoutMs, parts),
    concurrencyPolicy(concurrency, parts),
    retryPolicy(retry, parts),
  ]);
}

/**
 * The decorated members of a class. Checks its `@Defaults`, too: members that may not have an option would hide a
 * mistake in it.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function declaredMembers(cls: Class): MemberRecord[] {
  for (const { of, options } of declaredDefaults(cls)) {
    const where = `${of.name} (@Defaults)`;
    // a prompt may have all of them
    policyOf({ where, record: { kind: 'prompt', key: '', options } as MemberRecord, defaults: {} });
    if (options.maxResultChars !== false)
      requireOptions(where, { maxResultChars: options.maxResultChars }, RESULT_RANGE);
  }
  return scanMembers(cls);
}
