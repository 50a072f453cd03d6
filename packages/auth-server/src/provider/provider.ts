import { hash } from 'node:crypto';

import type { Configuration, Interaction, KoaContextWithOIDC, Provider } from 'oidc-provider';

import type { SigningJwk } from '../keys/signing-keys.js';
import type { User } from '../users/user-directory.js';
import { type AdapterParts, adapterFor } from './adapter.js';
import { LIFETIMES } from './lifetimes.js';
import { library } from './library.js';
import { CLIENT_AUTH_METHODS, ENDPOINTS, urlBelow } from './metadata.js';
import { DIRECT } from './turn.js';
import type { RefreshTokens } from './refresh-tokens.js';

/** How long what a client signs to prove who it is may be valid. */
const ASSERTION_MS = 60 * 60_000;

/** What a provider is made of. */
export interface ProviderParts extends AdapterParts {
  readonly issuer: string;
  /** The resource identifier that access tokens are for. */
  readonly resource: string;
  /** All scopes that there are. */
  readonly scopes: readonly string[];
  /** The signing keys: the first signs. */
  readonly keys: readonly SigningJwk[];
  readonly cookieKeys: readonly string[];
  readonly refreshTokens: RefreshTokens;
  /** The scopes that a client may get for itself; undefined if it may get no token for itself. */
  machineScopes(clientId: string): readonly string[] | undefined;
  /** Whether an identifier names the resource. */
  isResource(identifier: string): boolean;
  /** The user of a subject; undefined if nobody has it any more. */
  user(subject: string): Promise<User | undefined>;
  /** The grant of an authorization request that needs no consent page; undefined if it needs one. */
  grantOf(ctx: KoaContextWithOIDC): Promise<string | undefined>;
  /** Whether each authorization request signs in again, because the application has sessions of its own. */
  readonly signsInAgain: boolean;
  /** Fetches the keys of clients, from public addresses only. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Sends a page that says why a request has failed. */
  renderError(ctx: KoaContextWithOIDC, out: { readonly error: string; readonly error_description?: string }): void;
}

/**
 * Creates the oidc-provider of an issuer. It does the protocol of OAuth; what people see, who they are, and what is
 * stored where is ours.
 */
export function createProvider(parts: ProviderParts): Provider {
  const { Provider: OidcProvider } = library();
  const provider = new OidcProvider(parts.issuer, configurationOf(parts));
  const { prototype } = provider.RefreshToken as unknown as { prototype: { generateTokenId(): string } };
  prototype.generateTokenId = function generateTokenId(this: { readonly grantId: string }) {
    return parts.refreshTokens.create(this.grantId);
  };
  // requests say what the issuer is, not what the client has sent
  provider.proxy = true;
  return provider;
}

function configurationOf(parts: ProviderParts): Configuration {
  return {
    adapter: adapterFor(parts),
    jwks: { keys: parts.keys as never },
    cookies: { keys: [...parts.cookieKeys], names: cookieNames(parts.issuer) },
    routes: {
      authorization: ENDPOINTS.authorize,
      token: ENDPOINTS.token,
      revocation: ENDPOINTS.revoke,
      jwks: ENDPOINTS.keys,
    },
    responseTypes: ['code'],
    clientAuthMethods: [...CLIENT_AUTH_METHODS],
    clientDefaults: { id_token_signed_response_alg: 'ES256', grant_types: ['authorization_code', 'refresh_token'] },
    pkce: { required: () => true },
    assertJwtClientAuthClaimsAndHeader: (_ctx, { exp }) => requireShortLived(exp, parts.clock.now()),
    extraParams: [DIRECT],
    ttl: LIFETIMES,
    features: featuresOf(parts),
    interactions: {
      policy: policyOf(parts),
      url: (_ctx: KoaContextWithOIDC, { uid }: Interaction) => interactionUrl(parts.issuer, uid),
    },
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    revokeGrantPolicy: async () => true,
    extraTokenClaims: async (_ctx, token) =>
      'grantId' in token && token.grantId ? { grant_id: token.grantId } : undefined,
    findAccount: async (_ctx, subject) => {
      const user = await parts.user(subject);
      return user && { accountId: subject, user, claims: async () => ({ sub: subject }) };
    },
    loadExistingGrant: async (ctx) => {
      const id = ctx.oidc.result?.consent?.grantId ?? (await parts.grantOf(ctx));
      return id === undefined ? undefined : await ctx.oidc.provider.Grant.find(id);
    },
    renderError: async (ctx, out) => parts.renderError(ctx, out as { error: string; error_description?: string }),
    fetch: parts.fetch,
  } as Configuration;
}

/**
 * Browsers send the cookies of a host to each of its ports, so the names tell issuers of one machine apart: otherwise,
 * signing in at one would end what users have begun at another. With https, the prefixes keep other hosts of the domain
 * from setting these cookies.
 */
function cookieNames(issuer: string): Readonly<Record<'session' | 'interaction' | 'resume', string>> {
  const id = hash('sha256', issuer, 'hex').slice(0, 8);
  const isSecure = issuer.startsWith('https:');
  // the others have a path, which `__Host-` forbids
  const [host, secure] = isSecure ? ['__Host-', '__Secure-'] : ['', ''];
  return {
    session: `${host}session-${id}`,
    interaction: `${secure}interaction-${id}`,
    resume: `${secure}resume-${id}`,
  };
}

/** What `findAccount` finds. */
interface UserAccount {
  readonly user: User;
}

/** Each assertion is kept until it expires. With one for years, a stranger could have grants evicted in its favor. */
function requireShortLived(exp: unknown, now: number): void {
  if (Number(exp) * 1000 <= now + ASSERTION_MS) return;
  const { InvalidClientAuth } = library().errors;
  throw new InvalidClientAuth('the client_assertion JWT must expire within an hour');
}

const interactionUrl = (issuer: string, uid: string): string => urlBelow(issuer, ENDPOINTS.interaction + uid);

function featuresOf({ resource, scopes, isResource, machineScopes }: ProviderParts): Configuration['features'] {
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: false },
    clientCredentials: { enabled: true },
    rpInitiatedLogout: { enabled: false },
    // neither is offered: a parameter for one of them is ignored
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
    resourceIndicators: {
      enabled: true,
      defaultResource: async () => resource,
      useGrantedResource: async () => true,
      getResourceServerInfo: async (ctx, identifier, { clientId }) => {
        const { InvalidTarget, InvalidScope } = library().errors;
        if (!isResource(identifier)) throw new InvalidTarget('This server issues tokens for another resource.');
        const available = isForItself(ctx) ? (machineScopes(clientId) ?? []) : scopes;
        const { requestParamScopes: asked } = ctx.oidc;
        if (isForItself(ctx) && !available.some((scope) => asked.has(scope))) {
          throw new InvalidScope('The client may get none of these scopes.', [...asked].join(' '));
        }
        // at the token endpoint, the user is known, and may have lost scopes since the consent
        const { scopes: own } = (ctx.oidc.account as Partial<UserAccount> | undefined)?.user ?? {};
        return {
          scope: available.filter((scope) => own?.includes(scope) ?? true).join(' '),
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: LIFETIMES.AccessToken,
          jwt: { sign: { alg: 'ES256' } },
        };
      },
    },
  };
}

const isForItself = ({ oidc }: KoaContextWithOIDC): boolean => oidc.params?.['grant_type'] === 'client_credentials';

/** When people are asked: to sign in without a session, and for their consent each time. */
function policyOf({ signsInAgain }: ProviderParts) {
  const { base, Check, Prompt } = library().interactionPolicy;
  const policy = base();
  const mustSignIn = ({ oidc }: KoaContextWithOIDC) => {
    if (oidc.result?.login !== undefined) return false;
    // a session may be older than the decision that its user is none any more
    return signsInAgain || (oidc.session?.accountId !== undefined && oidc.account === undefined);
  };
  policy.get('login')?.checks.add(new Check('no_user', 'the user must sign in', 'login_required', mustSignIn));
  policy.remove('consent');
  policy.add(
    new Prompt(
      { name: 'consent', requestable: true },
      new Check('no_consent', 'the user must consent', ({ oidc }) => oidc.entities.Grant?.jti === undefined),
    ),
  );
  return policy;
}
