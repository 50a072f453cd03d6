import type { JsonObject } from '@decorum/schema/internal';

import type { PolicyOptions } from '../../metadata/policy-options.js';
import type { MemberRun, PolicyParts } from './policy.js';
import { timeoutPolicy } from './timeout.js';

/** Tells whether a caller may have the result of another call. */
export type Admits = (run: MemberRun) => Promise<boolean>;

/** Asks the member's host, within the time that a call may take. Undefined for a member without a host that decides. */
export function admitsOf(parts: PolicyParts): Admits | undefined {
  const { key, kind, host, options } = parts.record;
  if (host?.admits === undefined) return undefined;
  const { timeoutMs = parts.defaults.timeoutMs } = options as PolicyOptions;
  const limited = timeoutPolicy(timeoutMs, parts) ?? (({ caller }, next) => next(caller));
  return async (run) => {
    const { variables, argument, value } = run.args;
    const args = kind === 'completion' ? { [String(argument)]: value } : kind === 'resource' ? variables : run.args;
    try {
      const answered = await limited(run, async (caller) => {
        return { isAdmitted: await host.admits?.({ key, kind }, args as JsonObject, caller as never) };
      });
      return answered.isAdmitted === true;
    } catch {
      return false;
    }
  };
}
