import type { Principal, TransportInfo } from './wire.js';

/** The parts of a principal that identify the account of a user. */
export type Account = Pick<Principal, 'issuer' | 'subject'>;

/** Fails closed: with an empty subject, all callers without a subject would share one key. */
function requireSubject({ subject }: Account): void {
  if (subject === '') throw new TypeError('The `subject` of a principal is empty. Name the user or client.');
}

/**
 * A key for everything that belongs to a user: equal for equal issuers and subjects. Undefined for anonymous callers.
 * @throws {TypeError} for an empty subject, which is nobody's
 */
export function accountOf(principal: Account | undefined): string | undefined {
  if (principal === undefined) return undefined;
  requireSubject(principal);
  return JSON.stringify([principal.issuer ?? null, principal.subject]);
}

/**
 * A key for anything that only one client of a user may continue, such as a session: equal for equal issuers, subjects
 * and clients. Undefined for anonymous callers.
 * @throws {TypeError} for an empty subject, which is nobody's
 * @example
 * ```ts
 * import type { Context } from '@decorum/core';
 * import { ownerOf } from '@decorum/core/plugin';
 *
 * const jobs = new Map<string, { readonly owner: string | undefined }>();
 * const mayRead = (id: string, ctx: Context) => jobs.get(id)?.owner === ownerOf(ctx.principal);
 * ```
 */
export function ownerOf(principal: Principal | undefined): string | undefined {
  if (principal === undefined) return undefined;
  requireSubject(principal);
  return JSON.stringify([principal.issuer ?? null, principal.subject, principal.clientId ?? null]);
}

/** The part of a request that tells callers apart. */
export interface CallerFacts {
  readonly principal: Principal | undefined;
  readonly sessionId: string | undefined;
  readonly transport: TransportInfo;
}

/**
 * A key for limits per caller: the user, or else the session, the address, or everybody.
 * @throws {TypeError} for a principal with an empty subject
 */
export function callerKey({ principal, sessionId, transport }: CallerFacts): string {
  // the prefixes keep a subject from colliding with a session id or an address
  if (principal !== undefined) return `user:${accountOf(principal)}`;
  if (sessionId !== undefined) return `session:${sessionId}`;
  return transport.remoteAddress === undefined ? 'everybody' : `address:${transport.remoteAddress}`;
}

/**
 * A key for the share of the store that a caller may fill: the user, or else the network. A session doesn't count,
 * because whoever connects gets a new one. Undefined for the one client of a process.
 * @throws {TypeError} for a principal with an empty subject
 */
export function payerOf({ principal, transport: { kind, remoteAddress } }: CallerFacts): string | undefined {
  if (principal !== undefined) return `user:${accountOf(principal)}`;
  if (kind === 'stdio' || kind === 'memory') return undefined;
  return remoteAddress === undefined ? 'everybody' : `network:${networkOf(remoteAddress)}`;
}

/**
 * An address, or the first 64 bits of an IPv6 address, because a host chooses the remaining bits itself (RFC 4291,
 * section 2.5.1).
 */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [start = '', end] = address.toLowerCase().split('::');
  const groups = start.split(':');
  if (end !== undefined) {
    const after = end.split(':');
    while (groups.length + after.length < 8) groups.push('0');
    groups.push(...after);
  }
  const network = groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, '') || '0');
  return `${network.join(':')}::/64`;
}

/**
 * A key for what is kept for a caller: the user, or else the session, or the one client of a process. Undefined for
 * callers that nothing tells apart.
 * @throws {TypeError} for a principal with an empty subject
 */
export function holderOf({ principal, sessionId, transport }: CallerFacts): string | undefined {
  if (principal !== undefined) return `user:${accountOf(principal)}`;
  if (sessionId !== undefined) return `session:${sessionId}`;
  return transport.kind === 'stdio' || transport.kind === 'memory' ? 'local' : undefined;
}
