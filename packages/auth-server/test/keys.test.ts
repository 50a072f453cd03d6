// Sealed values and the keys of the issuer.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { calculateJwkThumbprint, createLocalJWKSet, importJWK, type JWK, jwtVerify, SignJWT } from 'jose';

import { Sealer, sealerFor } from '../src/keys/sealer.js';
import { SigningKeys } from '../src/keys/signing-keys.js';
import type { AuthStore, Change } from '../src/store/auth-store.js';
import { MemoryStore } from '../src/store/memory-store.js';
import { createFolder, ManualClock, openFileStore } from './fixture-store.js';

const OLD = 'o'.repeat(44);
const NEW = 'n'.repeat(44);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe('a sealer', () => {
  it('opens what it has sealed, and shows nothing of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, purpose) => {
        const sealed = new Sealer([NEW]).seal(purpose, text);
        expect(sealed).toMatch(/^[\w-]+$/);
        expect(new Sealer([NEW]).open(purpose, sealed)).toBe(text);
      }),
    );
    const [one, other] = [new Sealer([NEW]).seal('p', 'text'), new Sealer([NEW]).seal('p', 'text')];
    expect(one).not.toBe(other);
  });

  it.each(['tokens', 'tokens:b', 'token', ''])('does not open a value of another purpose: %p', (purpose) => {
    expect(new Sealer([NEW]).open(purpose, new Sealer([NEW]).seal('tokens:a', 'text'))).toBeUndefined();
  });

  it('does not open what was altered anywhere', () => {
    const sealer = new Sealer([NEW]);
    const bytes = Buffer.from(sealer.seal('p', 'text'), 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] as number) ^ 1;
      expect(sealer.open('p', altered.toString('base64url'))).toBeUndefined();
    }
    for (const text of ['', 'x', bytes.toString('base64url', 0, 30), `${bytes.toString('base64url')}!`])
      expect(sealer.open('p', text)).toBeUndefined();
  });

  it('seals with the first secret, and opens with each', () => {
    const old = new Sealer([OLD]).seal('p', 'text');
    const both = new Sealer([NEW, OLD]);
    expect(both.open('p', old)).toBe('text');
    expect(new Sealer([NEW]).open('p', old)).toBeUndefined();
    expect(new Sealer([NEW]).open('p', both.seal('p', 'text'))).toBe('text');
  });
});

describe('the sealer of a store', () => {
  const memory = new MemoryStore({}, new ManualClock());
  const persistent = { isPersistent: true } as AuthStore;

  it('has a random secret if the store forgets its records anyway', () => {
    const sealed = sealerFor(memory, {}).seal('p', 'text');
    expect(sealerFor(memory, {}).open('p', sealed)).toBeUndefined();
  });

  it('has the secrets of DECORUM_SECRET', () => {
    // as long as the command in the messages makes it
    expect(sealerFor(persistent, { DECORUM_SECRET: randomBytes(32).toString('base64') })).toBeInstanceOf(Sealer);
    const sealed = sealerFor(persistent, { DECORUM_SECRET: OLD }).seal('p', 'text');
    expect(sealerFor(memory, { DECORUM_SECRET: ` ${NEW} , ${OLD}\n` }).open('p', sealed)).toBe('text');
  });

  it.each([
    [
      undefined,
      '`DECORUM_SECRET` is missing in the environment. It seals the keys in the store. Create one with `openssl',
    ],
    ['', '`DECORUM_SECRET` has 0 characters, but needs at least 32. Create one with `openssl rand -base64 32`.'],
    ['x'.repeat(31), '`DECORUM_SECRET` has 31 characters'],
    [`${NEW},short`, '`DECORUM_SECRET` has 2 secrets, separated by commas, and number 2 has 5 characters'],
  ])('needs a secret if the store is persistent; %p is refused', (DECORUM_SECRET, problem) => {
    const create = () => sealerFor(persistent, { DECORUM_SECRET });
    expect(create).toThrow(problem);
    expect(create).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }));
  });
});

function setUp(store: AuthStore = new MemoryStore({}, new ManualClock()), secrets: readonly string[] = [NEW]) {
  const clock = new ManualClock();
  const create = () => new SigningKeys({ store, sealer: new Sealer(secrets), clock });
  return { store, clock, create };
}

describe('signing keys', () => {
  it('sign tokens that the published keys verify', async () => {
    const keys = setUp().create();
    await keys.open();
    const { alg, kid, ...jwk } = keys.current;
    expect([alg, jwk.use, jwk.kty, jwk.crv]).toEqual(['ES256', 'sig', 'EC', 'P-256']);
    expect(kid).toBe(await calculateJwkThumbprint(jwk));
    const token = await new SignJWT({ sub: 'ann' }).setProtectedHeader({ alg, kid }).sign(await importJWK(jwk, alg));
    const published = createLocalJWKSet({ keys: keys.publicKeys as JWK[] });
    expect((await jwtVerify(token, published)).payload).toEqual({ sub: 'ann' });
    expect(JSON.stringify(keys.publicKeys)).not.toContain(jwk.d);
    expect(Object.keys(keys.publicKeys[0] as object).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });

  it('stay the same after a restart, and lie sealed in the store', async () => {
    const folder = createFolder();
    const { create } = setUp(await openFileStore(folder));
    const [first, second] = [create(), create()];
    await first.open();
    await second.open();
    expect(second.all).toEqual(first.all);
    const journal = readFileSync(join(folder, 'journal.jsonl'), 'utf8');
    for (const part of [first.current.d, first.current.x, first.current.kid]) expect(journal).not.toContain(part);
  });

  it('are the same for all processes that start at once', async () => {
    const { create } = setUp();
    const processes = Array.from({ length: 20 }, create);
    await Promise.all(processes.map((each) => each.open()));
    await Promise.all(processes.map((each) => each.refresh()));
    expect(new Set(processes.map(({ current }) => current.kid)).size).toBe(1);
    expect(processes[0]?.all).toHaveLength(1);
  });

  it('get a successor after 90 days, which is published before it signs, and go when their tokens have expired', async () => {
    const { create, clock } = setUp();
    const keys = create();
    await keys.open();
    const first = keys.current.kid;
    const kids = () => keys.publicKeys.map(({ kid }) => kid);
    clock.pass(90 * DAY - 1);
    await keys.refresh();
    expect(kids()).toEqual([first]);
    clock.pass(1);
    await keys.refresh();
    const second = kids()[1] as string;
    expect([keys.current.kid, kids()]).toEqual([first, [first, second]]);
    clock.pass(10 * MINUTE - 1);
    expect(keys.current.kid).toBe(first);
    clock.pass(1);
    expect([keys.current.kid, kids()]).toEqual([second, [second, first]]);
    clock.pass(60 * MINUTE - 1);
    await keys.refresh();
    expect(kids()).toEqual([second, first]);
    clock.pass(1);
    await keys.refresh();
    expect(kids()).toEqual([second]);
    clock.pass(90 * DAY);
    await keys.refresh();
    expect(kids()).toHaveLength(2);
  });

  it('are never signed with by one process before the others know them, if all refresh within ten minutes', async () => {
    const { create, clock } = setUp();
    const processes = Array.from({ length: 3 }, create);
    for (const each of processes) await each.open();
    clock.pass(90 * DAY - 9 * MINUTE);
    const [first] = processes[0]?.publicKeys ?? [];
    for (let turn = 0; turn < 40; turn++) {
      clock.pass(3 * MINUTE);
      // each of the three has its turn every nine minutes
      await processes[turn % 3]?.refresh();
      for (const { kid } of processes.map(({ current }) => current))
        for (const { publicKeys } of processes) expect(publicKeys.map((key) => key.kid)).toContain(kid);
    }
    for (const { all } of processes) expect([all.length, all[0]?.kid === first?.kid]).toEqual([1, false]);
  });

  it('sealed with another secret stop the start, say what to do, and remain in the store', async () => {
    const store = new MemoryStore({}, new ManualClock());
    const before = setUp(store, [OLD]).create();
    await before.open();
    const opened = setUp(store, [NEW]).create().open();
    await expect(opened).rejects.toMatchObject({ code: 'DECORUM_INVALID_OPTION' });
    await expect(opened).rejects.toThrow(
      '`DECORUM_SECRET` is not the secret that the keys in the store are sealed with. Put the previous secret back, after the new one',
    );
    const again = setUp(store, [NEW, OLD]).create();
    await again.open();
    expect(again.current).toEqual(before.current);
    // opening has sealed them with the new secret, so the old one is no longer needed
    const later = setUp(store, [NEW]).create();
    await later.open();
    expect(later.current).toEqual(before.current);
  });

  it('remain in use while the store fails', async () => {
    const { store, create, clock } = setUp();
    const keys = create();
    await keys.open();
    const { current } = keys;
    store.get = async () => await Promise.reject(new Error('down'));
    clock.pass(91 * DAY);
    await expect(keys.refresh()).rejects.toThrow('down');
    expect(keys.current).toBe(current);
  });

  it('give up on a store that never writes', async () => {
    const stuck = new MemoryStore({}, new ManualClock());
    stuck.write = async (_changes: readonly Change[]) => false;
    await expect(setUp(stuck).create().open()).rejects.toThrow('The store refused 100 times to write key:signing');
    expect(() => setUp(stuck).create().current).toThrow('The signing keys are not open.');
  });
});
