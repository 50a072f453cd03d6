import { scryptSync } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';

import { hashPassword, matchesHash, parseHash, type PasswordHash } from '../../src/users/password-hash.js';

const parsed = (text: string) => parseHash(text) as PasswordHash;
const SALT = 'AAAAAAAAAAAAAAAAAAAAAA';
const hash = (parameters: string, salt = SALT, digest = 'A'.repeat(43)) => `$scrypt$${parameters}$${salt}$${digest}`;

describe('the hash of a password', () => {
  it('has a salt of its own, the parameters that OWASP recommends, and fits only its password', async () => {
    const [one, other] = [await hashPassword('pässword'), await hashPassword('pässword')];
    expect(one).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(other).not.toBe(one);
    expect(await matchesHash('pässword', parsed(one))).toBe(true);
    expect(await matchesHash('pässwort', parsed(one))).toBe(false);
    expect(await matchesHash('', parsed(one))).toBe(false);
  });

  it('is that of RFC 7914, also with other parameters', async () => {
    const digest = scryptSync('old', Buffer.alloc(16), 64, { N: 2 ** 14, r: 8, p: 5, maxmem: 2 ** 26 });
    const text = hash('ln=14,r=8,p=5', SALT, digest.toString('base64').replaceAll('=', ''));
    expect(await matchesHash('old', parsed(text))).toBe(true);
  });

  it('fits however the keyboard has encoded the letters', async () => {
    expect(await matchesHash('\u00E9\u212B', parsed(await hashPassword('e\u0301A\u030A')))).toBe(true);
  });

  it.each([[''], [undefined], [7]])('is not made of %j', async (password) => {
    await expect(hashPassword(password as never)).rejects.toThrow('must be a string, not empty');
  });
});

describe('hashes in a file', () => {
  it.each([
    ['hunter2', 'must be a hash, not a password'],
    ['', 'must be a hash, not a password'],
    ['$2b$12$abcdefghijklmnopqrstuv', 'must be a hash'],
    [hash('ln=17,r=8,p=0'), 'must be a hash'],
    [hash('ln=17,r=8,p=1', 'AAAA'), 'must be a hash'],
    [hash('ln=17,r=8,p=1', SALT, 'AAAA'), 'must be a hash'],
    [`${hash('ln=17,r=8,p=1')}\n`, 'must be a hash'],
    [hash('ln=14,r=8,p=1'), 'is a hash that is too easy to guess'],
    // as costly, but with little memory
    [hash('ln=10,r=8,p=99'), 'is a hash that is too easy to guess'],
    [hash('ln=17,r=8,p=9'), 'is a hash that takes too long to check'],
    [hash('ln=19,r=8,p=1'), 'is a hash that takes too long to check'],
    [hash('ln=99,r=99,p=99'), 'is a hash that takes too long to check'],
  ])('are refused if they are unusable: %s', (text, problem) => {
    const said = parseHash(text) as string;
    expect(said).toContain(problem);
    expect(said).not.toContain('hunter2');
  });

  it.each([
    ['ln=17,r=8,p=1'],
    ['ln=16,r=8,p=2'],
    ['ln=15,r=8,p=3'],
    ['ln=14,r=8,p=5'],
    ['ln=13,r=8,p=10'],
    ['ln=18,r=8,p=4'],
  ])('are accepted with the parameters %s', (parameters) => {
    expect(parseHash(hash(parameters))).toMatchObject({ salt: Buffer.alloc(16), digest: Buffer.alloc(32) });
  });
});
