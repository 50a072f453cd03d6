import type { Principal } from '@decorum/core';
import { isExpiry, isObject, isPromise } from '@decorum/core/internal';

import { HttpError, MaskedError } from '../endpoint/http-error.js';

/**
 * Wraps the `principal` option to check its result. Unchecked, a promise or an invalid principal would count as an
 * anonymous caller.
 * @throws {HttpError} 401 if the principal's credentials have expired: nobody else has checked that
 * @throws {MaskedError} for anything but a principal or undefined
 */
export function checkedPrincipal<HostRequest>(principal: (request: HostRequest) => Principal | undefined) {
  return (request: HostRequest): Principal | undefined => {
    const found = principal(request);
    if (found === undefined) return found;
    if (isPrincipal(found)) {
      if (found.expiresAt === undefined || Date.now() < found.expiresAt) return found;
      throw new HttpError(401, 'The credentials have expired.', { 'www-authenticate': 'Bearer error="invalid_token"' });
    }
    const problem = '`principal` must return a principal with a `subject`, or undefined for an anonymous caller.';
    throw new MaskedError(new TypeError(isPromise(found) ? `${problem} Use \`auth\` for promises.` : problem));
  };
}

/**
 * Whether the application has returned a principal.
 * @throws {MaskedError} if its `expiresAt` is invalid
 */
export const isPrincipal = (found: unknown): found is Principal =>
  isObject(found) && typeof found['subject'] === 'string' && found['subject'] !== '' && hasExpiry(found);

function hasExpiry({ expiresAt }: { readonly expiresAt?: unknown }): boolean {
  if (isExpiry(expiresAt)) return true;
  throw new MaskedError(
    new TypeError(
      '`expiresAt` of a principal is a number of milliseconds since 1970. Multiply the `exp` of a token by 1000.',
    ),
  );
}
