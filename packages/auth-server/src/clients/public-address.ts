import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The only block from which public IPv6 unicast addresses are assigned. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Whether an IP address is public unicast, so that a request to it can't reach a private network or this machine.
 * `allowLoopback` accepts loopback addresses, too.
 */
export function isPublicAddress(text: string, allowLoopback = false): boolean {
  // a zone names an interface of this machine
  if (isIP(text) === 0 || text.includes('%')) return false;
  return reached(ipaddr.parse(text)).every((address) => {
    const range = address.range();
    if (range === 'loopback') return allowLoopback;
    return range === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST));
  });
}

/** What shares a quota with an address: the network of an IPv6 host, which has more addresses than can be counted. */
export function networkOf(text: string): string {
  if (isIP(text) === 0) return text;
  const address = ipaddr.process(text);
  return address instanceof ipaddr.IPv4 ? address.toString() : address.parts.slice(0, 4).join(':');
}

/** The addresses that a packet to this one may reach: those that an IPv6 address embeds. */
function reached(address: Address): readonly Address[] {
  const bytes = address.toByteArray();
  switch (address.range()) {
    case 'ipv4Mapped':
      return [v4(bytes, 12)];
    case 'rfc6052':
      // networks choose themselves where in 64:ff9b:1::/48 the IPv4 address is
      return bytes.slice(4, 12).every((byte) => byte === 0) ? [v4(bytes, 12)] : [address];
    case '6to4':
      return [v4(bytes, 2)];
    case 'teredo':
      return [
        v4(bytes, 4),
        v4(
          bytes.map((byte) => byte ^ 0xff),
          12,
        ),
      ];
    default:
      return [address];
  }
}

const v4 = (bytes: readonly number[], start: number): ipaddr.IPv4 => new ipaddr.IPv4(bytes.slice(start, start + 4));
