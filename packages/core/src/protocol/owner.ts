import type { Principal } from './wire.js';

/** The parts of a principal that identify the account of a user. */
export type Account = Pick<Principal, 'issuer' | 'subject'>;

/** Fails closed: as a key, an empty subject would give all callers without a subject the same things. */
function requireSubject({ subject }: Account): void {
  if (subject === '') throw new TypeError('The `subject` of a principal is empty. Name the user or client.');
}

/**
 * A key for everything that belongs to a user: equal if the issuer and the subject are. Undefined for anonymous callers.
 * @throws {TypeError} for an empty subject, which is nobody's
 */
export function accountOf(principal: Account | undefined): string | undefined {
  if (principal === undefined) return undefined;
  requireSubject(principal);
  return JSON.stringify([principal.issuer ?? null, principal.subject]);
}

/**
 * A key for what only one client of a user may continue, such as a session: equal if the issuer, the subject and the
 * client are. Undefined for anonymous callers.
 * @throws {TypeError} for an empty subject, which is nobody's
 */
export function ownerOf(principal: Principal | undefined): string | undefined {
  if (principal === undefined) return undefined;
  requireSubject(principal);
  return JSON.stringify([principal.issuer ?? null, principal.subject, principal.clientId ?? null]);
}
