import { isScope } from '@decorum/core/transport';
import type { AuthRefusal, Challenge, Denial } from '@decorum/http';

import type { Answer } from './reasons.js';

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

/** Creates the challenges (RFC 6750, section 3; RFC 9728, section 5.1). They don't say why credentials were refused. */
export class Challenges {
  /** The responses to refused credentials. */
  readonly refusals: Readonly<Record<Answer, AuthRefusal>>;
  private readonly metadata: readonly string[];

  /**
   * @param metadataUrl URL of this resource's metadata; undefined without issuers
   * @param scopes the scopes that every request needs
   */
  constructor(metadataUrl: string | undefined, scopes: readonly string[]) {
    this.metadata = metadataUrl === undefined ? [] : [`resource_metadata="${metadataUrl}"`];
    const noToken = [...this.metadata, ...scopeParam(scopes)];
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
  denied({ reason, scopes, inSession, inResult }: Denial, granted: readonly string[] | undefined): Challenge {
    if (reason === 'unauthorized') {
      if (inResult) return { status: 401, headers: bearer([...this.metadata, ...scopeParam(scopes), ...SIGN_IN]) };
      return { status: 401, headers: bearer([...this.metadata, ...scopeParam(scopes)]) };
    }
    // clients with sessions request exactly these scopes, and would lose the scopes that they have
    const wanted = inSession && Array.isArray(granted) ? [...scopes, ...granted.filter(isScope)] : scopes;
    const description = `error_description="${INSUFFICIENT_SCOPE}"`;
    const params = ['error="insufficient_scope"', ...scopeParam(wanted), ...this.metadata, description];
    return { status: 403, headers: bearer(params) };
  }
}

const bearer = (params: readonly string[]) => ({
  'www-authenticate': params.length > 0 ? `Bearer ${params.join(', ')}` : 'Bearer',
});

/** The `scope` parameter, with as many of the first scopes as fit. */
function scopeParam(scopes: readonly string[]): readonly string[] {
  let size = -1;
  const sent = [...new Set(scopes)].filter((scope) => scope !== OFFLINE_ACCESS);
  const fitting = sent.filter((scope) => (size += 1 + scope.length) <= MAX_SCOPES);
  return fitting.length > 0 ? [`scope="${fitting.join(' ')}"`] : [];
}
