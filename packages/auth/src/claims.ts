import type { Claims } from './principal.js';
import { type Refused, shown } from './reasons.js';
import type { IssuerSettings } from './settings.js';
import { canonicalResource, isSlashAway } from './urls.js';

const isTime = (value: unknown): value is number => Number.isFinite(value);

/**
 * Checks the claims that JWTs and introspection responses have in common: audience, validity period, required claims
 * and `cnf`.
 * @returns undefined if the claims are valid
 */
export function refusedClaims(claims: Claims, issuer: IssuerSettings, now: number): Refused | undefined {
  return (
    audienceMistake(claims, issuer) ??
    timeMistake(claims, issuer, now) ??
    missingClaim(claims, issuer) ??
    // RFC 9449, section 7.1, and RFC 8705, section 3
    (claims['cnf'] === undefined ? undefined : { reason: 'sender-constrained' })
  );
}

function audienceMistake({ aud }: Claims, { audience, withoutAudience }: IssuerSettings): Refused | undefined {
  if (aud === undefined && withoutAudience) return undefined;
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  const isForUs = audiences.some((each) => typeof each === 'string' && canonicalResource(each) === audience);
  if (isForUs) return undefined;
  const isNear = audiences.some((each) => isSlashAway(each, audience));
  return {
    reason: 'audience',
    found: `aud is ${shown(aud)}`,
    expected: JSON.stringify(audience),
    ...(isNear && { remedy: 'Only the slash at the end differs. Write `audience` as in the token.' }),
  };
}

function timeMistake({ exp, nbf }: Claims, { clockToleranceMs }: IssuerSettings, now: number): Refused | undefined {
  if (!isTime(exp)) return { reason: 'expiry', found: `exp is ${shown(exp)}` };
  if (now >= exp * 1000 + clockToleranceMs) return { reason: 'expired', found: `exp is ${exp}` };
  if (nbf === undefined) return undefined;
  if (!isTime(nbf) || now < nbf * 1000 - clockToleranceMs)
    return { reason: 'not-yet-valid', found: `nbf is ${shown(nbf)}` };
  return undefined;
}

function missingClaim(claims: Claims, { claims: wanted }: IssuerSettings): Refused | undefined {
  for (const [name, values] of Object.entries(wanted)) {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
    const fits = values === true ? value !== undefined : typeof value === 'string' && values.includes(value);
    if (!fits) return { reason: 'claims', found: `${name} is ${shown(value)}` };
  }
  return undefined;
}
