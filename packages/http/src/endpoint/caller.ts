import type { Principal } from '@decorum/core';
import { networkOf, ownerOf } from '@decorum/core/internal';

import type { Headers, HttpRequest } from './http-context.js';

/** The parts of a request that tell who sent it. */
export interface Sender extends Pick<HttpRequest, 'headers' | 'remoteAddress' | 'remotePort' | 'httpVersion'> {
  /** The authenticated caller. */
  readonly principal: Principal | undefined;
}

/**
 * Names the caller that a quota applies to: the principal, or the address of an anonymous caller.
 * @returns undefined if nothing is known about the caller; no quota applies then
 */
export function callerOf(sender: Sender): string | undefined {
  if (sender.principal !== undefined) return `principal ${ownerOf(sender.principal)}`;
  const address = addressOf(sender);
  return address && `address ${address}`;
}

/** The parts of a request that tell its address. */
interface AddressedRequest {
  readonly headers: Headers;
  readonly remoteAddress?: string | undefined;
}

const IPV4 = /^(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?$/i;
const IPV6 = /^\[?([\da-f:]*:[\da-f:]*:[\da-f:]*)(?:%[^\]]*)?(?:\](?::\d+)?)?$/i;
const LOOPBACK = /^(?:127\.|::1$)/;

/**
 * The address that quotas count by: an IPv4 address, or the first 64 bits of an IPv6 address, because a host chooses
 * the remaining bits itself (RFC 4291, section 2.5.1).
 * @param request the `headers` and the `remoteAddress` of a request, such as a `RequestHead`
 * @returns undefined if the address is unknown. An untrusted proxy on this machine hides it: all clients of the proxy
 * would share the loopback address.
 * @example
 * ```ts
 * import { addressOf, type Auth } from '@decorum/http';
 *
 * const requests = new Map<string | undefined, number>();
 * const auth: Auth = {
 *   authenticate({ headers, remoteAddress }) {
 *     const address = addressOf({ headers, remoteAddress });
 *     const count = (requests.get(address) ?? 0) + 1;
 *     requests.set(address, count);
 *     return count > 1000 ? { status: 429 } : undefined;
 *   },
 * };
 * ```
 */
export function addressOf({ headers, remoteAddress = '' }: AddressedRequest): string | undefined {
  const plain = IPV4.exec(remoteAddress)?.[1] ?? IPV6.exec(remoteAddress)?.[1];
  if (plain === undefined) return undefined;
  if (LOOPBACK.test(plain)) {
    return (headers['x-forwarded-for'] ?? headers['forwarded']) === undefined ? plain : undefined;
  }
  return networkOf(plain);
}
