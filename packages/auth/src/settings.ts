import type { ClientCredentials } from './client-credentials.js';
import type { Discovery } from './discovery.js';
import type { GrantSource } from './grants.js';
import type { KeySource } from './issuer-key.js';
import type { OAuthOptions } from './options.js';
import type { Remedies } from './reasons.js';

/** How an issuer is asked about tokens. */
export interface IntrospectionSettings {
  readonly discovery: Discovery;
  readonly credentials: ClientCredentials;
  /** How long the response for a valid token is cached, in milliseconds. */
  readonly keptMs: number;
}

/** This server as a client of an issuer. */
export interface ClientSettings {
  readonly discovery: Discovery;
  readonly credentials: ClientCredentials;
  readonly exchange: 'token-exchange' | 'on-behalf-of';
}

/** An issuer with its options checked and defaults applied. */
export interface IssuerSettings {
  readonly issuer: string;
  /** In canonical form, for comparisons. */
  readonly audience: string;
  readonly withoutAudience: boolean;
  /** In lower case, without `application/`. */
  readonly tokenTypes: ReadonlySet<unknown>;
  readonly claims: Readonly<Record<string, true | readonly string[]>>;
  readonly scopeClaims: readonly string[];
  readonly scopePrefix: string;
  readonly clockToleranceMs: number;
  readonly introspection: IntrospectionSettings | undefined;
  /** How tokens of callers are exchanged; undefined if they aren't. */
  readonly client: ClientSettings | undefined;
  /** Undefined for an issuer inside this process, which is never fetched. */
  readonly discovery: Discovery | undefined;
  readonly keys: KeySource;
  /** Undefined if a token is valid until it expires. */
  readonly grants: GrantSource | undefined;
}

/** An API key, with its digest as bytes. */
export interface KnownApiKey {
  readonly name: string;
  readonly digest: Uint8Array;
  readonly scopes: readonly string[];
}

/** Options of `oauth`, checked and with defaults applied. */
export interface Settings<HostRequest> {
  /** Issuers by identifier, in the order of the option. */
  readonly issuers: ReadonlyMap<string, IssuerSettings>;
  /** The URL of the MCP endpoint. Undefined without issuers. */
  readonly resource: string | undefined;
  readonly scopes: readonly string[];
  /** The scopes of the `offer` option that `scopes` lacks. */
  readonly offer: readonly string[];
  /** Scopes that the options name, among them those of `hierarchy`. */
  readonly named: readonly string[];
  readonly apiKeys: readonly KnownApiKey[];
  /** In lower case. */
  readonly apiKeyHeader: string | undefined;
  readonly cacheMs: number;
  readonly toolSignIn: boolean;
  /** What the operator can do about refused credentials, where it differs from `oauth`. */
  readonly remedies?: Remedies;
  readonly verify: OAuthOptions<HostRequest>['verify'];
  /** Adds the scopes that the given scopes imply. */
  expand(scopes: readonly string[]): readonly string[];
}
