import { HEADER_NAME } from './authenticate.js';

/** Well-known headers with credentials. Anyone who has their values can act as the caller. */
const WELL_KNOWN = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'api-key',
  'apikey',
  'x-api-key',
  'x-goog-api-key',
  'x-functions-key',
  'ocp-apim-subscription-key',
  'x-access-token',
  'x-amz-security-token',
  'x-auth-token',
  'x-id-token',
  'x-refresh-token',
  'x-vault-token',
  'private-token',
  'x-gitlab-token',
  'csrf-token',
  'x-csrf-token',
  'x-csrftoken',
  'x-xsrf-token',
  'x-forwarded-access-token',
  'x-forwarded-id-token',
  'x-forwarded-authorization',
  'x-original-authorization',
  'x-amzn-oidc-accesstoken',
  'x-amzn-oidc-data',
  'cf-access-jwt-assertion',
  'cf-access-client-secret',
  'x-goog-iap-jwt-assertion',
  'x-ms-token-aad-access-token',
  'x-ms-token-aad-id-token',
  'x-ms-token-aad-refresh-token',
];

/** Lower-case names of the headers that are hidden from handlers: the well-known ones and `named`. */
export function credentialHeaders(named: readonly string[]): ReadonlySet<string> {
  return new Set([...WELL_KNOWN, ...named.map((name) => name.toLowerCase())]);
}

/**
 * Whether a header name is valid. HTTP allows `*` in names, but here it would look like a wildcard and match nothing.
 */
export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name) && !name.includes('*');
}
