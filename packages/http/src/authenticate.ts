import type { Principal } from '@decorum/core';
import { isObject, isPromise } from '@decorum/core/transport';

import type { AnswerHeaders, Headers } from './http-context.js';
import { HttpError, MaskedError } from './http-error.js';

/** The part of a request that is known before its body is read. */
export interface RequestHead {
  /** HTTP method in upper case. */
  readonly method: string;
  /** Names in lower case. Credentials are included. */
  readonly headers: Headers;
  readonly remoteAddress?: string | undefined;
}

/** The response to a caller that `authenticate` rejects. */
export interface AuthRefusal {
  /** HTTP status from 400 to 599. */
  readonly status: number;
  /** Response headers, for example `{ 'www-authenticate': 'Bearer' }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Response body, by default a JSON-RPC error. It is sent as JSON unless `headers` sets another `content-type`. */
  readonly body?: string;
}

/** Returns the principal of a request, undefined for an anonymous caller, or a refusal. */
export type Authenticate<HostRequest> = (
  head: RequestHead,
  request: HostRequest,
) => Principal | AuthRefusal | undefined | Promise<Principal | AuthRefusal | undefined>;

/** A rejection by `authenticate`, with the application's own body if there is one. */
class AuthError extends HttpError {
  constructor(
    { status, headers = {} }: AuthRefusal,
    private readonly text: string | undefined,
  ) {
    super(status, status === 401 ? 'Authentication is required.' : 'Access is denied.', lowerCased(headers));
  }

  override body(): string {
    return this.text ?? super.body();
  }
}

/**
 * Has the application authenticate a request.
 * @throws {HttpError} the application's refusal
 * @throws {MaskedError} when `verify` throws or returns something invalid
 */
export function authenticate<HostRequest>(
  verify: Authenticate<HostRequest>,
  head: RequestHead,
  request: HostRequest,
): Principal | undefined | Promise<Principal | undefined> {
  let result;
  try {
    result = verify(head, request);
  } catch (error) {
    throw new MaskedError(error);
  }
  if (!isPromise(result)) return principalFrom(result);
  return Promise.resolve(result).then(principalFrom, (error: unknown) => {
    throw new MaskedError(error);
  });
}

/**
 * Wraps the `principal` option to check its result. Unchecked, a promise or an invalid user would count as an anonymous
 * caller.
 * @throws {MaskedError} for anything but a principal or undefined
 */
export function checkedPrincipal<HostRequest>(principal: (request: HostRequest) => Principal | undefined) {
  return (request: HostRequest): Principal | undefined => {
    const found = principal(request);
    if (found === undefined || isPrincipal(found)) return found;
    const problem = '`principal` must return a principal with a `subject`, or undefined for an anonymous caller.';
    throw new MaskedError(new TypeError(isPromise(found) ? `${problem} Use \`authenticate\` for promises.` : problem));
  };
}

const isPrincipal = (found: unknown): found is Principal =>
  isObject(found) && typeof found['subject'] === 'string' && found['subject'] !== '';

/** A valid header name (RFC 9110, section 5.1). Node throws on any other when the response is written. */
export const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** A valid header value (RFC 9110, section 5.5). */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Computed from the body. A wrong value would corrupt the next response on the connection. */
const FRAMING = new Set(['content-length', 'transfer-encoding']);

/** Fails closed: anything but a principal, a refusal or undefined is a bug in the application. */
function principalFrom(result: unknown): Principal | undefined {
  if (result === undefined) return undefined;
  const { status } = isObject(result) ? result : {};
  if (status !== undefined) throw refusalError(result as unknown as AuthRefusal);
  if (isPrincipal(result)) return result;
  throw new MaskedError(
    new TypeError(
      '`authenticate` must return a principal with a `subject`, a refusal with a `status`, or undefined for an ' +
        'anonymous caller.',
    ),
  );
}

function refusalError(refusal: AuthRefusal): Error {
  const { status, body, headers = {} } = refusal;
  const isStatus = Number.isInteger(status) && status >= 400 && status <= 599;
  const areHeaders =
    isObject(headers) &&
    Object.entries(headers).every(
      ([name, value]) => HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value),
    );
  if (isStatus && areHeaders && (body === undefined || typeof body === 'string')) return new AuthError(refusal, body);
  return new MaskedError(
    new TypeError(
      'A refusal returned by `authenticate` needs a `status` from 400 to 599. Its `body` must be a string, and its ' +
        '`headers` must be strings without line breaks or characters outside Latin-1.',
    ),
  );
}

function lowerCased(headers: Readonly<Record<string, string>>): AnswerHeaders {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(entries.filter(([name]) => !FRAMING.has(name)));
}
