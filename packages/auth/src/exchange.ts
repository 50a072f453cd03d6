import { hash } from 'node:crypto';

import type { Principal } from '@decorum/core';
import { isScope } from '@decorum/core/internal';

import { printable } from './events.js';
import { ExchangeError, failedExchange } from './exchange-error.js';
import { fetchAnswer, type IssuerAnswer, type Platform, problemOf } from './fetch-json.js';
import type { ClientSettings, IssuerSettings } from './settings.js';
import { TokenCache } from './token-cache.js';

/** What a token is for. */
export interface ExchangeRequest {
  /** The API that the token is for, by the name that the issuer knows it by. */
  readonly audience?: string;
  /** The scopes that the token should have. */
  readonly scopes?: readonly string[];
}

/** A token for another API, on behalf of the caller. Don't log it, and don't send it to clients. */
export interface ExchangedToken {
  readonly accessToken: string;
  /** When it expires, in milliseconds since 1970. Undefined if the issuer doesn't say. */
  readonly expiresAt: number | undefined;
  /** The scopes that the issuer granted, if it says so. */
  readonly scopes: readonly string[] | undefined;
}

/** Dependencies of an `Exchanger`. */
export interface ExchangerParts {
  readonly issuers: ReadonlyMap<string, IssuerSettings>;
  readonly platform: Platform;
  /** The token that a principal was made from. */
  tokenOf(principal: Principal): string | undefined;
}

/** Cap on cached tokens. */
const MAX_CACHED = 1000;

/** How long before its expiry a token is no longer handed out: it takes time to use it. */
const MARGIN_MS = 30_000;

/** Cap on the characters of an issuer's description of an error. */
const MAX_SAID = 600;

/** Scopes of OpenID Connect, which belong to no API. */
const OPENID_SCOPES: readonly string[] = ['openid', 'profile', 'email', 'offline_access'];

/** Exchanges the tokens of callers for tokens of other APIs. */
export class Exchanger {
  // private at run time too, so that no log of this object shows tokens
  readonly #cached = new TokenCache<ExchangedToken>(MAX_CACHED);
  readonly #pending = new Map<string, Promise<ExchangedToken>>();

  constructor(private readonly parts: ExchangerParts) {}

  /**
   * Exchanges the token of a principal, unless the result of an earlier exchange is still good.
   * @throws {ExchangeError}
   */
  async exchange(principal: Principal | undefined, request: ExchangeRequest): Promise<ExchangedToken> {
    checkRequest(request);
    const { issuer, client, token } = this.sourceOf(principal);
    const scopes = [...new Set(request.scopes)].sort();
    const key = hash('sha256', JSON.stringify([token, request.audience, scopes]), 'base64url');
    const { platform } = this.parts;
    const known = this.#cached.get(key, platform.now());
    if (known !== undefined) return known;
    let pending = this.#pending.get(key);
    if (pending === undefined) {
      const body = bodyOf(client, token, request);
      pending = this.ask(issuer, client, { body, token })
        .then((found) => this.remember(key, found))
        .finally(() => this.#pending.delete(key));
      this.#pending.set(key, pending);
    }
    return await pending;
  }

  private sourceOf(principal: Principal | undefined) {
    const { issuers, tokenOf } = this.parts;
    if (principal === undefined) throw new ExchangeError('no-token', 'the request has no principal');
    const issuer = issuers.get(principal.issuer ?? '');
    const { client } = issuer ?? {};
    if (issuer !== undefined && client === undefined) {
      const problem = `${issuer.issuer} has no \`clientId\`. Pass \`clientId\` and \`clientSecret\` with this issuer`;
      throw new ExchangeError('no-client', problem, { issuer: issuer.issuer });
    }
    const token = tokenOf(principal);
    if (token !== undefined && issuer !== undefined && client !== undefined) return { issuer, client, token };
    const problem =
      principal.kind === 'apiKey'
        ? 'the caller has an API key, and no token'
        : 'this principal has no token in this process. Pass `ctx.principal` itself, not a copy. A principal that the ' +
          'application made has none, nor has one that was stored before a restart';
    throw new ExchangeError('no-token', problem);
  }

  private async ask(
    { issuer }: IssuerSettings,
    client: ClientSettings,
    { body, token }: { readonly body: URLSearchParams; readonly token: string },
  ): Promise<ExchangedToken> {
    const { discovery } = client;
    const { platform } = this.parts;
    // an issuer may repeat in its description what it got
    const safe = (text: string) => printable(client.credentials.redact(text.replaceAll(token, '[token]')), MAX_SAID);
    let answer: IssuerAnswer;
    try {
      const url = await discovery.endpoint('token_endpoint');
      const { json: metadata } = discovery.metadata.current ?? {};
      const supported = metadata?.['token_endpoint_auth_methods_supported'];
      const init = client.credentials.authenticate(body, supported);
      if (init === undefined) {
        const problem = `${issuer} accepts client authentication only by ${safe(JSON.stringify(supported))}`;
        throw new ExchangeError('unsupported', problem, { issuer });
      }
      answer = await fetchAnswer(url, platform, init);
    } catch (error) {
      if (error instanceof ExchangeError) throw error;
      throw new ExchangeError('unavailable', `${issuer} can't be asked: ${safe(problemOf(error))}`, { issuer });
    }
    if (answer.status !== 200) throw failedExchange(answer, issuer, safe);
    return tokenIn(answer, issuer, platform.now());
  }

  private remember(key: string, found: ExchangedToken): ExchangedToken {
    const now = this.parts.platform.now();
    this.#cached.dropExpired(now);
    if (found.expiresAt !== undefined) {
      const until = found.expiresAt - Math.min(MARGIN_MS, (found.expiresAt - now) / 2);
      if (until > now) this.#cached.set(key, found, until);
    }
    return found;
  }
}

/** @throws {ExchangeError} `invalid-request` */
function checkRequest({ audience, scopes = [] }: ExchangeRequest): void {
  const wrong = (problem: string) => new ExchangeError('invalid-request', problem);
  if (audience !== undefined && (typeof audience !== 'string' || audience === '')) {
    throw wrong('`audience` is empty or no string. If it comes from an environment variable, check that it is set');
  }
  if (!Array.isArray(scopes) || !scopes.every(isScope)) throw wrong('`scopes` is not an array of scopes');
  if (audience === undefined && scopes.length === 0) throw wrong('it has neither `audience` nor `scopes`. Pass one');
}

const GRANTS = 'urn:ietf:params:oauth:grant-type:';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** The parameters of a token exchange (RFC 8693, section 2.1), or of Entra's on-behalf-of flow. */
function bodyOf({ exchange }: ClientSettings, token: string, request: ExchangeRequest): URLSearchParams {
  const { audience, scopes = [] } = request;
  if (exchange === 'on-behalf-of') {
    return new URLSearchParams({
      grant_type: `${GRANTS}jwt-bearer`,
      requested_token_use: 'on_behalf_of',
      assertion: token,
      scope: scopesAt(audience, scopes).join(' '),
    });
  }
  return new URLSearchParams({
    grant_type: `${GRANTS}token-exchange`,
    requested_token_type: ACCESS_TOKEN,
    subject_token: token,
    subject_token_type: ACCESS_TOKEN,
    ...(audience !== undefined && { audience }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  });
}

/** Entra takes the audience from the scopes, which are URLs below it. */
function scopesAt(audience: string | undefined, scopes: readonly string[]): readonly string[] {
  if (audience === undefined) return scopes;
  const base = audience.endsWith('/') ? audience : `${audience}/`;
  if (scopes.length === 0) return [`${base}.default`];
  const isWhole = (scope: string) => scope.includes('://') || scope.startsWith(base) || OPENID_SCOPES.includes(scope);
  return scopes.map((scope) => (isWhole(scope) ? scope : `${base}${scope}`));
}

/** @throws {ExchangeError} `unavailable` if the answer has no token */
function tokenIn({ json = {} }: IssuerAnswer, issuer: string, now: number): ExchangedToken {
  const { access_token: accessToken, expires_in: seconds, scope } = json;
  if (typeof accessToken !== 'string' || accessToken === '') {
    throw new ExchangeError('unavailable', `${issuer} answered without an access token`, { issuer });
  }
  // Entra 1.0 sends a string
  const lifetime = typeof seconds === 'string' ? Number(seconds) : seconds;
  return Object.freeze({
    accessToken,
    expiresAt: Number.isFinite(lifetime) ? now + (lifetime as number) * 1000 : undefined,
    scopes: typeof scope === 'string' ? Object.freeze(scope.split(' ').filter(isScope)) : undefined,
  });
}
