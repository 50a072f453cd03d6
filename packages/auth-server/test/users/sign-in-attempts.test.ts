import { beforeEach, describe, expect, it } from '@jest/globals';

import { SignInAttempts } from '../../src/users/sign-in-attempts.js';

const MINUTE = 60_000;

/** A clock that moves only when told to, or when somebody waits. */
class TestClock {
  time = 1_800_000_000_000;
  readonly waits: number[] = [];
  now = () => this.time;
  wait = async (ms: number) => {
    this.waits.push(ms);
  };
}

let clock: TestClock;
let attempts: SignInAttempts;
beforeEach(() => {
  clock = new TestClock();
  attempts = new SignInAttempts(clock);
});

const HOME: string | undefined = '192.0.2.1';
const wrong = (name = 'alice', address = HOME) => attempts.attempt({ name, address }, async () => undefined);
const right = (name = 'alice', address = HOME) => attempts.attempt({ name, address }, async () => name);
const kinds = (results: readonly { readonly kind: string }[]) => results.map(({ kind }) => kind);

async function times(count: number, attempt: (index: number) => Promise<{ readonly kind: string }>) {
  const results = [];
  for (let index = 0; index < count; index++) results.push(await attempt(index));
  return kinds(results);
}

describe('five failures for a name at an address', () => {
  it('lock them out for 15 minutes, also with the right password, and say when to try again', async () => {
    expect(await times(4, () => wrong())).toEqual(Array(4).fill('wrong'));
    clock.time += 14 * MINUTE;
    expect(await wrong()).toEqual({ kind: 'wrong', isLockedOut: true });
    clock.time += 500;
    expect(await right()).toEqual({ kind: 'locked', retryAfter: 15 * 60 });
    clock.time += 15 * MINUTE - 501;
    expect(await right()).toEqual({ kind: 'locked', retryAfter: 1 });
    clock.time += 1;
    expect(await right()).toEqual({ kind: 'signed-in', value: 'alice' });
  });

  it('lock out no other name and no other address', async () => {
    await times(5, () => wrong());
    expect(kinds([await right('bob'), await right('alice', '192.0.2.2')])).toEqual(['signed-in', 'signed-in']);
  });

  it('count however the name is written', async () => {
    const names = ['Jürgen', 'Ju\u0308rgen', ' Jürgen ', 'jÜRGEN', 'Ｊürgen'];
    expect(await times(6, (index) => wrong(names[index] ?? 'Jürgen'))).toEqual([...Array(5).fill('wrong'), 'locked']);
  });

  it('count within 15 minutes: older ones are forgotten', async () => {
    await times(4, () => wrong());
    clock.time += 15 * MINUTE;
    expect(await times(5, () => wrong())).toEqual(Array(5).fill('wrong'));
  });

  it('are forgotten after a success', async () => {
    await times(4, () => wrong());
    await right();
    expect(await times(5, () => wrong())).toEqual(Array(5).fill('wrong'));
  });

  it('are reported as a lockout once, also if they are parallel', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => wrong()));
    expect(kinds(results)).toEqual([...Array(5).fill('wrong'), ...Array(3).fill('locked')]);
    expect(results.filter((result) => result.kind === 'wrong' && result.isLockedOut)).toHaveLength(1);
  });
});

describe('an attempt', () => {
  it('counts before its password is checked, and doesn’t check it if locked out', async () => {
    let checked = 0;
    const ends: ((value: undefined) => void)[] = [];
    const guess = () =>
      attempts.attempt({ name: 'alice', address: HOME }, () => {
        checked++;
        return new Promise<undefined>((resolve) => {
          ends.push(resolve);
        });
      });
    const parallel = Array.from({ length: 100 }, guess);
    expect(checked).toBe(5);
    for (const end of ends) end(undefined);
    expect(kinds(await Promise.all(parallel)).filter((kind) => kind === 'locked')).toHaveLength(95);
  });

  it('counts as none if the check fails, also the fifth', async () => {
    await times(4, () => wrong());
    const broken = attempts.attempt({ name: 'alice', address: HOME }, () => Promise.reject(new Error('busy')));
    await expect(broken).rejects.toThrow('busy');
    expect(await wrong()).toEqual({ kind: 'wrong', isLockedOut: true });
  });
});

describe('twenty failures at an address', () => {
  it('lock it out for all names', async () => {
    expect(await times(20, (index) => wrong(`user${index}`))).toEqual(Array(20).fill('wrong'));
    expect(await right('bob')).toEqual({ kind: 'locked', retryAfter: 900 });
    expect(await right('bob', '192.0.2.2')).toMatchObject({ kind: 'signed-in' });
  });

  it('can’t be taken back by signing in to an account of one’s own', async () => {
    const guesses = await times(40, (index) => (index % 2 === 0 ? wrong(`user${index}`) : right('mallory')));
    expect(guesses.filter((kind) => kind === 'wrong')).toHaveLength(20);
    expect(await right('mallory')).toMatchObject({ kind: 'locked' });
  });

  it.each([
    ['IPv6 addresses of one /64', 'together', (index: number) => `2001:db8:1:2:${index.toString(16)}::1`],
    ['IPv6 addresses of several /64', 'on their own', (index: number) => `2001:db8:1:${index.toString(16)}::1`],
    ['an IPv4 address in IPv6', 'together', (index: number) => (index % 2 === 0 ? '192.0.2.1' : '::ffff:192.0.2.1')],
    ['connections that have ended', 'together', () => undefined],
  ])('are counted for %s %s', async (_what, how, addressOf) => {
    const attempt = (index: number) =>
      attempts.attempt({ name: `user${index}`, address: addressOf(index) }, async () => undefined);
    const results = await times(21, attempt);
    expect(results.filter((kind) => kind === 'locked')).toHaveLength(how === 'together' ? 1 : 0);
  });
});

describe('failures for a name at many addresses', () => {
  it('only delay it, more and more up to 8 seconds, and never lock its user out', async () => {
    await times(50, (index) => wrong('alice', `192.0.2.${index + 2}`));
    expect(clock.waits.slice(0, 5)).toEqual([500, 1000, 2000, 4000, 8000]);
    expect(Math.max(...clock.waits)).toBe(8000);
    expect(await right()).toMatchObject({ kind: 'signed-in' });
    clock.waits.length = 0;
    await right('bob');
    expect(clock.waits).toEqual([]);
    clock.time += 15 * MINUTE;
    await right();
    expect(clock.waits).toEqual([]);
  });
});
