import type { Principal } from '@decorum/core';

import type { AuthEvent } from './events.js';

/** The credentials of this server at an issuer's introspection endpoint (RFC 7662). */
export interface IntrospectionOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Milliseconds to cache the response for a valid token. Defaults to 30 seconds. 0 asks for each request. */
  readonly cacheMs?: number;
}

/** An issuer of tokens that needs more options than its URL. */
export interface IssuerOptions {
  /** The `issuer` in its metadata and the `iss` in its tokens, byte for byte. */
  readonly issuer: string;
  /** The `aud` of its tokens for this server, if it differs from the general `audience`. */
  readonly audience?: string;
  /** Values of `typ` to accept besides `at+jwt`, such as `'JWT'`. `''` accepts tokens without `typ`. */
  readonly tokenTypes?: readonly string[];
  /** Claims that its tokens must have: with any value for `true`, otherwise with one of the listed values. */
  readonly claims?: Readonly<Record<string, true | readonly string[]>>;
  /** Claims that hold scopes. Defaults to `scope` and `scp`. */
  readonly scopeClaims?: readonly string[];
  /**
   * What clients write before a scope when they request it, such as `api://files/`, if tokens contain the scope without
   * it. Scopes of OpenID Connect and scopes that are URIs get no prefix.
   */
  readonly scopePrefix?: string;
  /** Accepts tokens without `aud`. `claims.client_id` must then list the clients whose tokens are for this server. */
  readonly withoutAudience?: boolean;
  /** Asks the issuer about tokens that aren't JWTs. */
  readonly introspection?: IntrospectionOptions;
  /** This server's client id at the issuer, for `exchange`. Needs `clientSecret`. */
  readonly clientId?: string;
  /** This server's client secret at the issuer, for `exchange`. */
  readonly clientSecret?: string;
  /** How the issuer exchanges tokens: as in RFC 8693, which is the default, or by the on-behalf-of flow of Entra. */
  readonly exchange?: 'token-exchange' | 'on-behalf-of';
}

/** An API key. Only its digest is configured, so the configuration holds no secret. */
export interface ApiKey {
  /** SHA-256 of the key, as 64 hexadecimal digits. */
  readonly sha256: string;
  readonly scopes?: readonly string[];
}

/** Options of `oauth`. `HostRequest` is the request type of the web framework. */
export interface OAuthOptions<HostRequest = unknown> {
  /** The issuers whose tokens are accepted: URLs, or presets such as `keycloak({ … })`. */
  readonly issuer?: string | IssuerOptions | readonly (string | IssuerOptions)[];
  /** The value that tokens must have in `aud`, usually the URL of the MCP endpoint as clients see it. */
  readonly audience?: string;
  /** The URL of the MCP endpoint as clients see it. Defaults to `audience`. */
  readonly resource?: string;
  /** Scopes that every request needs. */
  readonly scopes?: readonly string[];
  /**
   * Scopes that no request needs, but that clients ask for when they sign in, and register for: those of tools. Issuers
   * that keep clients to the scopes of their registration refuse to grant others later.
   */
  readonly offer?: readonly string[];
  /** The scopes that a scope implies: `{ 'files:admin': ['files:write'] }`. */
  readonly hierarchy?: Readonly<Record<string, readonly string[]>>;
  /** Accepts `http` URLs of this machine for `issuer`, its endpoints and `resource`. For development and tests. */
  readonly allowLoopbackHttp?: boolean;
  /** API keys by name. The name becomes the principal's `subject`. */
  readonly apiKeys?: Readonly<Record<string, ApiKey>>;
  /** The header that API keys are sent in. By default, they are sent like tokens: `Authorization: Bearer …`. */
  readonly apiKeyHeader?: string;
  /**
   * Verifies a token that is neither an API key nor from an `issuer`. Return undefined to reject the token. Results
   * aren't cached. `request` is undefined in `principalOf`.
   */
  readonly verify?: (
    token: string,
    request: HostRequest | undefined,
  ) => Principal | undefined | Promise<Principal | undefined>;
  /** Milliseconds to cache a verified token. Defaults to 60 seconds, the maximum. 0 turns the cache off. */
  readonly cacheMs?: number;
  /**
   * Milliseconds by which the clocks of an issuer and this server may differ. Defaults to 5 seconds, at most 5 minutes.
   */
  readonly clockToleranceMs?: number;
  /**
   * Answers denied tool calls with a result that has the challenge in `_meta`, and adds `securitySchemes` to tools.
   * ChatGPT signs in that way. Other clients expect a 401 or 403, and don't sign in.
   */
  readonly toolSignIn?: boolean;
  /** Redirects `/authorize`, `/token` and `/register` to the first issuer, for old clients that don't read metadata. */
  readonly legacyEndpoints?: boolean;
  /** Called for each denied request and each request that lacks scopes. Values from clients are escaped. */
  readonly onEvent?: (event: AuthEvent) => void;
  /** Also calls `onEvent` for each request with valid credentials. Defaults to `false`. */
  readonly reportGranted?: boolean;
}
