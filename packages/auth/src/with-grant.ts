import { problemOf } from './fetch-json.js';
import type { GrantSource } from './grants.js';
import type { Claims } from './principal.js';
import type { Refused } from './reasons.js';
import type { Verified } from './verified.js';

/** The refusal of a token whose grant has ended. */
export const REVOKED: Refused = { reason: 'revoked', found: 'its grant has ended' };

/** Adds the grant of a verified token, or refuses the token if its grant has ended. */
export async function withGrant(verified: Verified, grants: GrantSource): Promise<Verified | Refused> {
  try {
    const grant = await grants.find(verified.principal.claims as Claims);
    return grant === undefined || grant.revoked ? REVOKED : { ...verified, grant };
  } catch (error) {
    return { reason: 'grants-unavailable', found: problemOf(error) };
  }
}
