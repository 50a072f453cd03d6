import type { KoaContextWithOIDC } from 'oidc-provider';

import type { Grants } from './grants.js';

/** Dependencies of `revocation`. */
export interface RevocationParts {
  readonly grants: Grants;
  /** The claims of an access token of this server, even if it has expired; undefined for anything else. */
  claimsOf(token: string): Promise<Readonly<Record<string, unknown>> | undefined>;
}

/**
 * A middleware around oidc-provider's revocation endpoint (RFC 7009). oidc-provider refuses access tokens, because it
 * stores none. Here, revoking one ends its grant, as revoking a refresh token does.
 */
export function revocation({ grants, claimsOf }: RevocationParts) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
    await next();
    const { error } = (ctx.body ?? {}) as { error?: unknown };
    if (error !== 'unsupported_token_type') return;
    // the client is authenticated by now; the token of another client has no effect
    const { client_id: clientId, grant_id: grantId } = (await claimsOf(String(ctx.oidc.params?.['token']))) ?? {};
    if (typeof grantId === 'string' && clientId === ctx.oidc.client?.clientId) await grants.revoke(grantId);
    ctx.status = 200;
    ctx.body = '';
  };
}
