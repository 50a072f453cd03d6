import type { Principal } from '@decorum/core';
import { isObject, isPromise } from '@decorum/core/transport';

import type { AnswerHeaders, Headers } from './http-context.js';
import { HttpError, MaskedError } from './http-error.js';

/** What is known of a request before its body is read. */
export interface RequestHead {
  /** In upper case. */
  readonly method: string;
  /** Names in lower case; credentials are among them. */
  readonly headers: Headers;
  readonly remoteAddress?: string | undefined;
}

/** How a request is answered whose caller may not call. */
export interface AuthRefusal {
  /** 400 to 599. */
  readonly status: number;
  /** For example `{ 'www-authenticate': 'Bearer' }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** By default a JSON-RPC error. JSON, unless `headers` has another `content-type`. */
  readonly body?: string;
}

/** Says who is calling: a principal, nobody (undefined), or somebody who may not. */
export type Authenticate<HostRequest> = (
  head: RequestHead,
  request: HostRequest,
) => Principal | AuthRefusal | undefined | Promise<Principal | AuthRefusal | undefined>;

/** A refusal in the words of the application. */
class Denial extends HttpError {
  constructor(
    { status, headers = {} }: AuthRefusal,
    private readonly text: string | undefined,
  ) {
    super(status, status === 401 ? 'Authentication is required.' : 'The caller may not do this.', lowerCased(headers));
  }

  override body(): string {
    return this.text ?? super.body();
  }
}

/**
 * Asks the application who is calling.
 * @throws {HttpError} what the application refuses the request with
 * @throws {MaskedError} where it fails, or answers with anything else
 */
export function authenticate<HostRequest>(
  verify: Authenticate<HostRequest>,
  head: RequestHead,
  request: HostRequest,
): Principal | undefined | Promise<Principal | undefined> {
  let found;
  try {
    found = verify(head, request);
  } catch (error) {
    throw new MaskedError(error);
  }
  if (!isPromise(found)) return admitted(found);
  return Promise.resolve(found).then(admitted, (error: unknown) => {
    throw new MaskedError(error);
  });
}

/**
 * The option `principal`, with a check of what it returns: a promise, or a user of another form, would be nobody.
 * @throws {MaskedError} for anything but a principal, or undefined for nobody
 */
export function checkedPrincipal<HostRequest>(principal: (request: HostRequest) => Principal | undefined) {
  return (request: HostRequest): Principal | undefined => {
    const found = principal(request);
    if (found === undefined || isPrincipal(found)) return found;
    const problem = '`principal` must return a principal with a `subject`, or undefined for nobody.';
    throw new MaskedError(new TypeError(isPromise(found) ? `${problem} Use \`authenticate\` for promises.` : problem));
  };
}

const isPrincipal = (found: unknown): found is Principal =>
  isObject(found) && typeof found['subject'] === 'string' && found['subject'] !== '';

/** A name that HTTP can carry (RFC 9110, section 5.1): any other would fail when the answer is written. */
export const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** A value that it can carry (RFC 9110, section 5.5). */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Follow from the body: with the wrong ones, the next answer on the connection would begin in the middle. */
const FRAMING = new Set(['content-length', 'transfer-encoding']);

/** Fails closed: what is neither a principal nor a refusal is a bug of the application. */
function admitted(found: unknown): Principal | undefined {
  if (found === undefined) return undefined;
  const { status } = isObject(found) ? found : {};
  if (status !== undefined) throw denial(found as unknown as AuthRefusal);
  if (isPrincipal(found)) return found;
  throw new MaskedError(
    new TypeError(
      '`authenticate` must return a principal with a `subject`, a refusal with a `status`, or undefined for nobody.',
    ),
  );
}

function denial(refusal: AuthRefusal): Error {
  const { status, body, headers = {} } = refusal;
  const isStatus = Number.isInteger(status) && status >= 400 && status <= 599;
  const areHeaders =
    isObject(headers) &&
    Object.entries(headers).every(
      ([name, value]) => HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value),
    );
  if (isStatus && areHeaders && (body === undefined || typeof body === 'string')) return new Denial(refusal, body);
  return new MaskedError(
    new TypeError(
      'The refusal of `authenticate` must have a `status` from 400 to 599; its `headers` and `body` must be strings, and ' +
        'headers can hold no line breaks and nothing beyond Latin-1.',
    ),
  );
}

function lowerCased(headers: Readonly<Record<string, string>>): AnswerHeaders {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(entries.filter(([name]) => !FRAMING.has(name)));
}
