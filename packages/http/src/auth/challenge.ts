import type { McpError, RequestId } from '@decorum/core';
import { FAILURES, isScope } from '@decorum/core/internal';
import { errorFrame } from '@decorum/core/transport';

import type { Auth, Challenge, Denial } from './auth.js';
import { areHeaders, isErrorStatus, lowerCased } from './authenticate.js';
import { HttpError, MaskedError } from '../endpoint/http-error.js';

/** Cap on the characters of all scopes in a challenge, because clients and proxies limit header sizes. */
const MAX_SCOPES = 4096;

/** The valid scope tokens of a list, each once, as many as fit in a header. A handler may have built it from input. */
function sendable(scopes: unknown): readonly string[] {
  let size = -1;
  const valid = Array.isArray(scopes) ? [...new Set(scopes)].filter(isScope) : [];
  return valid.filter((scope) => (size += 1 + scope.length) <= MAX_SCOPES);
}

const MESSAGES = {
  unauthorized: 'Authorization is required.',
  'insufficient-scope': 'The caller lacks scopes that this request needs.',
} as const;

/** Denies an HTTP request whose body is unread or isn't a JSON-RPC request. */
class DeniedError extends HttpError {
  private readonly scopes: readonly string[];

  constructor({ reason, scopes }: Denial, { status, headers }: Challenge) {
    super(status, MESSAGES[reason], headers);
    this.scopes = scopes;
  }

  override body(id?: RequestId): string {
    const { message, scopes } = this;
    return errorFrame(id, { code: FAILURES['invalid-request'].code, message, data: { scopes } });
  }
}

/**
 * Status and headers of the response to a denied request.
 * @throws {MaskedError} when `challenge` throws or returns something that can't be sent
 */
export function challengeTo(denial: Denial, auth: Auth<never> | undefined): Challenge {
  const told = { ...denial, scopes: sendable(denial.scopes) };
  if (auth?.challenge === undefined) return bearerChallenge(told);
  let challenge: Challenge;
  try {
    challenge = auth.challenge(told);
  } catch (error) {
    throw new MaskedError(error);
  }
  const { status, headers } = challenge ?? {};
  if (isErrorStatus(status) && areHeaders(headers)) return { status, headers: lowerCased(headers ?? {}) };
  throw new MaskedError(
    new TypeError(
      '`challenge` must return a `status` from 400 to 599, and `headers` that are strings without line breaks or ' +
        'characters outside Latin-1.',
    ),
  );
}

/**
 * Status and headers of the response to a message that the kernel has denied.
 * @throws {MaskedError} when `challenge` throws or returns something that can't be sent
 */
export function challengeOf(
  { kind, data }: McpError,
  caller: Pick<Denial, 'principal' | 'inSession' | 'inResult'>,
  auth: Auth<never> | undefined,
): Challenge {
  const { scopes = [] } = (data ?? {}) as Partial<Denial>;
  const reason = kind === 'unauthorized' ? kind : 'insufficient-scope';
  return challengeTo({ reason, scopes, ...caller }, auth);
}

/** The error for a denied HTTP request whose body is unread or isn't a JSON-RPC request. */
export function denied(denial: Denial, auth: Auth<never> | undefined): HttpError {
  return new DeniedError(denial, challengeTo(denial, auth));
}

function bearerChallenge({ reason, scopes, inResult = false }: Denial): Challenge {
  const needed = scopes.length > 0 ? [`scope="${scopes.join(' ')}"`] : [];
  // a missing token is not an error (RFC 6750, section 3.1)
  const params = reason === 'unauthorized' && !inResult ? needed : ['error="insufficient_scope"', ...needed];
  if (inResult) params.push(`error_description="${MESSAGES[reason]}"`);
  const value = params.length > 0 ? `Bearer ${params.join(', ')}` : 'Bearer';
  return { status: reason === 'unauthorized' ? 401 : 403, headers: { 'www-authenticate': value } };
}
