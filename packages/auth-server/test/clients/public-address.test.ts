import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { isPublicAddress, networkOf } from '../../src/clients/public-address.js';

/** Blocks that no public host has an address in, as first address and prefix length. */
const SPECIAL: readonly [number, number, number, number, number][] = [
  [0, 0, 0, 0, 8],
  [10, 0, 0, 0, 8],
  [100, 64, 0, 0, 10],
  [127, 0, 0, 0, 8],
  [169, 254, 0, 0, 16],
  [172, 16, 0, 0, 12],
  [192, 0, 0, 0, 24],
  [192, 0, 2, 0, 24],
  [192, 168, 0, 0, 16],
  [198, 18, 0, 0, 15],
  [198, 51, 100, 0, 24],
  [203, 0, 113, 0, 24],
  [224, 0, 0, 0, 4],
  [240, 0, 0, 0, 4],
];

const special = fc
  .tuple(fc.constantFrom(...SPECIAL), fc.integer({ min: 0, max: 0xffffffff }))
  .map(([[a, b, c, d, prefix], bits]) => {
    const first = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
    return (first | (bits & (0xffffffff >>> prefix))) >>> 0;
  });

const dotted = (address: number) => [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join('.');
const hex = (address: number) => `${(address >>> 16).toString(16)}:${(address & 0xffff).toString(16)}`;

const PUBLIC = 0x08080808;
const inverted = (address: number) => ~address >>> 0;

/** Spellings of IPv6 addresses that lead to an IPv4 address. */
const EMBEDDED: Readonly<Record<string, (address: number) => string>> = {
  'IPv4-mapped': (address) => `::ffff:${hex(address)}`,
  'IPv4-mapped with dots': (address) => `::ffff:${dotted(address)}`,
  NAT64: (address) => `64:ff9b::${hex(address)}`,
  '6to4': (address) => `2002:${hex(address)}::1`,
  'the server of Teredo': (address) => `2001:0:${hex(address)}:0:0:${hex(inverted(PUBLIC))}`,
  'the client of Teredo': (address) => `2001:0:${hex(PUBLIC)}:0:0:${hex(inverted(address))}`,
};

describe('public addresses', () => {
  it('have none of the special IPv4 blocks, however an IPv6 address embeds them [SEC-18] [AUTHAS-08]', () => {
    fc.assert(
      fc.property(special, (address) => {
        expect(isPublicAddress(dotted(address))).toBe(false);
        for (const embed of Object.values(EMBEDDED)) expect(isPublicAddress(embed(address))).toBe(false);
      }),
    );
    for (const embed of Object.values(EMBEDDED)) expect(isPublicAddress(embed(PUBLIC))).toBe(true);
  });

  it.each([
    '::',
    '::1',
    'fe80::1',
    'fec0::1',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '100::1',
    '2001:db8::1',
    '3fff::1',
    '::7f00:1',
    '::127.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b:1::8.8.8.8',
    '2001:2::1',
    '2001:10::1',
    '5f00::1',
    '4000::1',
    '2606:4700::1%eth0',
    '169.254.169.254',
    '255.255.255.255',
    '',
    'localhost',
    '127.1',
    '0x7f.0.0.1',
    '8.8.8',
    '010.8.8.8',
    '8.8.8.8/32',
    '[2606:4700::1111]',
    ' 8.8.8.8',
  ])('are not %j', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '2a00:1450::1'])('are such as %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it('are joined by those of this machine only on request', () => {
    for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']) {
      expect(isPublicAddress(address, true)).toBe(true);
    }
    for (const address of ['0.0.0.0', '::', '10.0.0.1', 'fe80::1']) expect(isPublicAddress(address, true)).toBe(false);
  });
});

describe('a network', () => {
  it('is one IPv4 address, or 64 bits of an IPv6 address', () => {
    expect(networkOf('192.0.2.1')).not.toBe(networkOf('192.0.2.2'));
    expect(networkOf('::ffff:192.0.2.1')).toBe(networkOf('192.0.2.1'));
    expect(networkOf('2606:4700:1:2::1')).toBe(networkOf('2606:4700:1:2:ffff::9'));
    expect(networkOf('2606:4700:1:2::1')).not.toBe(networkOf('2606:4700:1:3::1'));
  });
});
