import { compactVerify, createLocalJWKSet } from 'jose';
import type { KoaContextWithOIDC } from 'oidc-provider';

import type { SigningKeys } from '../keys/signing-keys.js';
import type { Grants } from './grants.js';
import type { RefreshTokens } from './refresh-tokens.js';

type Claims = Readonly<Record<string, unknown>>;

/** Dependencies of `revocation`. */
export interface RevocationParts {
  readonly grants: Grants;
  readonly refreshTokens: RefreshTokens;
  readonly keys: Pick<SigningKeys, 'publicKeys'>;
}

/**
 * A middleware around oidc-provider's revocation endpoint (RFC 7009). oidc-provider refuses access tokens, because it
 * stores none, and doesn't know refresh tokens that were used long ago. Here, revoking one of them ends its grant, as
 * revoking the current refresh token does.
 */
export function revocation({ grants, refreshTokens, keys }: RevocationParts) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
    await next();
    const { error } = (ctx.body ?? {}) as { error?: unknown };
    // the client is authenticated by now; the token of another client has no effect
    const token = String(ctx.oidc.params?.['token']);
    const used = ctx.status === 200 ? refreshTokens.grantOf(token) : undefined;
    if (used !== undefined && (await grants.clientOf(used)) === ctx.oidc.client?.clientId) await grants.revoke(used);
    if (error !== 'unsupported_token_type') return;
    const { client_id: clientId, grant_id: grantId } = (await claimsOf(token, keys)) ?? {};
    if (clientId !== undefined && clientId === ctx.oidc.client?.clientId) {
      // a client that got the token for itself must not believe that it is worthless now
      if (typeof grantId !== 'string') return;
      await grants.revoke(grantId);
    }
    ctx.status = 200;
    ctx.body = '';
  };
}

/** The claims of an access token of this server, even if it has expired; undefined for anything else. */
async function claimsOf(token: string, { publicKeys }: RevocationParts['keys']): Promise<Claims | undefined> {
  try {
    const keys = createLocalJWKSet({ keys: [...publicKeys] });
    const { payload } = await compactVerify(token, keys, { algorithms: ['ES256'] });
    return JSON.parse(new TextDecoder().decode(payload)) as Claims;
  } catch {
    return undefined;
  }
}
