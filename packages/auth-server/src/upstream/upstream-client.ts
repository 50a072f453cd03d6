import { fetchJson, type Platform } from '@decorum/auth/internal';
import type { Configuration, TokenEndpointResponse } from 'openid-client';

import type { ResolvedUpstream, UpstreamIdentity } from './upstream-options.js';

/** Seconds that an upstream may take for an answer. */
const TIMEOUT = 10;

/** What openid-client exports. It is loaded with the first sign-in. */
type Library = typeof import('openid-client');

/** Tokens of an upstream. */
export interface UpstreamTokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
}

/** What ties the answer of an upstream to the request. */
export interface UpstreamProof {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Somebody who has signed in, with the tokens of the upstream. */
export interface UpstreamSignedIn {
  readonly identity: UpstreamIdentity;
  readonly tokens: UpstreamTokens;
}

/** Dependencies of an `UpstreamClient`. */
export interface UpstreamClientParts {
  readonly upstream: ResolvedUpstream;
  readonly platform: Platform;
  /** The redirect URI of this server. */
  readonly callback: string;
  readonly allowLoopbackHttp: boolean;
}

/** This server as a client of the upstream. The protocol is done by openid-client. */
export class UpstreamClient {
  private ready: Promise<{ readonly library: Library; readonly configuration: Configuration }> | undefined;

  constructor(private readonly parts: UpstreamClientParts) {}

  /** Creates the proof of a new request. */
  async createProof(): Promise<UpstreamProof> {
    const { library } = await this.open();
    return { state: library.randomState(), nonce: library.randomNonce(), verifier: library.randomPKCECodeVerifier() };
  }

  /** Where the user signs in. */
  async urlFor({ state, nonce, verifier }: UpstreamProof): Promise<string> {
    const { library, configuration } = await this.open();
    const { upstream, callback } = this.parts;
    const isOpenId = upstream.endpoints === undefined;
    const scope = [...(isOpenId ? ['openid', 'profile'] : []), ...upstream.scopes].join(' ');
    const parameters = {
      ...upstream.parameters,
      redirect_uri: callback,
      ...(scope !== '' && { scope }),
      state,
      ...(isOpenId && { nonce }),
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    return library.buildAuthorizationUrl(configuration, parameters).href;
  }

  /**
   * Takes the upstream's answer.
   * @param query what the user's browser has brought
   * @throws {Error} if the upstream has denied access, or if anything about the answer is wrong
   */
  async take(query: string, { state, nonce, verifier }: UpstreamProof): Promise<UpstreamSignedIn> {
    const { library, configuration } = await this.open();
    const { callback, upstream } = this.parts;
    const isOpenId = upstream.endpoints === undefined;
    const answer = await library.authorizationCodeGrant(configuration, new URL(`${callback}?${query}`), {
      pkceCodeVerifier: verifier,
      expectedState: state,
      ...(isOpenId && { expectedNonce: nonce, idTokenExpected: true }),
    });
    const claims = isOpenId ? { ...answer.claims() } : await this.userOf(answer.access_token);
    const id = isOpenId ? claims['sub'] : claims['id'];
    // a larger number has lost its last digits, and might be that of somebody else
    if (!Number.isSafeInteger(id) && (typeof id !== 'string' || id === '')) {
      throw new Error(`${upstream.issuer} did not say who has signed in`);
    }
    return { identity: { id: String(id), claims }, tokens: this.tokensOf(answer) };
  }

  /**
   * Gets new tokens.
   * @throws {Error} if the upstream refuses
   */
  async refresh(refreshToken: string): Promise<UpstreamTokens> {
    const { library, configuration } = await this.open();
    // an upstream that sends no new refresh token lets the old one be used on
    return { refreshToken, ...this.tokensOf(await library.refreshTokenGrant(configuration, refreshToken)) };
  }

  private tokensOf({
    access_token: accessToken,
    refresh_token: refreshToken,
    expires_in: lifetime,
  }: TokenEndpointResponse) {
    const expiresAt = lifetime === undefined ? undefined : this.parts.platform.now() + lifetime * 1000;
    return {
      accessToken,
      ...(refreshToken !== undefined && { refreshToken }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
  }

  private async userOf(token: string): Promise<Readonly<Record<string, unknown>>> {
    const { upstream, platform } = this.parts;
    const headers = { authorization: `Bearer ${token}`, 'user-agent': 'decorum' };
    const { json } = await fetchJson(upstream.endpoints?.user as string, platform, { headers });
    return json;
  }

  private async open(): Promise<{ readonly library: Library; readonly configuration: Configuration }> {
    this.ready ??= this.configure();
    try {
      return await this.ready;
    } catch (error) {
      // the upstream may be back for the next user
      this.ready = undefined;
      throw error;
    }
  }

  private async configure(): Promise<{ readonly library: Library; readonly configuration: Configuration }> {
    const library = await import('openid-client');
    const { upstream, platform, allowLoopbackHttp } = this.parts;
    const { issuer, clientId, clientSecret, endpoints } = upstream;
    const customFetch = async (url: string, init: RequestInit) => await platform.fetch(url, init);
    if (endpoints !== undefined) {
      const server = { issuer, authorization_endpoint: endpoints.authorization, token_endpoint: endpoints.token };
      const configuration = new library.Configuration(
        server,
        clientId,
        clientSecret,
        library.ClientSecretPost(clientSecret),
      );
      configuration[library.customFetch] = customFetch as never;
      configuration.timeout = TIMEOUT;
      if (allowLoopbackHttp) library.allowInsecureRequests(configuration);
      return { library, configuration };
    }
    const configuration = await library.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      [library.customFetch]: customFetch as never,
      timeout: TIMEOUT,
      execute: allowLoopbackHttp ? [library.allowInsecureRequests] : [],
    });
    return { library, configuration };
  }
}
