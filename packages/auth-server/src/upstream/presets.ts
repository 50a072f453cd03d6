import { requireOptions } from '@decorum/core/plugin';

import type { UpstreamOptions } from './upstream-options.js';

/** Options of an upstream whose endpoints are known. */
export type KnownUpstreamOptions = Pick<UpstreamOptions, 'clientId' | 'clientSecret' | 'scopes' | 'user'>;

const OPTIONS = { clientId: true, clientSecret: true, scopes: 'array', user: 'function' } as const;

/**
 * Users sign in at GitHub. Register an OAuth app there.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * const upstream = github({ clientId, clientSecret, scopes: ['repo'], user: ({ claims }) => (claims['login'] === 'octocat' ? {} : undefined) });
 * ```
 */
export function github(options: KnownUpstreamOptions): UpstreamOptions {
  requireOptions('github', options, OPTIONS);
  return {
    ...options,
    // what it sends back as `iss` (RFC 9207)
    issuer: 'https://github.com/login/oauth',
    name: 'github',
    title: 'GitHub',
    endpoints: {
      authorization: 'https://github.com/login/oauth/authorize',
      token: 'https://github.com/login/oauth/access_token',
      user: 'https://api.github.com/user',
    },
  };
}

/**
 * Users sign in at Google. Register a web client there.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * const upstream = google({ clientId, clientSecret, scopes: ['email'] });
 * ```
 */
export function google(options: KnownUpstreamOptions): UpstreamOptions {
  requireOptions('google', options, OPTIONS);
  // without these, Google gives no refresh token after the first time
  const parameters = { access_type: 'offline', prompt: 'consent' };
  return { ...options, issuer: 'https://accounts.google.com', name: 'google', title: 'Google', parameters };
}

/**
 * Users sign in at a provider of OpenID Connect.
 * @example
 * ```ts
 * const upstream = oidc({ issuer: 'https://id.example.com', name: 'staff', clientId, clientSecret, scopes: ['calendar'] });
 * ```
 */
export const oidc = (options: UpstreamOptions): UpstreamOptions => options;
