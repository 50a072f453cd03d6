import type { Principal } from '@decorum/core';

import type { AuthenticatorParts } from './authenticator.js';
import { resolveShared, type SharedOptions } from './check-shared.js';
import type { OptionChecks } from './check-values.js';
import { resourceDocuments } from './documents.js';
import { Reporter } from './events.js';
import type { Platform } from './fetch-json.js';
import type { GrantSource } from './grants.js';
import type { KeySource } from './issuer-key.js';
import type { Remedies } from './reasons.js';
import type { IssuerSettings } from './settings.js';
import { canonicalResource } from './urls.js';
import { Verifier } from './verifier.js';
import { verifyOnce } from './verify-once.js';

/** An issuer inside this process, with one resource. */
export interface LocalIssuer {
  readonly issuer: string;
  /** The URL of the MCP endpoint as clients see it, which is the `aud` of the tokens. */
  readonly resource: string;
  readonly keys: KeySource;
  readonly grants: GrantSource;
}

/** What the operator can do if the server refuses its own tokens. */
const REMEDIES: Remedies = {
  unrecognized: 'Clients must send an access token of this server.',
  issuer: 'Clients must get a token from this server.',
  audience: 'If `resource` has changed, clients must sign in again.',
  expired: 'Clients must get a new token.',
  key: 'This server does not have its key any more. Clients must get a new token.',
};

/** What `oauth` does for a remote issuer, for one inside this process, which is never fetched. */
export class LocalAuth<HostRequest = unknown> {
  /** For an `Authenticator`. Its documents are those of the resource: the issuer adds its own. */
  readonly parts: AuthenticatorParts<HostRequest>;

  /**
   * @param options their names and types have been checked, see `SHARED_OPTIONS`
   * @throws {DecorumError} `DECORUM_INVALID_OPTION`
   */
  constructor(
    local: LocalIssuer,
    options: SharedOptions<HostRequest>,
    { checks, platform }: { readonly checks: OptionChecks; readonly platform: Platform },
  ) {
    const issuers = new Map([[local.issuer, settingsOf(local)]]);
    const { resource } = local;
    const settings = { ...resolveShared(options, { issuers, resource }, checks), remedies: REMEDIES };
    this.parts = {
      settings,
      verifier: new Verifier(settings, platform),
      reporter: new Reporter({ ...options, remedies: REMEDIES }, platform),
      documents: resourceDocuments(settings),
    };
  }

  /** See `OAuth.principalOf`. */
  async principalOf(token: string | undefined): Promise<Principal> {
    return await verifyOnce(token, this.parts);
  }
}

function settingsOf({ issuer, resource, keys, grants }: LocalIssuer): IssuerSettings {
  return {
    issuer,
    audience: canonicalResource(resource),
    withoutAudience: false,
    tokenTypes: new Set(),
    claims: {},
    scopeClaims: ['scope'],
    scopePrefix: '',
    // issuer and resource have the same clock
    clockToleranceMs: 0,
    introspection: undefined,
    client: undefined,
    discovery: undefined,
    keys,
    grants,
  };
}
