import { createHash, randomBytes } from 'node:crypto';

import type { JsonObject } from '@decorum/core';

import type { Challenge } from '../carriers/credentials.js';
import { ConnectionError } from '../connection-error.js';
import { discoverIssuer, type Issuer } from './discover-issuer.js';
import { oauthFetch } from './oauth-fetch.js';
import type { OAuthClientInformation, OAuthProvider, OAuthTokens } from './provider.js';

/** A client at an issuer. */
export interface Registered {
  readonly issuer: Issuer;
  readonly provider: OAuthProvider;
  readonly client: OAuthClientInformation;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const denied = (message: string) => new ConnectionError('unauthorized', message);

/** Finds the issuer of a server, and registers there if the client isn't known yet (RFC 7591). */
export async function register(
  server: URL,
  provider: OAuthProvider,
  challenge: Challenge | undefined,
): Promise<Registered> {
  const issuer = await discoverIssuer(server, challenge);
  const context = { issuer: issuer.issuer };
  const known = await provider.clientInformation(context);
  if (known !== undefined) return { issuer, provider, client: known };
  const { clientMetadataUrl } = provider;
  if (clientMetadataUrl !== undefined && issuer.metadata['client_id_metadata_document_supported'] === true) {
    return { issuer, provider, client: { client_id: clientMetadataUrl } };
  }
  const { registrationEndpoint } = issuer;
  if (registrationEndpoint === undefined || provider.saveClientInformation === undefined) {
    throw denied(
      `${issuer.issuer} doesn't register clients.\nReturn the client that it knows from \`clientInformation\`.`,
    );
  }
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(provider.clientMetadata);
  const { status, body: answer } = await oauthFetch(registrationEndpoint, { method: 'POST', headers, body });
  if (status >= 300 || typeof answer?.['client_id'] !== 'string') {
    throw denied(`${issuer.issuer} does not register this client: ${problemIn(answer, status)}.`);
  }
  const client = answer as unknown as OAuthClientInformation;
  await provider.saveClientInformation(client, context);
  return { issuer, provider, client };
}

/**
 * The scopes to ask for (MCP, "Authorization", scope selection): those of the challenge, else those that the resource
 * names, and with them those that the client has already, or else other calls would lose their permission.
 * @param held the scopes of the token that does not suffice
 */
export function scopeToAsk(
  { issuer, provider }: Registered,
  challenge: Challenge | undefined,
  held: string | undefined,
): string | undefined {
  const scope = challenge?.params['scope'] ?? (issuer.scopes.join(' ') || provider.clientMetadata.scope);
  if (scope === undefined) return held;
  return [...new Set(`${held ?? ''} ${scope}`.split(' '))].filter((each) => each !== '').join(' ');
}

/**
 * Sends the user to the issuer (RFC 6749, 4.1; RFC 7636; RFC 8707).
 * @returns the URL at which the browser came back; undefined if the provider doesn't wait for it
 */
export async function sendUser(
  { issuer, provider, client }: Registered,
  scope: string | undefined,
): Promise<{ readonly back: URL; readonly state: string | undefined } | undefined> {
  if (provider.redirectUrl === undefined) throw denied('The provider has no `redirectUrl` to come back to.');
  const verifier = randomBytes(32).toString('base64url');
  await provider.saveCodeVerifier(verifier);
  const state = await provider.state?.();
  const url = new URL(issuer.authorizationEndpoint);
  const params = {
    response_type: 'code',
    client_id: client.client_id,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    redirect_uri: String(provider.redirectUrl),
    resource: issuer.resource,
    state,
    scope,
  };
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value);
  const back = await provider.redirectToAuthorization(url);
  return back instanceof URL || (typeof back === 'string' && URL.canParse(back))
    ? { back: new URL(back), state }
    : undefined;
}

/** Exchanges the code with which the browser came back. */
export async function exchangeCode(
  { issuer, provider, client }: Registered,
  back: URL,
  state: string | undefined,
): Promise<void> {
  const { searchParams: params } = back;
  const failure = params.get('error');
  // RFC 9207: the answer of another issuer is not for this client
  const from = params.get('iss');
  const mustTell = issuer.metadata['authorization_response_iss_parameter_supported'] === true;
  if (from === null ? mustTell : from !== issuer.issuer) throw denied('The browser came back from another issuer.');
  if (state !== undefined && params.get('state') !== state) throw denied('The browser came back with another `state`.');
  if (failure !== null) throw denied(`The sign-in has failed: ${failure}.`);
  const code = params.get('code');
  if (code === null) throw denied('The browser came back without a code.');
  const grant = {
    grant_type: 'authorization_code',
    code,
    code_verifier: await provider.codeVerifier(),
    redirect_uri: String(provider.redirectUrl),
  };
  const tokens = await grantedBy({ issuer, provider, client }, grant);
  if (tokens === undefined) throw denied(`${issuer.issuer} does not accept the code.`);
}

/**
 * Asks for new tokens by the refresh token.
 * @returns whether there are any
 */
export async function refresh(registered: Registered, { refresh_token: token = '' }: OAuthTokens): Promise<boolean> {
  const tokens = await grantedBy(registered, { grant_type: 'refresh_token', refresh_token: token });
  return tokens !== undefined;
}

/** Asks the token endpoint, and saves what it grants. */
async function grantedBy(
  { issuer, provider, client }: Registered,
  grant: Record<string, string>,
): Promise<OAuthTokens | undefined> {
  const { headers, params } = authenticated(client, issuer);
  const body = new URLSearchParams({ ...grant, ...params, resource: issuer.resource }).toString();
  const { status, body: answer } = await oauthFetch(issuer.tokenEndpoint, {
    method: 'POST',
    headers: { ...FORM, ...headers },
    body,
  });
  if (status >= 500)
    throw new ConnectionError('unreachable', `${issuer.issuer} has failed: ${problemIn(answer, status)}.`);
  if (status !== 200 || typeof answer?.['access_token'] !== 'string') {
    if (answer?.['error'] === 'invalid_client') await provider.invalidateCredentials?.('all');
    else if (grant['grant_type'] === 'refresh_token') await provider.invalidateCredentials?.('tokens');
    return undefined;
  }
  const granted = answer as unknown as OAuthTokens;
  // a server that doesn't rotate refresh tokens sends none
  const kept = grant['refresh_token'] === undefined ? {} : { refresh_token: grant['refresh_token'] };
  const tokens = { ...kept, ...granted };
  await provider.saveTokens(tokens, { issuer: issuer.issuer });
  return tokens;
}

/** How the client proves who it is at the token endpoint (RFC 6749, 2.3.1). */
function authenticated(client: OAuthClientInformation, { metadata }: Issuer) {
  const { client_id: id, client_secret: secret } = client;
  if (secret === undefined) return { headers: {}, params: { client_id: id } };
  const methods = metadata['token_endpoint_auth_methods_supported'];
  const chosen = (client as unknown as JsonObject)['token_endpoint_auth_method'];
  const takesBasic = !Array.isArray(methods) || methods.includes('client_secret_basic');
  if (chosen === 'client_secret_post' || (chosen === undefined && !takesBasic)) {
    return { headers: {}, params: { client_id: id, client_secret: secret } };
  }
  const pair = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
  return { headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }, params: {} };
}

const problemIn = (answer: JsonObject | undefined, status: number) => String(answer?.['error'] ?? `HTTP ${status}`);
