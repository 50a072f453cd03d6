import type { Principal } from '@decorum/core';
import { isObject, isPromise } from '@decorum/core/internal';

import type { Auth, AuthRefusal, RequestHead } from './auth.js';
import type { AnswerHeaders } from '../endpoint/http-context.js';
import { HttpError, MaskedError } from '../endpoint/http-error.js';
import { isPrincipal } from './principal.js';

/** A rejection by `Auth.authenticate`, with the application's own body if there is one. */
class AuthError extends HttpError {
  constructor(
    { status, headers = {} }: AuthRefusal,
    private readonly text: string | undefined,
  ) {
    super(status, messageOf(status), lowerCased(headers));
  }

  override body(): string {
    return this.text ?? super.body();
  }
}

function messageOf(status: number): string {
  if (status === 401) return 'Authentication is required.';
  if (status >= 500) return 'Authentication is not available. Try again later.';
  return status === 400 ? 'The credentials are malformed.' : 'Access is denied.';
}

/**
 * Lets the application authenticate a request.
 * @returns undefined for a request without credentials
 * @throws {HttpError} the application's refusal
 * @throws {MaskedError} when `authenticate` throws or returns something invalid
 */
export function authenticate<HostRequest>(
  auth: Auth<HostRequest>,
  head: RequestHead,
  request: HostRequest,
): Principal | undefined | Promise<Principal | undefined> {
  let result;
  try {
    result = auth.authenticate(head, request);
  } catch (error) {
    throw new MaskedError(error);
  }
  if (!isPromise(result)) return principalFrom(result);
  return Promise.resolve(result).then(principalFrom, (error: unknown) => {
    throw new MaskedError(error);
  });
}

/** A valid header name (RFC 9110, section 5.1). Node throws on other names when the response is written. */
export const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** A valid header value (RFC 9110, section 5.5). */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that are computed from the body. A wrong value would corrupt the next response on the connection. */
const FRAMING = new Set(['content-length', 'transfer-encoding']);

/** Fails closed: anything but a principal, a refusal or undefined is a bug in the application. */
function principalFrom(result: unknown): Principal | undefined {
  if (result === undefined) return undefined;
  const { status } = isObject(result) ? result : {};
  if (status !== undefined) throw refusalError(result as unknown as AuthRefusal);
  if (isPrincipal(result)) return result;
  throw new MaskedError(
    new TypeError(
      '`authenticate` must return a principal with a `subject`, a refusal with a `status`, or undefined for a request ' +
        'without credentials.',
    ),
  );
}

function refusalError(refusal: AuthRefusal): Error {
  const { status, body } = refusal;
  const isText = body === undefined || typeof body === 'string';
  if (isText && isErrorStatus(status) && areHeaders(refusal.headers)) return new AuthError(refusal, body);
  return new MaskedError(
    new TypeError(
      'A refusal returned by `authenticate` needs a `status` from 400 to 599. Its `body` must be a string, and its ' +
        '`headers` must be strings without line breaks or characters outside Latin-1.',
    ),
  );
}

/** Whether a number is the HTTP status of an error. */
export function isErrorStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 599;
}

/** Whether the application's headers can be sent. */
export function areHeaders(headers: Readonly<Record<string, string>> = {}): boolean {
  return (
    isObject(headers) &&
    Object.entries(headers).every(
      ([name, value]) => HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value),
    )
  );
}

/** An answer of the application. */
interface OwnAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Checks an answer of the application.
 * @param whose starts the sentence about the mistake
 * @throws {TypeError} for an answer that can't be sent
 */
export function requireSendable(answer: OwnAnswer, whose: string): OwnAnswer {
  const { status, headers, body } = answer ?? {};
  const isStatus = Number.isInteger(status) && status >= 200 && status <= 599;
  if (isStatus && areHeaders(headers) && (body === undefined || typeof body === 'string')) return answer;
  throw new TypeError(
    `${whose} must answer with a \`status\` from 200 to 599. Its \`body\` must be a string, and its \`headers\` must be ` +
      'strings without line breaks or characters outside Latin-1.',
  );
}

/** The application's headers with lower-case names, without those that are computed from the body. */
export function lowerCased(headers: Readonly<Record<string, string>>): AnswerHeaders {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(entries.filter(([name]) => !FRAMING.has(name)));
}
