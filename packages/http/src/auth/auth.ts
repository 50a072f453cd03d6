import type { Principal } from '@decorum/core';

import type { Headers } from '../endpoint/http-context.js';
import type { AuthMount } from '../hosts/node/auth-mount.js';

/** The part of a request that is known before its body is read. */
export interface RequestHead {
  /** HTTP method in upper case. */
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  /** Names in lower case. Credentials are included. */
  readonly headers: Headers;
  /** The values of all `Authorization` headers. Node.js puts only the first into `headers`. */
  readonly authorizations: readonly string[];
  readonly remoteAddress?: string | undefined;
  /** The same object for all requests of a connection; undefined if the host doesn't know the connection. */
  readonly connection?: object | undefined;
}

/** The response to a caller that `Auth.authenticate` rejects. */
export interface AuthRefusal {
  /** HTTP status from 400 to 599. */
  readonly status: number;
  /** Response headers, for example `{ 'www-authenticate': 'Bearer error="invalid_token"' }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Response body, by default a JSON-RPC error. It is sent as JSON unless `headers` sets another `content-type`. */
  readonly body?: string;
}

/** Why a request with valid credentials, or without any, is denied. */
export interface Denial {
  /** `unauthorized` for a request without credentials, `insufficient-scope` for a principal that lacks scopes. */
  readonly reason: 'unauthorized' | 'insufficient-scope';
  /** All scopes that the operation needs. Only valid scope tokens (RFC 6749, section 3.3), at most 4 KiB of them. */
  readonly scopes: readonly string[];
  readonly principal: Principal | undefined;
  /** Whether the request belongs to a session, or would if the endpoint kept sessions. */
  readonly inSession: boolean;
  /** Whether the challenge is for the result of a tool, where clients need `error` and `error_description` in it. */
  readonly inResult?: boolean;
}

/** Status and headers of the response to a denied request. */
export interface Challenge {
  /** HTTP status from 400 to 599. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The response to a request for an `AuthDocument`. */
export interface DocumentAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A public document at the root of the origin, such as `/.well-known/oauth-protected-resource`. */
export interface AuthDocument {
  /** Path from the root of the origin. */
  readonly path: string;
  /** Whether to answer POST too, for endpoints that redirect. The body isn't read. By default, only GET and HEAD. */
  readonly answersPost?: boolean;
  /** Answers a GET. CORS headers are added, so pages of any origin can read the document. */
  answer(head: RequestHead): DocumentAnswer | Promise<DocumentAnswer>;
}

/** An endpoint, as its `Auth` sees it. */
export interface AuthEndpoint {
  /**
   * Ends what callers have open in this process, because their credentials have been revoked: their calls in flight, the
   * tasks that they started with them, event streams, `subscriptions/listen` requests and HTTP+SSE sessions. They get 401
   * where no answer has begun. Other sessions go on, for callers who sign in again. Later requests are left to
   * `authenticate`, which must refuse them.
   * @param isRevoked whether the credentials of a principal have been revoked. It should tell credentials apart, and not
   *   users: it is also asked about requests of the next `bodyTimeoutMs`, whose caller may have signed in again
   */
  revoke(isRevoked: (principal: Principal) => boolean): void;
}

/** The key of the `Auth` of an object that offers something else to its users. */
export const AUTH: unique symbol = Symbol.for('decorum:auth') as never;

/** The `auth` option: an `Auth`, or an object that has one, such as the result of `oauth()` from @decorum/auth. */
export type AuthOption<HostRequest = unknown> = Auth<HostRequest> | { readonly [AUTH]: Auth<HostRequest> };

/** Tells an endpoint who is calling, and how clients get a token. `HostRequest` is the web framework's request type. */
export interface Auth<HostRequest = unknown> {
  /** Scopes that every request needs, unless it asks only for something public. */
  readonly scopes?: readonly string[];
  /**
   * Verifies the credentials of a request before its body is read. Returns the principal, a refusal, or undefined for a
   * request without credentials, which may only use what is public. If it throws, the error is reported, and the client
   * gets a 500 without details.
   */
  authenticate(
    head: RequestHead,
    request: HostRequest,
  ): Principal | AuthRefusal | undefined | Promise<Principal | AuthRefusal | undefined>;
  /**
   * Returns the status and headers for a caller without credentials or without the necessary scopes. By default 401
   * with `Bearer` and the scopes, or 403 with `Bearer error="insufficient_scope"` and the scopes.
   */
  challenge?(denial: Denial): Challenge;
  /**
   * Answers denied tool calls with a result that has the challenge in `_meta`, and lets tools publish which scopes they
   * need. ChatGPT signs in that way.
   */
  readonly toolSignIn?: boolean;
  /** The name under which clients request a scope, for what tools publish. Defaults to the scope itself. */
  requestedScope?(scope: string): string;
  /** Public documents that tell clients where to get a token (RFC 9728, RFC 8414). */
  readonly documents?: readonly AuthDocument[];
  /** Serves Node requests, on hosts that have them: all but `fetchHandler`. */
  readonly mount?: AuthMount;
  /** `Host` values to accept in addition to those of the endpoint's `allowedHosts`. */
  readonly allowedHosts?: readonly string[];
  /** Lower-case names of more headers that hold credentials. They are left out of `ctx.transport.headers`. */
  readonly credentialHeaders?: readonly string[];
  /**
   * Called before an endpoint opens, which waits for it and fails if it fails. The documents and the mount may be asked
   * for something before.
   * @param warn writes a warning to the log of the endpoint's server
   * @param path the path that the endpoint serves; undefined if it isn't known, or if the endpoint serves every path
   * @param endpoint the same object for `closed`
   */
  opened?(warn: (message: string) => void, path?: string, endpoint?: AuthEndpoint): void | Promise<void>;
  /**
   * Called once for each endpoint that has closed, or failed to open after `opened`. `close` waits for it. Its requests
   * have ended, but `nodeHandler` passes on requests for the mount for as long as its server listens. If it fails, the
   * error is reported.
   */
  closed?(endpoint: AuthEndpoint): void | Promise<void>;
}
