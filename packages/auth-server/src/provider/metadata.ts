/** What the metadata of an authorization server tells. */
export interface MetadataParts {
  readonly issuer: string;
  readonly scopes: readonly string[];
  readonly takesRegistrations: boolean;
  /** Whether there are clients that get tokens for themselves. */
  readonly hasMachines: boolean;
}

/** The paths of the endpoints, below the issuer. */
export const ENDPOINTS = {
  authorize: '/authorize',
  token: '/token',
  register: '/register',
  revoke: '/revoke',
  keys: '/jwks',
  interaction: '/interaction/',
  upstream: '/upstream/callback',
} as const;

/** The endpoints that only clients call. They take no cookies, so pages of other origins may call them. */
export const CLIENT_ENDPOINTS: readonly string[] = [
  ENDPOINTS.token,
  ENDPOINTS.register,
  ENDPOINTS.revoke,
  ENDPOINTS.keys,
];

/** The headers that let pages of other origins read their answers. */
export const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'WWW-Authenticate, Retry-After',
};

/** The URL of an endpoint, for an issuer with or without a path. */
export const urlBelow = (issuer: string, path: string): string => issuer.replace(/\/$/, '') + path;

/** How clients may prove who they are at the token endpoint. */
export const CLIENT_AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;

/**
 * The metadata of the authorization server, for OAuth and for clients that only look for OpenID Connect (RFC 8414,
 * section 2; OpenID Connect Discovery 1.0, section 3).
 */
export function metadataOf({
  issuer,
  scopes,
  takesRegistrations,
  hasMachines,
}: MetadataParts): Readonly<Record<string, unknown>> {
  const at = (path: string): string => urlBelow(issuer, path);
  return {
    issuer,
    authorization_endpoint: at(ENDPOINTS.authorize),
    token_endpoint: at(ENDPOINTS.token),
    ...(takesRegistrations && { registration_endpoint: at(ENDPOINTS.register) }),
    revocation_endpoint: at(ENDPOINTS.revoke),
    jwks_uri: at(ENDPOINTS.keys),
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', ...(hasMachines ? ['client_credentials'] : [])],
    token_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'PS256', 'EdDSA'],
    revocation_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'PS256', 'EdDSA'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    // members that OpenID Connect requires
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  };
}

const WELL_KNOWN = '/.well-known/';

/** The paths of the metadata, from the root of the origin. An issuer with a path has three (RFC 8414, section 5). */
export function metadataPaths(issuer: string): readonly string[] {
  const path = new URL(issuer).pathname.replace(/\/$/, '');
  const paths = [
    `${WELL_KNOWN}oauth-authorization-server${path}`,
    `${WELL_KNOWN}openid-configuration${path}`,
    `${path}${WELL_KNOWN}openid-configuration`,
  ];
  return [...new Set(paths)];
}
