import { canonicalResource, type SignInEvent } from '@decorum/auth/internal';
import type { AdapterPayload, KoaContextWithOIDC, Provider } from 'oidc-provider';

import { ClientError } from './clients/client-error.js';
import { ClientDocuments } from './clients/client-documents.js';
import { ClientSource, type DescribedClient } from './clients/client-source.js';
import { configuredClients, requireSchemes } from './clients/configured-clients.js';
import { PublicFetch } from './clients/public-fetch.js';
import { RegisteredClients } from './clients/registered-clients.js';
import { Registrations } from './clients/registrations.js';
import { type Sealer, requireLastingSecret, sealerFor } from './keys/sealer.js';
import { SigningKeys } from './keys/signing-keys.js';
import type { AuthorizationServerOptions } from './options.js';
import { Pages } from './pages/pages.js';
import type { ServerPlatform } from './server-platform.js';
import { type Accounts, ApplicationAccounts, KnownUsers, PasswordAccounts } from './provider/accounts.js';
import { Callers } from './provider/callers.js';
import { Consents } from './provider/consents.js';
import { Endpoints } from './provider/endpoints.js';
import { DIRECT } from './provider/turn.js';
import { Grants } from './provider/grants.js';
import { Interactions } from './provider/interactions.js';
import { library, loadLibrary } from './provider/library.js';
import { PageWriter } from './provider/page-writer.js';
import { ENDPOINTS } from './provider/metadata.js';
import { createProvider } from './provider/provider.js';
import { RefreshTokens } from './provider/refresh-tokens.js';
import { revocation } from './provider/revocation.js';
import { SealedRecords } from './provider/sealed-records.js';
import { TokenEndpoint } from './provider/token-endpoint.js';
import { BoundedStore } from './store/bounded-store.js';
import { Upstream } from './upstream/upstream.js';
import type { UpstreamOptions } from './upstream/upstream-options.js';
import { memoryStore } from './store/memory-store.js';
import type { AuthStore } from './store/auth-store.js';
import type { Place } from './check-options.js';

/** Dependencies of an `Issuer`. */
export interface IssuerParts {
  readonly options: AuthorizationServerOptions<never> & Place;
  readonly platform: ServerPlatform;
  /** Tells the operator. */
  report(event: SignInEvent): void;
  /** Tells the operator of an error of the server itself. */
  warn(error: unknown): void;
}

/** How often the keys are compared with those in the store. */
const REFRESH_MS = 60_000;

/** The authorization server: puts its parts together, and opens and closes them. */
export class Issuer {
  readonly grants: Grants;
  readonly keys: SigningKeys;
  readonly endpoints: Endpoints;
  readonly upstream: Upstream | undefined;
  private readonly store: AuthStore;
  private readonly sealer: Sealer;
  private readonly records: SealedRecords;
  private readonly accounts: Accounts;
  private readonly consents: Consents;
  private readonly clients: ClientSource;
  private readonly registered: RegisteredClients;
  private readonly fetcher: PublicFetch;
  private readonly callers: Callers;
  private readonly pages: PageWriter;
  private readonly tokens: TokenEndpoint;
  private readonly refreshTokens: RefreshTokens;
  /** The clients that get tokens for themselves, with their scopes. */
  private readonly machines: ReadonlyMap<string, readonly string[]>;
  /** The provider with the current keys; undefined until the store is open. */
  private running: { readonly provider: Provider; readonly kids: string } | undefined;
  private opening: Promise<void> | undefined;
  private refreshedAt = 0;

  constructor(private readonly parts: IssuerParts) {
    const { options, platform, report } = parts;
    const { consent: words, remember: rememberDays, users, login } = options;
    this.store = new BoundedStore(options.store ?? memoryStore());
    const allowLoopback = options.allowLoopbackHttp ?? false;
    this.sealer = sealerFor(this.store, platform.env);
    const { store, sealer } = this;
    this.records = new SealedRecords({ store, sealer, clock: platform });
    const { records } = this;
    this.grants = new Grants(records, platform, report);
    this.keys = new SigningKeys({ store, sealer, clock: platform });
    this.consents = new Consents({ records, clock: platform, words, rememberDays });
    const known = new KnownUsers(records, platform);
    this.accounts = users
      ? new PasswordAccounts(users, platform)
      : login
        ? new ApplicationAccounts(login, known)
        : known;
    this.callers = new Callers(options.trustProxy ?? false);
    this.pages = new PageWriter(new Pages(options.texts));
    this.refreshTokens = new RefreshTokens(sealer.derive('refresh-tokens'), platform);
    const { grants, refreshTokens } = this;
    const used = async (clientId: string): Promise<void> => await this.registered.used(clientId);
    this.tokens = new TokenEndpoint({ records, grants, refreshTokens, clock: platform, report, used });
    this.fetcher = new PublicFetch(platform, {
      allowLoopback,
      ...(platform.network && { network: platform.network }),
    });
    this.machines = machinesOf(options);
    this.grants.isMachine = (clientId) => this.machines.has(String(clientId));
    const schemes = requireSchemes(options.redirectSchemes);
    this.registered = new RegisteredClients({ store, sealer, schemes, clock: platform });
    this.clients = new ClientSource({
      configured: configuredClients(options.clients, schemes),
      documents: new ClientDocuments({ clock: platform, fetcher: this.fetcher, schemes }),
      registered: this.registered,
    });
    if (options.upstream !== undefined) this.upstream = this.createUpstream(options.upstream, known);
    this.endpoints = this.createEndpoints();
  }

  /** Opens the store and the keys, once. */
  async open(): Promise<void> {
    requireLastingSecret(this.store, this.parts.platform.env);
    this.opening ??= Promise.all([this.store.open(), loadLibrary()])
      .then(() => this.keys.open())
      .catch(async (error: unknown) => {
        // nobody else does: the endpoint has not opened
        await this.store.close().catch(() => undefined);
        throw error;
      });
    await this.opening;
  }

  /** Closes the store. */
  async close(): Promise<void> {
    await this.store.close();
  }

  /** Gets to know the keys that other processes have created, and replaces old ones. */
  async refreshKeys(): Promise<void> {
    await this.open();
    const now = this.parts.platform.now();
    if (Math.abs(now - this.refreshedAt) < REFRESH_MS) return;
    this.refreshedAt = now;
    await this.keys.refresh().catch((error: unknown) => this.parts.warn(error));
  }

  /** The provider with the current keys. */
  private async provider(): Promise<Provider> {
    await this.refreshKeys();
    const keys = this.keys.all;
    const kids = keys.map(({ kid }) => kid).join(' ');
    if (this.running?.kids !== kids) this.running = { kids, provider: this.createProvider(keys) };
    return this.running.provider;
  }

  private createProvider(keys: SigningKeys['all']): Provider {
    const { options, platform } = this.parts;
    const { records, grants, refreshTokens, accounts, tokens, pages, fetcher, sealer } = this;
    const canonical = canonicalResource(options.resource);
    const provider = createProvider({
      records,
      grants,
      keys,
      fetch: fetcher.fetch,
      clock: platform,
      issuer: options.issuer,
      resource: options.resource,
      scopes: Object.keys(options.consent),
      cookieKeys: sealer.derive('cookies'),
      refreshTokens,
      signsInAgain: accounts.passwords === undefined,
      machineScopes: (clientId) => this.machines.get(clientId),
      isResource: (identifier) => canonicalResource(identifier) === canonical,
      user: async (subject) => await accounts.find(subject),
      client: async (id) => await this.findClient(id),
      tokenRequest: () => tokens.request,
      grantOf: async (ctx) => await this.grantWithoutPage(ctx),
      renderError: (ctx, out) => pages.failure(ctx, out),
    });
    const revoke = revocation({ grants, refreshTokens, keys: this.keys });
    provider.use(async (given, next) => {
      const ctx = given as KoaContextWithOIDC;
      try {
        if (ctx.path === ENDPOINTS.token) await tokens.middleware(ctx, next);
        else await (ctx.path === ENDPOINTS.revoke ? revoke(ctx, next) : next());
      } catch (error) {
        // such as of the store, outside of what oidc-provider catches
        this.parts.warn(error);
        pages.broken(ctx.res, ctx.path);
        ctx.respond = false;
      }
    });
    provider.on('server_error', (_ctx, error) => this.parts.warn(error));
    return provider;
  }

  private async findClient(id: string): Promise<AdapterPayload | undefined> {
    try {
      const client = await this.lookUp(id);
      // oidc-provider changes what it gets
      return client && ({ ...client } as unknown as AdapterPayload);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      // a client that hears `invalid_client` forgets its tokens
      const { errors } = library();
      throw error.code === 'invalid_client'
        ? new errors.InvalidClient(error.message)
        : new errors.TemporarilyUnavailable(error.message);
    }
  }

  /** oidc-provider asks again to answer an error: that must not fetch a document again. */
  private async lookUp(id: string): ReturnType<ClientSource['find']> {
    return await this.callers.once(id, async () => await this.clients.find(id, this.callers.address));
  }

  /** The grant of a request whose consent is remembered. A page of another site must not get one unseen. */
  private async grantWithoutPage({ oidc }: KoaContextWithOIDC): Promise<string | undefined> {
    const subject = oidc.session?.accountId;
    const {
      client_id: clientId,
      redirect_uri: redirectUri,
      scope,
      resource,
      ...more
    } = oidc.params as Record<string, string>;
    if (this.upstream !== undefined || more[DIRECT] === undefined) return undefined;
    if (subject === undefined || oidc.prompts.has('consent')) return undefined;
    const client = await this.describe(String(clientId), String(redirectUri));
    const scopes = this.consents.grantable(scope, await this.accounts.find(subject));
    const consent = { subject, clientId: String(clientId), redirectUri: String(redirectUri), scopes };
    if (client === undefined || !this.consents.mayRemember(client) || scopes.length === 0) return undefined;
    if (!(await this.consents.isRemembered(consent))) return undefined;
    await this.registered.used(consent.clientId);
    return await this.consents.grant(oidc.provider, { ...consent, resource: String(resource) });
  }

  private async describe(clientId: string, redirectUri: string): Promise<DescribedClient | undefined> {
    const client = await this.lookUp(clientId);
    return client && this.clients.describe(client, redirectUri);
  }

  private createUpstream(options: UpstreamOptions, users: KnownUsers): Upstream {
    const { grants, consents, pages, records, registered, sealer } = this;
    const { platform, report, warn, options: all } = this.parts;
    return new Upstream({
      options,
      grants,
      consents,
      pages,
      records,
      users,
      platform,
      report,
      warn,
      issuer: new URL(all.issuer),
      allowLoopbackHttp: all.allowLoopbackHttp ?? false,
      cookieKeys: sealer.derive('upstream-cookies'),
      used: async (clientId) => await registered.used(clientId),
    });
  }

  private createEndpoints(): Endpoints {
    const { accounts, consents, pages, tokens, callers, registered, sealer } = this;
    const { options, platform, report } = this.parts;
    const interactions = new Interactions({
      accounts,
      consents,
      pages,
      report,
      upstream: this.upstream?.turns,
      csrfKeys: sealer.derive('csrf'),
      describe: async (clientId, redirectUri) => await this.describe(clientId, redirectUri),
      used: async (clientId) => await registered.used(clientId),
    });
    const registrations = new Registrations(
      registered,
      ({ client_id: clientId, redirect_uris: [first = ''] }, address) =>
        report({ type: 'registered', clientId, redirectHost: new URL(first).host, remoteAddress: address }),
    );
    return new Endpoints({
      interactions,
      pages,
      tokens,
      callers,
      clock: platform,
      upstream: this.upstream?.signIns,
      issuer: new URL(options.issuer),
      scopes: options.scopes ?? [],
      allScopes: Object.keys(options.consent),
      registrations: options.registration === false ? undefined : registrations,
      provider: async () => await this.provider(),
    });
  }
}

function machinesOf({ clients = [], scopes = [] }: AuthorizationServerOptions<never>) {
  const machines = clients.filter(({ grantTypes = [] }) => grantTypes.includes('client_credentials'));
  return new Map(machines.map((client) => [client.clientId, client.scopes ?? scopes]));
}
