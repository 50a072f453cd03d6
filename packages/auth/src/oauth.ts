import type { Principal } from '@decorum/core';
import { AUTH, type Auth, authRoutes } from '@decorum/http';

import { Authenticator } from './authenticator.js';
import { resolveOptions } from './check-options.js';
import { issuerDocuments, resourceDocuments } from './documents.js';
import { Reporter } from './events.js';
import { type ExchangedToken, Exchanger, type ExchangeRequest } from './exchange.js';
import type { Platform } from './fetch-json.js';
import type { OAuthOptions } from './options.js';
import { Verifier } from './verifier.js';
import { type OnceParts, verifyOnce } from './verify-once.js';

/** Authorization with access tokens and API keys. Pass it as the `auth` option of `listen`, `mcp` and the handlers. */
export class OAuth<HostRequest = unknown> {
  /** Used by endpoints. */
  readonly [AUTH]: Required<Omit<Auth<HostRequest>, 'mount' | 'allowedHosts' | 'closed'>>;
  /**
   * A Fastify plugin that serves the documents: `await app.register(auth.routes)`. Register it without a prefix.
   * `listen` registers it itself.
   */
  readonly routes: ReturnType<typeof authRoutes>;
  private readonly parts: OnceParts<HostRequest>;
  private readonly exchanger: Exchanger;

  /** Internal: use `oauth`. */
  constructor(options: OAuthOptions<HostRequest>, platform: Platform) {
    const settings = resolveOptions(options, platform);
    const verifier = new Verifier(settings, platform);
    this.parts = { settings, verifier };
    const reporter = new Reporter(options, platform);
    const documents = [...resourceDocuments(settings), ...issuerDocuments(settings, options.legacyEndpoints ?? false)];
    this[AUTH] = new Authenticator({ settings, verifier, reporter, documents }, platform);
    this.routes = authRoutes(this);
    const { issuers } = settings;
    this.exchanger = new Exchanger({ issuers, platform, tokenOf: (principal) => verifier.tokenOf(principal) });
  }

  /**
   * Exchanges the token of a caller for a token of another API, in the name of the same user. The issuer of the token
   * needs `clientId` and `clientSecret`. Results are cached until shortly before they expire.
   * @param principal `ctx.principal` itself, not a copy
   * @throws {ExchangeError} if the caller has no token, or the issuer doesn't exchange it
   * @example
   * ```ts
   * const issuer = { issuer: 'https://id.example.com', clientId: 'files', clientSecret: process.env['SECRET'] ?? '' };
   * const auth = oauth({ issuer, audience: 'https://mcp.example.com/mcp' });
   *
   * class Calendar {
   *   @Tool() async events(_input: NoInput, ctx: Context) {
   *     const { accessToken } = await auth.exchange(ctx.principal, { audience: 'https://calendar.example.com' });
   *     const headers = { authorization: `Bearer ${accessToken}` };
   *     return await (await fetch('https://calendar.example.com/events', { headers })).json();
   *   }
   * }
   * ```
   */
  async exchange(principal: Principal | undefined, request: ExchangeRequest): Promise<ExchangedToken> {
    return await this.exchanger.exchange(principal, request);
  }

  /**
   * Verifies a token once, for transports that have one caller, such as stdio.
   * @throws {DecorumError} `DECORUM_INVALID_OPTION` if the token is missing or refused, or lacks a required scope
   * @example
   * ```ts
   * const auth = oauth({ issuer: 'https://id.example.com', audience: 'https://mcp.example.com/mcp' });
   * await serveStdio(server, { principal: await auth.principalOf(process.env['FILES_TOKEN']) });
   * ```
   */
  async principalOf(token: string | undefined): Promise<Principal> {
    return await verifyOnce(token, this.parts);
  }
}

/** The clock and network of this process. */
const PLATFORM: Platform = {
  now: () => Date.now(),
  fetch: (url, init) => fetch(url, init),
  // test runners set it; a test that asks nobody must not fail without a network
  checksIssuers: process.env['NODE_ENV'] !== 'test',
};

/**
 * Protects a server with OAuth 2.1: it verifies access tokens, and tells clients where to get one.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { oauth } from '@decorum/auth';
 * import { listen } from '@decorum/http';
 *
 * const auth = oauth({ issuer: 'https://id.example.com', audience: 'https://mcp.example.com/mcp', scopes: ['mcp'] });
 * await listen(server, { auth, host: '0.0.0.0', allowedHosts: ['mcp.example.com'] });
 * ```
 */
export function oauth<HostRequest = unknown>(options: OAuthOptions<HostRequest>): OAuth<HostRequest> {
  return new OAuth(options, PLATFORM);
}
