import { requireOptions, startupError } from '@decorum/core/plugin';

import type { IssuerOptions } from './options.js';

/** The issuer options that a preset sets. */
type Preset = Omit<IssuerOptions, 'introspection' | 'clientId' | 'clientSecret'>;

/** A host name or a path segment, from which presets build URLs. */
const PLAIN = /^[\w.-]+$/;

/** Rejects unknown options, which would have no effect. */
function requireNames(preset: string, options: object, names: readonly string[]): void {
  requireOptions(preset, options, Object.fromEntries(names.map((name) => [name, true] as const)));
}

function requirePlain(preset: string, options: Readonly<Record<string, unknown>>): void {
  for (const [option, value] of Object.entries(options)) {
    if (typeof value === 'string' && PLAIN.test(value)) continue;
    const problem = `is ${JSON.stringify(value)}, but must be a name without scheme, slashes and spaces`;
    throw startupError('DECORUM_INVALID_OPTION', preset, option, problem);
  }
}

/**
 * An Auth0 tenant. Scopes also come from the claim `permissions`, which Auth0 adds for roles.
 * @param options.domain such as `tenant.eu.auth0.com`, or your own domain
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { auth0, oauth } from '@decorum/auth';
 *
 * oauth({ ...auth0({ domain: 'tenant.eu.auth0.com' }), resource: 'https://mcp.example.com/mcp', scopes: ['mcp'] });
 * ```
 */
export function auth0(options: { readonly domain: string }): Preset {
  requireNames('auth0', options, ['domain']);
  const { domain } = options;
  requirePlain('auth0', { domain });
  return { issuer: `https://${domain}/`, tokenTypes: ['JWT'], scopeClaims: ['scope', 'permissions'] };
}

/** A GUID: tokens never contain the other names of a tenant. */
const TENANT = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An Application ID URI: a scheme, and what may stand in a scope. */
const APPLICATION_ID_URI = /^[a-z][a-z\d+.-]*:\/\/[^\s"\\]*[^\s"\\/]$/i;

/**
 * A Microsoft Entra ID tenant. Scopes also come from the claim `roles`, which clients get instead of scopes.
 * @param options.tenant the directory (tenant) id, a GUID
 * @param options.applicationIdUri the Application ID URI of your API, such as `api://files`. Clients request its scopes
 *   under this URI, as in `api://files/mcp`; tokens contain `mcp`. Needed for `oauth`; leave it out for an upstream
 * @param options.version `requestedAccessTokenVersion` in the manifest of your API. Defaults to 2
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { entra, oauth } from '@decorum/auth';
 *
 * oauth({ ...entra({ tenant: '8eaef023-2b34-4da1-9baa-8bc8c9d6a490', applicationIdUri: 'api://files' }), resource: 'https://mcp.example.com/mcp', scopes: ['mcp'] });
 * ```
 */
export function entra(options: {
  readonly tenant: string;
  readonly applicationIdUri?: string;
  readonly version?: 1 | 2;
}): Preset {
  requireNames('entra', options, ['tenant', 'applicationIdUri', 'version']);
  const { tenant, applicationIdUri, version = 2 } = options;
  requirePlain('entra', { tenant });
  if (!TENANT.test(tenant)) {
    throw startupError('DECORUM_INVALID_OPTION', 'entra', 'tenant', `is "${tenant}", but must be the directory's GUID`);
  }
  if (applicationIdUri !== undefined && !APPLICATION_ID_URI.test(applicationIdUri)) {
    const problem = `is ${JSON.stringify(applicationIdUri)}, but must be a URI such as "api://files", without a slash at the end`;
    throw startupError('DECORUM_INVALID_OPTION', 'entra', 'applicationIdUri', problem);
  }
  if (version !== 1 && version !== 2) {
    throw startupError(
      'DECORUM_INVALID_OPTION',
      'entra',
      'version',
      `is ${JSON.stringify(version)}, but must be 1 or 2`,
    );
  }
  return {
    issuer: version === 1 ? `https://sts.windows.net/${tenant}/` : `https://login.microsoftonline.com/${tenant}/v2.0`,
    tokenTypes: ['JWT'],
    scopeClaims: ['scp', 'roles'],
    ...(applicationIdUri !== undefined && { scopePrefix: `${applicationIdUri}/` }),
    exchange: 'on-behalf-of',
    // its ID tokens have the same type and audience, but name no client
    claims: { ver: [version === 1 ? '1.0' : '2.0'], tid: [tenant], [version === 1 ? 'appid' : 'azp']: true },
  };
}

/**
 * A Keycloak realm. All its tokens have the same `typ` header, so the claim `typ` tells access tokens apart.
 * @param options.url URL of Keycloak, such as `https://id.example.com`
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { keycloak, oauth } from '@decorum/auth';
 *
 * oauth({ ...keycloak({ url: 'https://id.example.com', realm: 'staff' }), resource: 'https://mcp.example.com/mcp', scopes: ['mcp'] });
 * ```
 */
export function keycloak(options: { readonly url: string; readonly realm: string }): Preset {
  requireNames('keycloak', options, ['url', 'realm']);
  const { url, realm } = options;
  requirePlain('keycloak', { realm });
  if (typeof url !== 'string' || !/^https?:\/\//.test(url)) {
    throw startupError('DECORUM_INVALID_OPTION', 'keycloak', 'url', 'must be a URL, such as "https://id.example.com"');
  }
  return {
    issuer: `${url.replace(/\/$/, '')}/realms/${realm}`,
    tokenTypes: ['JWT'],
    claims: { typ: ['Bearer'] },
  };
}

/**
 * An Okta authorization server.
 * @param options.domain such as `example.okta.com`
 * @param options.authorizationServer its id. Defaults to `default`
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { okta, oauth } from '@decorum/auth';
 *
 * oauth({ ...okta({ domain: 'example.okta.com' }), resource: 'https://mcp.example.com/mcp', scopes: ['mcp'] });
 * ```
 */
export function okta(options: { readonly domain: string; readonly authorizationServer?: string }): Preset {
  requireNames('okta', options, ['domain', 'authorizationServer']);
  const { domain, authorizationServer = 'default' } = options;
  requirePlain('okta', { domain, authorizationServer });
  return {
    issuer: `https://${domain}/oauth2/${authorizationServer}`,
    // its access tokens have no `typ`
    tokenTypes: ['', 'JWT'],
    // its ID tokens name no client
    claims: { cid: true },
  };
}

/** Options of `cognito`. */
export interface CognitoOptions {
  readonly region: string;
  readonly userPoolId: string;
  /** The app clients whose tokens are for this server. User pool tokens don't name an audience. */
  readonly clientIds: readonly string[];
}

/**
 * An Amazon Cognito user pool.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { cognito, oauth } from '@decorum/auth';
 *
 * oauth({ ...cognito({ region: 'eu-west-1', userPoolId: 'eu-west-1_AbCdEf', clientIds: ['4b2'] }), resource: 'https://mcp.example.com/mcp', scopes: ['mcp'] });
 * ```
 */
export function cognito(options: CognitoOptions): Preset {
  requireNames('cognito', options, ['region', 'userPoolId', 'clientIds']);
  const { region, userPoolId, clientIds } = options;
  requirePlain('cognito', { region, userPoolId });
  return {
    issuer: `https://cognito-idp.${region}.amazonaws.com/${userPoolId}`,
    // its access tokens have no `typ`
    tokenTypes: [''],
    claims: { token_use: ['access'], client_id: clientIds },
    withoutAudience: true,
  };
}
