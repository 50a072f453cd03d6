import { hash } from 'node:crypto';
import { Buffer } from 'node:buffer';

import type { Principal } from '@decorum/core';
import { addressOf, type RequestHead } from '@decorum/http';

import { ApiKeys } from './api-keys.js';
import { type Credentials, faultIn } from './credentials.js';
import type { Platform } from './fetch-json.js';
import { Introspection } from './introspection.js';
import { foreign } from './issuer-problems.js';
import { readJwt, type UnverifiedJwt, verifyJwt } from './jwt.js';
import { deepFreeze } from './principal.js';
import { answerTo, isRefused, type Refused } from './reasons.js';
import { RecentDigests } from './recent-digests.js';
import type { Settings } from './settings.js';
import { TokenCache } from './token-cache.js';
import type { Verified } from './verified.js';
import { REVOKED, withGrant } from './with-grant.js';

/** How long a refusal by an issuer is cached. */
const REFUSED_MS = 5000;

const UNKNOWN_KEY: Refused = { reason: 'api-key', found: 'an unknown API key' };

/** A token that has to be verified. */
interface SentToken {
  readonly text: string;
  readonly digest: string;
  /** The head of the request with this token; undefined in `principalOf`. */
  readonly head: RequestHead | undefined;
}

/** Finds the principal of credentials, and caches it. */
export class Verifier<HostRequest> {
  private readonly apiKeys: ApiKeys | undefined;
  private readonly introspections: readonly Introspection[];
  private readonly verified = new TokenCache<Verified>();
  private readonly inactive = new TokenCache<Refused>();
  private readonly recent = new RecentDigests();
  private readonly pending = new Map<string, Promise<Verified | Refused>>();
  private readonly ownScopes = new WeakMap<Principal, readonly string[]>();
  /** Only of issuers that exchange them. */
  private readonly tokens = new WeakMap<Principal, string>();

  constructor(
    private readonly settings: Settings<HostRequest>,
    private readonly platform: Platform,
  ) {
    const { apiKeys, issuers, expand } = settings;
    this.apiKeys = apiKeys.length > 0 ? new ApiKeys(apiKeys, expand) : undefined;
    this.introspections = [...issuers.values()].flatMap((issuer) =>
      issuer.introspection === undefined ? [] : [new Introspection(issuer, issuer.introspection, platform)],
    );
  }

  /**
   * The principal of credentials, or why they are refused. Synchronous for API keys and cached tokens.
   * @param head the head of the request with these credentials
   */
  verify(
    { text, isApiKey }: Credentials,
    request: HostRequest | undefined,
    head?: RequestHead,
  ): Principal | Refused | Promise<Principal | Refused> {
    // an API key is either in the Authorization header, or comes without one
    const recent = head && this.recent.get(head);
    const digest = recent ?? hash('sha256', text, 'base64url');
    if (this.apiKeys !== undefined && isApiKey === (this.settings.apiKeyHeader !== undefined)) {
      const holder = this.apiKeys.find(Buffer.from(digest, 'base64url'));
      if (holder !== undefined) return holder;
    }
    if (isApiKey) return UNKNOWN_KEY;
    const known = this.remembered(digest);
    if (known === undefined) return faultIn(text) ?? this.verifyToken({ text, digest, head }, request);
    if (head && recent === undefined) this.recent.set(head, digest);
    return known;
  }

  /** The scopes in the token itself, without the scopes that they imply. */
  scopesOf(principal: Principal): readonly string[] | undefined {
    return this.ownScopes.get(principal) ?? principal.scopes;
  }

  /** The token that a principal was made from, if it may be exchanged. */
  tokenOf(principal: Principal): string | undefined {
    return this.tokens.get(principal);
  }

  private remembered(digest: string): Principal | Refused | undefined {
    const known = this.verified.get(digest, this.platform.now());
    if (known === undefined || known.key?.removed === true) return undefined;
    return known.grant?.revoked === true ? REVOKED : known.principal;
  }

  private async verifyToken(token: SentToken, request: HostRequest | undefined): Promise<Principal | Refused> {
    const { text, digest } = token;
    // concurrent requests with the same token share one verification
    let pending = this.pending.get(digest);
    if (pending === undefined) {
      pending = this.byIssuer(token).finally(() => this.pending.delete(digest));
      this.pending.set(digest, pending);
    }
    const result = await pending;
    if (!isRefused(result)) return result.principal;
    return isForOthers(result) ? await this.byApplication(text, request, this.orUnknownKey(result)) : result;
  }

  private async byIssuer(token: SentToken): Promise<Verified | Refused> {
    const jwt = readJwt(token.text);
    const result = jwt === undefined ? await this.opaque(token) : await this.jwt(jwt);
    return isRefused(result) ? result : this.remember(result, token);
  }

  private async jwt(jwt: UnverifiedJwt): Promise<Verified | Refused> {
    const { iss } = jwt.claims;
    const { issuers } = this.settings;
    const issuer = issuers.get(iss as string);
    if (issuer === undefined) return foreign(iss, [...issuers.keys()]);
    const found = await verifyJwt(jwt, issuer, this.platform.now());
    return isRefused(found) || issuer.grants === undefined ? found : await withGrant(found, issuer.grants);
  }

  /** Asks the issuers in turn: an opaque token doesn't name its issuer. */
  private async opaque({ text, digest, head }: SentToken): Promise<Verified | Refused> {
    const known = this.inactive.get(digest, this.platform.now());
    if (known !== undefined) return known;
    let result: Refused = { reason: 'unrecognized', found: 'the token is no JWT' };
    for (const introspection of this.introspections) {
      const found = await introspection.verify(text, head && addressOf(head));
      if (!isRefused(found)) return found;
      // an issuer that was not asked, or did not answer, may know the token
      result = answerTo(result) === 'unavailable' ? result : found;
    }
    if (result.reason === 'inactive') this.inactive.set(digest, result, this.platform.now() + REFUSED_MS);
    return result;
  }

  private remember({ principal: found, ...rest }: Verified, { text, digest }: SentToken): Verified {
    const { scopes } = found;
    const principal = deepFreeze({ ...found, scopes: this.settings.expand(scopes) });
    this.ownScopes.set(principal, scopes);
    if (this.settings.issuers.get(found.issuer as string)?.client) this.tokens.set(principal, text);
    const verified = { ...rest, principal };
    const keptMs = Math.min(this.settings.cacheMs, rest.keptMs);
    const now = this.platform.now();
    const until = Math.min(now + keptMs, rest.until);
    if (until > now) this.verified.set(digest, verified, until);
    return verified;
  }

  /** Tells a token that no issuer knows from an API key that nobody knows. */
  private orUnknownKey(refused: Refused): Refused {
    const { apiKeys, apiKeyHeader, issuers } = this.settings;
    if (apiKeys.length === 0 || apiKeyHeader !== undefined) return refused;
    if (issuers.size === 0) return UNKNOWN_KEY;
    if (refused.reason === 'unrecognized') return { ...UNKNOWN_KEY, found: 'neither a JWT nor a known API key' };
    return refused.reason === 'inactive'
      ? { ...refused, found: `${refused.found}, nor is it a known API key` }
      : refused;
  }

  private async byApplication(
    token: string,
    request: HostRequest | undefined,
    refused: Refused,
  ): Promise<Principal | Refused> {
    const { verify, expand } = this.settings;
    if (verify === undefined) return refused;
    const found = await verify(token, request);
    if (!found) {
      const isKey = refused.reason === 'api-key';
      return {
        reason: 'verify',
        found: `${isKey ? 'it is no known API key, and ' : ''}the application does not know it`,
      };
    }
    // anything but a list grants nothing
    return Array.isArray(found.scopes) ? { ...found, scopes: expand(found.scopes) } : found;
  }
}

/** Whether the application may recognize a token, because no issuer does. */
const isForOthers = ({ reason }: Refused): boolean =>
  reason === 'issuer' || reason === 'unrecognized' || reason === 'inactive';
