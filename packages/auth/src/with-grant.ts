import { problemOf } from './fetch-json.js';
import type { GrantSource } from './grants.js';
import type { Claims } from './principal.js';
import type { Refused } from './reasons.js';
import type { Verified } from './verified.js';

/** Time limit for a lookup: otherwise, requests would wait forever for a store that hangs. */
const TIMEOUT_MS = 5000;

/** The refusal of a token whose grant has ended. */
export const REVOKED: Refused = { reason: 'revoked', found: 'its grant has ended' };

/** Adds the grant of a verified token, or refuses the token if its grant has ended. */
export async function withGrant(verified: Verified, grants: GrantSource): Promise<Verified | Refused> {
  try {
    const grant = await inTime(grants.find(verified.principal.claims as Claims));
    return grant === undefined || grant.revoked ? REVOKED : { ...verified, grant };
  } catch (error) {
    return { reason: 'grants-unavailable', found: problemOf(error) };
  }
}

async function inTime<T>(found: Promise<T>): Promise<T> {
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS).unref();
    void found.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
