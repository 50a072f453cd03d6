import type { RequestHead } from '@decorum/http';

import type { Refused } from './reasons.js';

/** The credentials of a request: a token, or an API key from its own header. */
export interface Credentials {
  readonly text: string;
  readonly isApiKey: boolean;
}

const BEARER = /^bearer(?: +|$)/i;
/** The scheme as nearly all clients write it. */
const USUAL = 'Bearer ';
/** The characters of a token (RFC 6750, section 2.1). */
const TOKEN = /^[\w\-.~+/]+=*$/;
/** Cap on the characters of credentials. Longer credentials aren't even hashed. */
const MAX_LENGTH = 16_384;

/**
 * The credentials of a request. Only headers are read, because URLs end up in logs, and browsers add cookies to
 * requests from any page.
 * @param apiKeyHeader lower-case name of the header for API keys
 * @returns undefined if there are none
 */
export function credentialsOf(
  { headers, authorizations }: RequestHead,
  apiKeyHeader: string | undefined,
): Credentials | Refused | undefined {
  const key = apiKeyHeader === undefined ? undefined : headers[apiKeyHeader];
  if (authorizations.length > 1) return { reason: 'several-credentials', found: 'two Authorization headers' };
  const [authorization] = authorizations;
  if (key !== undefined) {
    if (authorization !== undefined) return { reason: 'several-credentials', found: 'an API key and a token' };
    return key.length > MAX_LENGTH
      ? { reason: 'malformed', found: 'the API key is too long' }
      : { text: key, isApiKey: true };
  }
  return authorization === undefined ? undefined : tokenIn(authorization);
}

function tokenIn(authorization: string): Credentials | Refused {
  const isUsual = authorization.startsWith(USUAL) && authorization[USUAL.length] !== ' ';
  const scheme = isUsual ? USUAL : BEARER.exec(authorization)?.[0];
  if (scheme === undefined) {
    // two headers, joined by a host that keeps one value per name
    const isJoined = /,\s*bearer /i.test(authorization);
    return isJoined
      ? { reason: 'several-credentials', found: 'two Authorization headers' }
      : { reason: 'other-scheme', found: 'another scheme than Bearer' };
  }
  const text = authorization.slice(scheme.length).trimEnd();
  if (text === '') return { reason: 'other-scheme', found: 'no token after "Bearer"' };
  if (text.length > MAX_LENGTH) return { reason: 'malformed', found: 'the token is too long' };
  return { text, isApiKey: false };
}

/** The problem with a token's characters; undefined if all are valid. The check costs as much as hashing the token. */
export function faultIn(text: string): Refused | undefined {
  if (TOKEN.test(text)) return undefined;
  return /[\s,]/.test(text)
    ? { reason: 'several-credentials', found: 'two tokens' }
    : { reason: 'malformed', found: "the token has a character that tokens don't have" };
}
