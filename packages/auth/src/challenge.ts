import type { AuthRefusal, Challenge, Denial } from '@decorum/http';

import type { Answer } from './reasons.js';
import { requestedScope } from './scopes.js';
import type { Settings } from './settings.js';

/** Cap on the characters of `scope`, because clients and proxies limit headers. */
const MAX_SCOPES = 4096;

/** A scope for refresh tokens, which a resource never needs (OpenID Connect, section 11). */
export const OFFLINE_ACCESS = 'offline_access';

const INVALID_TOKEN = 'The access token is not valid or has expired.';
const INVALID_REQUEST = 'Send one access token, in one Authorization header.';
const INSUFFICIENT_SCOPE = 'The request needs scopes that the access token does not have.';

/** Without an error, ChatGPT doesn't offer to sign in. OpenAI's documentation shows this one for a missing token too. */
const SIGN_IN = ['error="insufficient_scope"', 'error_description="Sign in to use this tool."'];

/** Seconds after which a client may try again if the issuer is unavailable. */
const RETRY_AFTER = '5';

/** Cap on the scopes of operations to remember: a handler may require any. */
const MAX_NAMED = 1000;

/** Creates the challenges (RFC 6750, section 3; RFC 9728, section 5.1). They don't say why credentials were refused. */
export class Challenges {
  /** The responses to refused credentials. */
  readonly refusals: Readonly<Record<Answer, AuthRefusal>>;
  private readonly metadata: readonly string[];
  /** The scopes that this server has, as far as the options and former denials name them. */
  private readonly named: Set<string>;

  /** @param metadataUrl URL of this resource's metadata; undefined without issuers */
  constructor(
    metadataUrl: string | undefined,
    private readonly settings: Pick<Settings<never>, 'issuers' | 'scopes' | 'offer' | 'named'>,
  ) {
    this.named = new Set(settings.named);
    this.metadata = metadataUrl === undefined ? [] : [`resource_metadata="${metadataUrl}"`];
    const noToken = [...this.metadata, ...this.scopeParam([...settings.scopes, ...settings.offer])];
    const invalid = ['error="invalid_token"', `error_description="${INVALID_TOKEN}"`];
    this.refusals = {
      'no-token': { status: 401, headers: bearer(noToken) },
      'invalid-token': { status: 401, headers: bearer([...noToken, ...invalid]) },
      malformed: {
        status: 400,
        headers: bearer(['error="invalid_request"', `error_description="${INVALID_REQUEST}"`]),
      },
      unavailable: { status: 503, headers: { 'retry-after': RETRY_AFTER } },
    };
  }

  /**
   * The challenge for a denied request.
   * @param granted the scopes in the token itself, if there is a token. The application's `verify` may return anything
   */
  denied(
    { reason, scopes, principal, inSession, inResult }: Denial,
    granted: readonly string[] | undefined,
  ): Challenge {
    for (const scope of scopes) if (this.named.size < MAX_NAMED) this.named.add(scope);
    if (reason === 'unauthorized') {
      const param = this.scopeParam([...scopes, ...this.settings.offer]);
      return { status: 401, headers: bearer([...this.metadata, ...param, ...(inResult ? SIGN_IN : [])]) };
    }
    // clients with sessions request exactly these scopes, and would lose the scopes that they have. Other names in the
    // token, such as roles, can't be requested
    const kept = inSession && Array.isArray(granted) ? granted.filter((scope) => this.named.has(scope)) : [];
    const description = `error_description="${INSUFFICIENT_SCOPE}"`;
    const param = this.scopeParam([...scopes, ...kept], principal?.issuer);
    return { status: 403, headers: bearer(['error="insufficient_scope"', ...param, ...this.metadata, description]) };
  }

  /**
   * The `scope` parameter, with as many of the first scopes as fit, under the names that clients request.
   * @param issuer the issuer of the caller's token. By default the first, which clients ask unless users choose another
   */
  private scopeParam(scopes: readonly string[], issuer?: string): readonly string[] {
    const { issuers } = this.settings;
    const { scopePrefix = '' } = issuers.get(issuer ?? '') ?? [...issuers.values()][0] ?? {};
    let size = -1;
    const sent = [...new Set(scopes)].filter((scope) => scope !== OFFLINE_ACCESS);
    const fitting = sent
      .map((scope) => requestedScope(scope, scopePrefix))
      .filter((scope) => (size += 1 + scope.length) <= MAX_SCOPES);
    return fitting.length > 0 ? [`scope="${fitting.join(' ')}"`] : [];
  }
}

const bearer = (params: readonly string[]) => ({
  'www-authenticate': params.length > 0 ? `Bearer ${params.join(', ')}` : 'Bearer',
});
