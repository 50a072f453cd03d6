import { parseUrl } from '@decorum/auth/internal';
import { isObject } from '@decorum/core/internal';

import { cleanName } from '../pages/clean-name.js';
import { ClientError } from './client-error.js';
import { clientKind, requireRedirects } from './redirects.js';

/** How a client proves who it is at `/token`. */
export type AuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** A JSON Web Key Set with public keys. oidc-provider checks the keys. */
export interface PublicKeys {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** What is known of a client, with the names of RFC 7591, section 2, as oidc-provider reads them. */
export interface ClientMetadata {
  readonly client_id: string;
  readonly client_id_issued_at?: number;
  readonly client_secret?: string;
  readonly client_secret_expires_at?: number;
  readonly client_name?: string;
  readonly client_uri?: string;
  readonly redirect_uris: readonly string[];
  readonly application_type: 'native' | 'web';
  readonly grant_types: readonly string[];
  readonly response_types: readonly string[];
  readonly token_endpoint_auth_method: AuthMethod;
  readonly jwks?: PublicKeys;
  readonly jwks_uri?: string;
}

/** What a client says of itself. */
export type SentMetadata = Readonly<Record<string, unknown>>;

/** What clients of one kind may ask for. */
export interface MetadataPolicy {
  /** Allowed private-use schemes of redirect URIs. */
  readonly schemes: readonly string[];
  /** Accepted methods. The first one is the default. */
  readonly methods: readonly [AuthMethod, ...AuthMethod[]];
}

const MAX_URI = 2000;

/**
 * Takes from what a client sent what this server uses. Everything else is left out: it has no effect here, or, as
 * `scope`, an unwanted one: clients register the scopes of the first challenge, and later need others.
 * @throws {ClientError} `invalid_redirect_uri` or `invalid_client_metadata`
 */
export function takeMetadata(sent: SentMetadata, policy: MetadataPolicy): Omit<ClientMetadata, 'client_id'> {
  const redirects = requireRedirects(sent['redirect_uris'], policy.schemes);
  requireMember('grant_types', sent['grant_types'], 'authorization_code');
  requireMember('response_types', sent['response_types'], 'code');
  const method = takeMethod(sent['token_endpoint_auth_method'], policy);
  const { client_name: name, client_uri: uri } = sent;
  // markup stays: pages escape it
  const shown = typeof name === 'string' ? cleanName(name) : '';
  return {
    ...(shown !== '' && { client_name: shown }),
    ...(isHttpsUrl(uri) && { client_uri: uri }),
    redirect_uris: redirects,
    application_type: clientKind(redirects),
    // no MCP client asks its user to sign in again every five minutes
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: method,
    ...(method === 'private_key_jwt' && takeKeys(sent)),
  };
}

/** Whether a value is the URL of a page or document on another server, in its normal form. */
export const isHttpsUrl = (value: unknown): value is string => {
  if (typeof value !== 'string' || value.length > MAX_URI || !value.startsWith('https://')) return false;
  const url = parseUrl(value);
  return url !== undefined && url.username === '' && url.password === '';
};

function requireMember(field: string, values: unknown, member: string): void {
  if (values === undefined || (Array.isArray(values) && values.includes(member))) return;
  throw new ClientError('invalid_client_metadata', `${field} must be a list with ${member}`);
}

function takeMethod(method: unknown, { methods }: MetadataPolicy): AuthMethod {
  if (method === undefined) return methods[0];
  const known = methods.find((each) => each === method);
  if (known !== undefined) return known;
  throw new ClientError('invalid_client_metadata', `token_endpoint_auth_method must be one of ${methods.join(', ')}`);
}

function takeKeys({ jwks, jwks_uri: uri }: SentMetadata): Pick<ClientMetadata, 'jwks' | 'jwks_uri'> {
  if ((jwks === undefined) === (uri === undefined)) {
    throw new ClientError('invalid_client_metadata', 'private_key_jwt needs either jwks or jwks_uri');
  }
  if (uri !== undefined) {
    if (isHttpsUrl(uri)) return { jwks_uri: uri };
    throw new ClientError('invalid_client_metadata', 'jwks_uri must be an https URL');
  }
  if (isKeySet(jwks)) return { jwks };
  throw new ClientError('invalid_client_metadata', 'jwks must be a JSON Web Key Set');
}

/** Whether a value looks like a key set with at least one key. */
export const isKeySet = (value: unknown): value is PublicKeys =>
  isObject(value) && Array.isArray(value['keys']) && value['keys'].length > 0 && value['keys'].every(isObject);
