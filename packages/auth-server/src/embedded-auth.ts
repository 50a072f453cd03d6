import type { IncomingMessage, ServerResponse } from 'node:http';

import { Authenticator, LocalAuth, LocalKeys, problemOf } from '@decorum/auth/internal';
import type { Principal } from '@decorum/core';
import type { Auth, AuthDocument, AuthEndpoint, AuthMount } from '@decorum/http';

import { CHECKS, type Place } from './check-options.js';
import { Issuer } from './issuer.js';
import type { AuthorizationServerOptions } from './options.js';
import type { ServerPlatform } from './server-platform.js';
import type { UpstreamToken } from './upstream/upstream.js';
import { UpstreamError } from './upstream/upstream-error.js';
import { metadataOf, metadataPaths } from './provider/metadata.js';

/** How often to look for grants that other processes have revoked, whose streams must end within a minute. */
const CATCH_UP_MS = 30_000;

/** Requests and responses over HTTP/2 have what is used of them. */
type NodeArguments = [request: IncomingMessage, response: ServerResponse];

const CLOSED =
  'was closed with the last endpoint, and stores open once. Call `authorizationServer` again, with a new store, for another endpoint';

/** What endpoints call: `@decorum/auth` for the tokens of an issuer in this process, and that issuer. */
export class EmbeddedAuth<HostRequest> extends Authenticator<HostRequest> implements Auth<HostRequest> {
  readonly mount: AuthMount;
  readonly allowedHosts: readonly string[];
  private readonly local: LocalAuth<HostRequest>;
  private readonly issuer: Issuer;
  private readonly open = new Set<AuthEndpoint>();
  private isClosed = false;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: AuthorizationServerOptions<HostRequest> & Place, platform: ServerPlatform) {
    // the parts report through the reporter, which exists only afterwards
    const issuer = new Issuer({
      options: options as never,
      platform,
      report: (event) => local.parts.reporter.signIn(event),
      warn: (error) => local.parts.reporter.failed(problemOf(error)),
    });
    const { grants, endpoints } = issuer;
    const source = { ...options, grants, keys: new FreshKeys(issuer) };
    const local = new LocalAuth<HostRequest>(source, options, { checks: CHECKS, platform });
    super({ ...local.parts, documents: [...local.parts.documents, ...documentsOf(options)] }, platform);
    this.local = local;
    this.issuer = issuer;
    this.mount = { paths: endpoints.paths, handle: (...args) => endpoints.handle(...(args as NodeArguments)) };
    this.allowedHosts = [new URL(options.resource).host];
    grants.onRevoked = (id) => {
      for (const endpoint of this.open) endpoint.revoke(({ claims }) => claims?.['grant_id'] === id);
    };
  }

  override async opened(warn: (message: string) => void, path?: string, endpoint?: AuthEndpoint): Promise<void> {
    super.opened(warn, path);
    // otherwise, users would find out
    if (this.isClosed) throw CHECKS.invalid('store', CLOSED);
    await this.issuer.open();
    if (endpoint) this.open.add(endpoint);
    this.timer ??= setInterval(() => void this.catchUp(), CATCH_UP_MS).unref();
  }

  async closed(endpoint: AuthEndpoint): Promise<void> {
    this.open.delete(endpoint);
    if (this.open.size > 0) return;
    this.isClosed = true;
    clearInterval(this.timer);
    await this.issuer.close();
  }

  /** See `AuthorizationServer.upstream`. */
  async upstream(principal: Principal | undefined): Promise<UpstreamToken> {
    if (this.issuer.upstream === undefined) throw new UpstreamError('no-token');
    return await this.issuer.upstream.tokenOf(principal);
  }

  /** See `AuthorizationServer.revoke`. */
  async revoke(subject: string): Promise<number> {
    await this.issuer.open();
    return await this.issuer.grants.revokeAll(subject);
  }

  /** See `AuthorizationServer.principalOf`. */
  async principalOf(token: string | undefined): Promise<Principal> {
    await this.issuer.open();
    return await this.local.principalOf(token);
  }

  private async catchUp(): Promise<void> {
    const { reporter } = this.local.parts;
    await this.issuer.grants.catchUp().catch((error: unknown) => reporter.failed(problemOf(error)));
  }
}

/** The keys of an issuer, also those that another process has created. */
class FreshKeys extends LocalKeys {
  constructor(private readonly issuer: Issuer) {
    super(() => issuer.keys.publicKeys);
  }

  override async find(wanted: Parameters<LocalKeys['find']>[0]): ReturnType<LocalKeys['find']> {
    // a process whose clients have tokens may get no other request of the issuer
    await this.issuer.refreshKeys();
    return await super.find(wanted);
  }
}

/** The metadata of the authorization server. */
function documentsOf(options: AuthorizationServerOptions<never> & Place): readonly AuthDocument[] {
  const { issuer, consent, registration: takesRegistrations = true, clients = [] } = options;
  const hasMachines = clients.some(({ grantTypes = [] }) => grantTypes.includes('client_credentials'));
  const body = JSON.stringify(metadataOf({ issuer, scopes: Object.keys(consent), takesRegistrations, hasMachines }));
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=300' };
  return metadataPaths(issuer).map((path) => ({ path, answer: () => ({ status: 200, headers, body }) }));
}
