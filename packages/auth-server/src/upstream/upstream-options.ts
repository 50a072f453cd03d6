import type { IssuerOptions } from '@decorum/auth';
import { OptionChecks } from '@decorum/auth/internal';
import { isObject } from '@decorum/core/internal';
import { type OptionTypes, requireOptions } from '@decorum/core/plugin';

import type { User } from '../users/user-directory.js';

/** Somebody who has signed in upstream. */
export interface UpstreamIdentity {
  /** The upstream's own id of the user. It never changes. */
  readonly id: string;
  /** The claims of the ID token, or what the upstream's API says of the user. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Endpoints of an upstream that has OAuth, but not OpenID Connect. */
export interface UpstreamEndpoints {
  readonly authorization: string;
  readonly token: string;
  /** An API that returns the user as JSON, with an `id`. */
  readonly user: string;
}

/** A provider where users sign in, and for whose API tools get tokens. */
export interface UpstreamOptions extends Pick<IssuerOptions, 'issuer'> {
  /** The client that you have registered there, with the redirect URI `<issuer>/upstream/callback` of this server. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** The scopes to ask for there, besides those for signing in. They are named on the consent page. */
  readonly scopes?: readonly string[];
  /** The start of the subjects of its users: `github|583231`. Defaults to the host of `issuer`. */
  readonly name?: string;
  /** What the consent page calls it. Defaults to `name`. */
  readonly title?: string;
  /** More parameters of the request for authorization, such as `{ access_type: 'offline' }`. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** For providers without OpenID Connect. By default, the endpoints are discovered. */
  readonly endpoints?: UpstreamEndpoints;
  /**
   * Decides who may sign in here, and what they may grant. Return undefined to deny access. By default, everybody may who
   * has an account there.
   */
  readonly user?: (identity: UpstreamIdentity) => UpstreamUser | undefined | Promise<UpstreamUser | undefined>;
}

/** What is known of a user here, besides the subject. */
export type UpstreamUser = Omit<User, 'subject'>;

type Own = Omit<UpstreamOptions, keyof IssuerOptions>;

const OPTIONS: OptionTypes<Own & IssuerOptions> = {
  issuer: true,
  clientId: true,
  clientSecret: true,
  scopes: 'array',
  name: true,
  title: 'string',
  parameters: 'object',
  endpoints: { authorization: 'string', token: 'string', user: 'string' } satisfies OptionTypes<UpstreamEndpoints>,
  user: 'function',
  // what presets of @decorum/auth add for its tokens, which are not accepted here
  audience: true,
  tokenTypes: true,
  claims: true,
  scopeClaims: true,
  scopePrefix: true,
  withoutAudience: true,
  introspection: true,
  exchange: true,
};

/** An upstream with its options checked and defaults applied. */
export interface ResolvedUpstream extends Required<Omit<UpstreamOptions, 'endpoints' | 'user'>> {
  readonly endpoints: UpstreamOptions['endpoints'] | undefined;
  readonly user: UpstreamOptions['user'] | undefined;
}

/** The subject begins with it, and a bar follows. */
const NAME = /^[\w.-]{1,64}$/;

const checks = new OptionChecks('authorizationServer');

/**
 * Checks the `upstream` option.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function resolveUpstream(options: UpstreamOptions, allowLoopbackHttp: boolean): ResolvedUpstream {
  if (!isObject(options))
    throw checks.invalid('upstream', 'must be an object, such as `github({ clientId, clientSecret })`');
  requireOptions('authorizationServer.upstream', options, OPTIONS);
  const issuer = checks.requireIssuer('upstream.issuer', options.issuer, allowLoopbackHttp);
  const { scopes = [], parameters = {}, endpoints, user, name = new URL(issuer).hostname, title = name } = options;
  checks.requireScopes('upstream.scopes', scopes);
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw checks.invalid('upstream.name', 'must have up to 64 letters, digits, dots, dashes and underscores');
  }
  for (const [key, url] of Object.entries(endpoints ?? {})) {
    checks.requireIssuer(`upstream.endpoints.${key}`, url, allowLoopbackHttp);
  }
  const clientId = checks.requireText('upstream.clientId', options.clientId);
  const clientSecret = checks.requireText('upstream.clientSecret', options.clientSecret);
  return { issuer, clientId, clientSecret, scopes, name, title, parameters, endpoints, user };
}
