import { describe, expect, it } from '@jest/globals';

import { addressOf, callerOf } from '../src/endpoint/caller.js';

const named = (remoteAddress: string | undefined, headers = {}) => addressOf({ headers, remoteAddress });

describe('the address that quotas count by', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:5000', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:0:42::7', '2001:db8:0:42::/64'],
    ['2001:0DB8:0000:0042:1:2:3:4', '2001:db8:0:42::/64'],
    ['[2001:db8:0:42::7]:5000', '2001:db8:0:42::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::1:2:3:4:5', '0:0:0:1::/64'],
    ['fe80::7%eth0', 'fe80:0:0:0::/64'],
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
  ])('of %s is %s', (address, expected) => {
    expect(named(address)).toBe(expected);
  });

  it.each([undefined, '', 'unknown', '_hidden', 'x'.repeat(10_000), '192.0.2.7, 10.0.0.1', 'mcp.example.com:80'])(
    'is unknown for %j',
    (address) => {
      expect(named(address)).toBeUndefined();
    },
  );

  it.each(['x-forwarded-for', 'forwarded'])('is unknown behind a local proxy that sends %s', (header) => {
    const headers = { [header]: 'for=192.0.2.7' };
    for (const local of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])
      expect(named(local, headers)).toBeUndefined();
    expect(named('192.0.2.9', headers)).toBe('192.0.2.9');
  });
});

describe('the caller that quotas count by', () => {
  const callerAt = (remoteAddress: string | undefined, subject?: string) =>
    callerOf({ headers: {}, remoteAddress, principal: subject === undefined ? undefined : { subject } });

  it('is the principal, wherever it calls from, or else the address', () => {
    expect(callerAt('192.0.2.7', 'ann')).toBe(callerAt(undefined, 'ann'));
    expect(callerAt('192.0.2.7')).toBe(callerAt('192.0.2.7'));
    const all = [callerAt('192.0.2.7', 'ann'), callerAt('x', 'Ann'), callerAt('x', '192.0.2.7'), callerAt('192.0.2.7')];
    expect(new Set(all).size).toBe(4);
    expect(callerAt(undefined)).toBeUndefined();
  });
});
