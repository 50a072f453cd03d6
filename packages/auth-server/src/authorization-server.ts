import type { Principal } from '@decorum/core';
import { AUTH, type Auth, authRoutes } from '@decorum/http';

import { checkOptions } from './check-options.js';
import { EmbeddedAuth } from './embedded-auth.js';
import type { AuthorizationServerOptions } from './options.js';
import type { UpstreamToken } from './upstream/upstream.js';
import { PLATFORM, type ServerPlatform } from './server-platform.js';

/**
 * A server that is its own authorization server. Pass it as the `auth` option of `listen`, `mcp` and `nodeHandler`. It
 * answers at the origin of `resource`: `/authorize`, `/token`, `/register`, `/revoke`, `/jwks` and the metadata.
 */
export class AuthorizationServer<HostRequest = unknown> {
  /** Used by endpoints. */
  readonly [AUTH]: Auth<HostRequest>;
  /**
   * A Fastify plugin that serves the endpoints: `await app.register(auth.routes)`. Register it without a prefix.
   * `listen` registers it itself.
   */
  readonly routes: ReturnType<typeof authRoutes>;
  private readonly embedded: EmbeddedAuth<HostRequest>;

  /** Internal: use `authorizationServer`. */
  constructor(options: AuthorizationServerOptions<HostRequest>, platform: ServerPlatform) {
    const place = checkOptions(options);
    this.embedded = new EmbeddedAuth({ ...options, ...place }, platform);
    this[AUTH] = this.embedded;
    this.routes = authRoutes(this);
  }

  /**
   * The token of the upstream of a caller who has signed in there, for its API. It is refreshed when necessary.
   * @param principal `ctx.principal` itself, not a copy
   * @throws {UpstreamError} if the caller has no such token, or the upstream no longer accepts it
   * @example
   * ```ts
   * const { accessToken } = await auth.upstream(ctx.principal);
   * const headers = { authorization: `Bearer ${accessToken}` };
   * ```
   */
  async upstream(principal: Principal | undefined): Promise<UpstreamToken> {
    return await this.embedded.upstream(principal);
  }

  /**
   * Ends all grants of a user, with their tokens and open streams, and the user's sessions in browsers. Clients then ask
   * the user to sign in again. Call it when a user has lost a device, or must not use the server any more.
   * @param subject the `subject` of the user's principal
   * @returns how many grants the user had
   * @example
   * ```ts
   * await auth.revoke('alice');
   * ```
   */
  async revoke(subject: string): Promise<number> {
    return await this.embedded.revoke(subject);
  }

  /**
   * Verifies a token once, for transports that have one caller, such as stdio.
   * @throws {DecorumError} `DECORUM_INVALID_OPTION` if the token is missing or refused, or lacks a required scope
   */
  async principalOf(token: string | undefined): Promise<Principal> {
    return await this.embedded.principalOf(token);
  }
}

/**
 * Makes a server its own authorization server: people sign in, allow clients to act for them, and clients get tokens,
 * at the server's own origin. The protocol is done by oidc-provider.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { authorizationServer, fileStore, usersFile } from '@decorum/auth-server';
 * import { listen } from '@decorum/http';
 *
 * const auth = authorizationServer({
 *   resource: 'https://mcp.example.com/mcp',
 *   scopes: ['mcp'],
 *   consent: { mcp: 'Use this server', 'notes:write': 'Change your notes' },
 *   users: usersFile('users.json'),
 *   store: fileStore('data'),
 * });
 * await listen(server, { auth });
 * ```
 */
export function authorizationServer<HostRequest = unknown>(
  options: AuthorizationServerOptions<HostRequest>,
): AuthorizationServer<HostRequest> {
  return new AuthorizationServer(options, PLATFORM);
}
