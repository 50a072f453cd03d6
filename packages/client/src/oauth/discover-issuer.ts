import type { JsonObject } from '@decorum/core';

import type { Challenge } from '../carriers/credentials.js';
import { ConnectionError } from '../connection-error.js';
import { oauthFetch, trustedUrl } from './oauth-fetch.js';

/** Who authorizes clients of a server. */
export interface Issuer {
  readonly issuer: string;
  readonly authorizationEndpoint: URL;
  readonly tokenEndpoint: URL;
  readonly registrationEndpoint: URL | undefined;
  /** The metadata document (RFC 8414, 2). */
  readonly metadata: JsonObject;
  /** The resource that tokens are for (RFC 8707). */
  readonly resource: string;
  /** The scopes that the resource names. */
  readonly scopes: readonly string[];
}

const wellKnown = (url: URL, name: string, path = url.pathname) =>
  new URL(`/.well-known/${name}${path === '/' ? '' : path.replace(/\/$/, '')}`, url.origin);

/**
 * Finds out who authorizes clients of a server (MCP, "Authorization"): by the metadata of the resource (RFC 9728), then
 * by that of the issuer (RFC 8414, OpenID Connect Discovery).
 * @throws {ConnectionError} `protocol` if the metadata is missing, or is not about this server
 */
export async function discoverIssuer(server: URL, challenge: Challenge | undefined): Promise<Issuer> {
  const resource = await resourceMetadata(server, challenge?.params['resource_metadata']);
  const servers = resource?.['authorization_servers'];
  // servers of the first revision with authorization are their own issuers
  const named: unknown = resource === undefined ? server.origin : (servers as unknown[] | undefined)?.[0];
  const issuer = trustedUrl(named, server);
  const metadata = await issuerMetadata(issuer, String(named));
  const { registration_endpoint: registration, code_challenge_methods_supported: methods } = metadata;
  if (!Array.isArray(methods) || !methods.includes('S256')) {
    throw new ConnectionError('protocol', `${String(named)} does not say that it supports PKCE with S256.`);
  }
  const scopes = resource?.['scopes_supported'];
  return {
    issuer: String(metadata['issuer']),
    authorizationEndpoint: trustedUrl(metadata['authorization_endpoint'], server),
    tokenEndpoint: trustedUrl(metadata['token_endpoint'], server),
    registrationEndpoint: registration === undefined ? undefined : trustedUrl(registration, server),
    metadata,
    resource: String(resource?.['resource'] ?? withoutHash(server)),
    scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [],
  };
}

function withoutHash(url: URL): string {
  const plain = new URL(url);
  plain.hash = '';
  return plain.href;
}

/** @returns undefined if the server has none */
async function resourceMetadata(server: URL, told: string | undefined): Promise<JsonObject | undefined> {
  const name = 'oauth-protected-resource';
  const places =
    told === undefined ? [wellKnown(server, name), wellKnown(server, name, '/')] : [trustedUrl(told, server)];
  for (const place of places) {
    const { status, body } = await oauthFetch(place);
    if (status !== 200 || body === undefined) continue;
    if (covers(body['resource'], server)) return body;
    const about = JSON.stringify(body['resource']);
    throw new ConnectionError('protocol', `${place.href} is about ${about}, not about ${server.href}.`);
  }
  return undefined;
}

/** Whether a resource is a server, or has it below its path. A token for another one must not be sent to the server. */
function covers(resource: unknown, server: URL): boolean {
  if (typeof resource !== 'string' || !URL.canParse(resource)) return false;
  const { origin, pathname } = new URL(resource);
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`;
  return origin === server.origin && `${server.pathname}/`.startsWith(folder);
}

async function issuerMetadata(issuer: URL, named: string): Promise<JsonObject> {
  const openid = 'openid-configuration';
  const appended = new URL(`${issuer.pathname.replace(/\/$/, '')}/.well-known/${openid}`, issuer.origin);
  for (const place of [wellKnown(issuer, 'oauth-authorization-server'), wellKnown(issuer, openid), appended]) {
    const { status, body } = await oauthFetch(place);
    if (status !== 200 || body === undefined) continue;
    if (plain(body['issuer']) === plain(named)) return body;
    throw new ConnectionError('protocol', `${place.href} is the metadata of another issuer than ${named}.`);
  }
  throw new ConnectionError('protocol', `${named} has no metadata of an authorization server (RFC 8414).`);
}

const plain = (issuer: unknown) => String(issuer).replace(/\/$/, '');
