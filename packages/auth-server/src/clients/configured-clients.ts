import { isObject } from '@decorum/core/internal';
import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';

import { type AuthMethod, type ClientMetadata, isKeySet, type PublicKeys } from './client-metadata.js';
import { clientKind, isPrivateScheme, redirectsMistake } from './redirects.js';

const GRANTS = ['authorization_code', 'refresh_token', 'client_credentials'] as const;

/** What a client may do to get tokens. */
export type ClientGrant = (typeof GRANTS)[number];

/** A client that is known beforehand, so that it needs no registration. */
export interface ConfiguredClient {
  readonly clientId: string;
  /** Its secret. Without it and without `jwks`, anybody can use the id of the client, as is usual for apps. */
  readonly clientSecret?: string;
  /** How it sends its secret. Defaults to `client_secret_basic`. */
  readonly authMethod?: 'client_secret_basic' | 'client_secret_post';
  /** Public keys, in place of a secret: the client signs its requests for tokens (`private_key_jwt`). */
  readonly jwks?: PublicKeys;
  /** Where its users return to. Leave it out for a client without users. */
  readonly redirectUris?: readonly string[];
  /** The name that users see. Defaults to `clientId`. */
  readonly name?: string;
  /** Defaults to `['authorization_code', 'refresh_token']`. */
  readonly grantTypes?: readonly ClientGrant[];
  /** What it may get for itself, with `client_credentials`. Defaults to the `scopes` of the server. */
  readonly scopes?: readonly string[];
}

const OPTIONS: OptionTypes<ConfiguredClient> = {
  clientId: 'string',
  clientSecret: 'string',
  authMethod: 'string',
  jwks: 'object',
  redirectUris: 'array',
  name: 'string',
  grantTypes: 'array',
  scopes: 'array',
};

const invalid = (option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', 'authorizationServer', option, problem);

/** What an id or a secret may have (RFC 6749, appendix A). */
const VISIBLE = /^[\x20-\x7e]+$/;

/** Members of a key that only its owner may know. */
const PRIVATE_PARTS = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'priv'];

/**
 * Checks the `redirectSchemes` option.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireSchemes(schemes: readonly string[] = []): readonly string[] {
  const wrong = schemes.findIndex((scheme) => !isPrivateScheme(scheme));
  if (wrong === -1) return schemes;
  const problem = `is ${JSON.stringify(schemes[wrong])}, but must be a scheme of an app in lower case, such as "cursor"`;
  throw invalid(`redirectSchemes[${wrong}]`, problem);
}

/**
 * Checks the `clients` option.
 * @returns their metadata by id
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function configuredClients(
  clients: readonly ConfiguredClient[] = [],
  schemes: readonly string[] = [],
): ReadonlyMap<string, ClientMetadata> {
  const known = new Map<string, ClientMetadata>();
  for (const [index, client] of clients.entries()) {
    const option = `clients[${index}]`;
    const metadata = metadataOf(client, { option, schemes });
    const { client_id: id } = metadata;
    if (known.has(id)) throw invalid(`${option}.clientId`, `is "${id}", as of an earlier client. Use different ids`);
    known.set(id, metadata);
  }
  return known;
}

/** Where a client is in the options. */
interface Place {
  readonly option: string;
  readonly schemes: readonly string[];
}

function metadataOf(client: ConfiguredClient, { option, schemes }: Place): ClientMetadata {
  if (!isObject(client)) throw invalid(option, 'must be an object with `clientId` and `redirectUris`');
  requireOptions(`authorizationServer.${option}`, client, OPTIONS);
  requireVisible(`${option}.clientId`, client.clientId);
  const method = methodOf(client, option);
  const grants = requireGrants(client, { option, method });
  const hasUsers = grants.includes('authorization_code');
  const redirects = requireRedirectUris(client, { option, schemes, hasUsers });
  return {
    client_id: client.clientId,
    client_name: client.name || client.clientId,
    ...(client.clientSecret !== undefined && { client_secret: client.clientSecret }),
    ...(client.jwks !== undefined && { jwks: client.jwks }),
    redirect_uris: redirects,
    application_type: clientKind(redirects),
    grant_types: grants,
    response_types: hasUsers ? ['code'] : [],
    token_endpoint_auth_method: method,
  };
}

function requireVisible(option: string, value: unknown): void {
  if (typeof value === 'string' && VISIBLE.test(value)) return;
  const problem = value === undefined ? 'is missing' : value === '' ? 'is empty' : 'must be printable ASCII text';
  throw invalid(option, `${problem}. If it comes from an environment variable, check that it is set`);
}

function methodOf(client: ConfiguredClient, option: string): AuthMethod {
  const { clientSecret, authMethod, jwks } = client;
  // a variable that isn't set must not make a public client of one with a secret
  if ('clientSecret' in client) requireVisible(`${option}.clientSecret`, clientSecret);
  if (clientSecret !== undefined && jwks !== undefined) {
    throw invalid(`${option}.jwks`, 'must not be set beside `clientSecret`. Leave out one of them');
  }
  if (authMethod !== undefined) {
    const problem = 'must be "client_secret_basic" or "client_secret_post"';
    if (authMethod !== 'client_secret_basic' && authMethod !== 'client_secret_post') {
      throw invalid(`${option}.authMethod`, problem);
    }
    if (clientSecret === undefined) throw invalid(`${option}.authMethod`, 'has no effect without `clientSecret`');
  }
  if (jwks !== undefined) requireKeys(`${option}.jwks`, jwks);
  if (clientSecret !== undefined) return authMethod ?? 'client_secret_basic';
  return jwks === undefined ? 'none' : 'private_key_jwt';
}

function requireKeys(option: string, jwks: unknown): void {
  if (!isKeySet(jwks)) throw invalid(option, 'must be a JSON Web Key Set: `{ keys: [ … ] }`');
  const secret = jwks.keys.findIndex((key) => PRIVATE_PARTS.some((part) => part in key));
  if (secret === -1) return;
  throw invalid(`${option}.keys[${secret}]`, 'is a private or shared key. Pass only the public part of a key pair');
}

function requireGrants(
  { grantTypes = ['authorization_code', 'refresh_token'] }: ConfiguredClient,
  { option, method }: { readonly option: string; readonly method: AuthMethod },
): readonly ClientGrant[] {
  const wrong = grantTypes.find((grant) => !GRANTS.includes(grant));
  const place = `${option}.grantTypes`;
  if (wrong !== undefined) throw invalid(place, `contains "${String(wrong)}". Choose from ${GRANTS.join(', ')}`);
  if (!grantTypes.includes('authorization_code') && !grantTypes.includes('client_credentials')) {
    throw invalid(place, 'must contain "authorization_code", "client_credentials", or both');
  }
  if (grantTypes.includes('client_credentials') && method === 'none') {
    throw invalid(place, 'contains "client_credentials", which needs a secret or keys. Pass `clientSecret` or `jwks`');
  }
  return [...new Set(grantTypes)];
}

function requireRedirectUris(
  { redirectUris }: ConfiguredClient,
  { option, schemes, hasUsers }: Place & { readonly hasUsers: boolean },
): readonly string[] {
  const place = `${option}.redirectUris`;
  if (!hasUsers) {
    if (redirectUris === undefined || redirectUris.length === 0) return [];
    throw invalid(place, 'has no effect without "authorization_code" in `grantTypes`. Leave it out');
  }
  if (redirectUris === undefined) throw invalid(place, 'is missing. Pass the URLs that the client receives codes at');
  const mistake = redirectsMistake(redirectUris, schemes);
  if (mistake === undefined) return redirectUris;
  throw invalid(place + mistake.at, `${mistake.problem}${schemeRemedy(redirectUris, mistake.at)}`);
}

/** What to do about a private scheme that isn't allowed yet. */
function schemeRemedy(uris: readonly unknown[], at: string): string {
  if (at === '') return '';
  const [scheme = ''] = String(uris[Number(at.slice(1, -1))]).split(':');
  return isPrivateScheme(scheme) ? `. For an app, add '${scheme}' to \`redirectSchemes\`` : '';
}
