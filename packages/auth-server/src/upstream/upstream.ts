import type { Principal } from '@decorum/core';

import type { ServerPlatform } from '../server-platform.js';
import type { Grants } from '../provider/grants.js';
import { ENDPOINTS, urlBelow } from '../provider/metadata.js';
import type { SealedRecords } from '../provider/sealed-records.js';
import { KeptTokens } from './kept-tokens.js';
import { UpstreamClient } from './upstream-client.js';
import { UpstreamError } from './upstream-error.js';
import { type ResolvedUpstream, resolveUpstream, type UpstreamOptions } from './upstream-options.js';
import { UpstreamSignIns, type UpstreamSignInsParts } from './upstream-sign-ins.js';
import { UpstreamTurns, type UpstreamTurnsParts } from './upstream-turns.js';

/** A token of the upstream, for its API. */
export interface UpstreamToken {
  readonly accessToken: string;
  /** When it expires, in milliseconds since 1970; undefined if the upstream didn't say. */
  readonly expiresAt?: number;
}

/** Dependencies of an `Upstream`. */
export interface UpstreamParts
  extends
    Pick<UpstreamSignInsParts, 'issuer' | 'cookieKeys' | 'warn'>,
    Pick<UpstreamTurnsParts, 'users' | 'consents' | 'pages' | 'report' | 'used'> {
  readonly options: UpstreamOptions;
  readonly grants: Grants;
  readonly allowLoopbackHttp: boolean;
  readonly records: SealedRecords;
  readonly platform: ServerPlatform;
}

/** The provider where users sign in. */
export class Upstream {
  readonly signIns: UpstreamSignIns;
  readonly turns: UpstreamTurns;
  private readonly upstream: ResolvedUpstream;
  private readonly tokens: KeptTokens;

  constructor(parts: UpstreamParts) {
    const { options, allowLoopbackHttp, platform, issuer, records } = parts;
    const upstream = (this.upstream = resolveUpstream(options, allowLoopbackHttp));
    const callback = urlBelow(issuer.href, ENDPOINTS.upstream);
    const client = new UpstreamClient({ upstream, platform, callback, allowLoopbackHttp });
    this.signIns = new UpstreamSignIns({ ...parts, client, records, clock: platform });
    const tokens = (this.tokens = new KeptTokens({ ...parts, client, clock: platform }));
    parts.grants.forget = async (grantId) => await tokens.forget(grantId);
    this.turns = new UpstreamTurns({ ...parts, upstream, tokens, signIns: this.signIns });
  }

  /** See `AuthorizationServer.upstream`. */
  async tokenOf(principal: Principal | undefined): Promise<UpstreamToken> {
    const { subject, claims } = principal ?? {};
    const grantId = claims?.['grant_id'];
    const isOurs = subject?.startsWith(`${this.upstream.name}|`) === true && typeof grantId === 'string';
    if (!isOurs) throw new UpstreamError('no-token');
    const { accessToken, expiresAt } = await this.tokens.get(grantId);
    return { accessToken, ...(expiresAt !== undefined && { expiresAt }) };
  }
}
