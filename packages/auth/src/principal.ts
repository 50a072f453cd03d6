import type { JsonObject, Principal } from '@decorum/core';

import { scopesIn } from './scopes.js';
import type { IssuerSettings } from './settings.js';

/** The claims of a verified token. */
export type Claims = Readonly<Record<string, unknown>>;

/** The claims that name the client: of RFC 9068, of OpenID Connect and Entra, of Entra 1.0, and of Okta. */
const CLIENT_CLAIMS = ['client_id', 'azp', 'appid', 'cid'];

/** Whether a client got a token for itself. Auth0 and Entra mark such tokens; elsewhere, the client is the subject. */
const isOfClient = ({ sub, gty, idtyp }: Claims, clientId: string | undefined): boolean =>
  gty === 'client-credentials' || idtyp === 'app' || sub === undefined || sub === clientId;

/** The principal of a token, with the scopes in the token itself. */
export type TokenPrincipal = Principal & { readonly scopes: readonly string[]; readonly expiresAt: number };

/** The principal of verified claims, in which `exp` is a number. */
export function principalOf(claims: Claims, issuer: IssuerSettings): TokenPrincipal {
  const client = CLIENT_CLAIMS.map((name) => claims[name]).find((value) => typeof value === 'string' && value !== '');
  const clientId = client as string | undefined;
  const { sub, exp } = claims;
  return {
    subject: (sub ?? clientId) as string,
    issuer: issuer.issuer,
    ...(clientId !== undefined && { clientId }),
    kind: isOfClient(claims, clientId) ? 'client' : 'user',
    scopes: scopesIn(claims, issuer.scopeClaims),
    // as long as requests are accepted: otherwise, the streams of a token that only the tolerance admits end at once
    expiresAt: (exp as number) * 1000 + issuer.clockToleranceMs,
    claims: claims as JsonObject,
  };
}

/** Freezes a value and all parts of it: requests share principals, so a handler must not change them. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}
