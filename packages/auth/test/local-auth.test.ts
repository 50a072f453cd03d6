import { Authenticator, type GrantSource, LocalAuth, LocalKeys, OptionChecks } from '@decorum/auth/internal';
import type { SharedOptions } from '@decorum/auth/internal';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { SignJWT } from 'jose';

import type { AuthEvent } from '../src/index.js';
import { AUDIENCE, bearing, createKey, type Key, statusOf } from './fixture.js';

const ISSUER = 'https://mcp.example.com';
const [ONE, TWO] = [createKey('ES256', 'one'), createKey('ES256', 'two')];
const NOW = 1_800_000_000_000;

afterEach(() => {
  jest.useRealTimers();
});

/** Grants that a test ends, or makes unreadable. */
class Grants implements GrantSource {
  readonly live = new Map([['g-1', { revoked: false }]]);
  readonly asked: unknown[] = [];
  failure: Error | undefined;

  async find({ grant_id: id }: Readonly<Record<string, unknown>>) {
    this.asked.push(id);
    if (this.failure !== undefined) throw this.failure;
    return this.live.get(id as string);
  }
}

/** An issuer inside this process, with its clock and the keys it lists. */
function open(options: SharedOptions = {}) {
  const clock = { now: NOW };
  const fetched: string[] = [];
  const events: AuthEvent[] = [];
  const logged: string[] = [];
  const listed = [ONE];
  const grants = new Grants();
  const keys = new LocalKeys(() => listed.map(({ jwk }) => jwk));
  const platform = {
    now: () => clock.now,
    checksIssuers: true,
    fetch: async (url: string) => {
      fetched.push(url);
      throw new Error('nothing may be fetched');
    },
  };
  const local = new LocalAuth(
    { issuer: ISSUER, resource: AUDIENCE, keys, grants },
    { onEvent: (event) => void events.push(event), ...options },
    { checks: new OptionChecks('authorizationServer'), platform },
  );
  const auth = new Authenticator(local.parts, platform);
  auth.opened((message) => void logged.push(message));
  /** A token as the issuer signs it. Undefined leaves a claim out. */
  const sign = async (claims: Readonly<Record<string, unknown>> = {}, { alg, kid, privateKey }: Key = ONE) => {
    const exp = NOW / 1000 + 300;
    const all = { iss: ISSUER, aud: AUDIENCE, sub: 'ada', client_id: 'editor', exp, grant_id: 'g-1', ...claims };
    return await new SignJWT(all).setProtectedHeader({ alg, kid, typ: 'at+jwt' }).sign(privateKey);
  };
  const enter = async (token: string) => await auth.authenticate(bearing(token), undefined);
  return { auth, local, keys, listed, grants, clock, events, logged, fetched, sign, enter };
}

describe('an issuer inside this process', () => {
  it('verifies its tokens, and nothing is ever fetched', async () => {
    const { auth, sign, enter, fetched } = open({ scopes: ['mcp'] });
    expect(await enter(await sign({ scope: 'mcp' }))).toMatchObject({
      subject: 'ada',
      issuer: ISSUER,
      clientId: 'editor',
      kind: 'user',
      scopes: ['mcp'],
      claims: { grant_id: 'g-1' },
    });
    expect(statusOf(await enter(await sign({ iss: 'https://other.example' })))).toBe(401);
    expect(statusOf(await enter(await sign({}, createKey('ES256', 'unknown'))))).toBe(401);
    expect(statusOf(await enter('opaque'))).toBe(401);
    expect(auth.documents.map(({ path }) => path)).toEqual([
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
    ]);
    const { headers } = auth.challenge({
      reason: 'unauthorized',
      scopes: ['mcp'],
      principal: undefined,
      inSession: false,
    });
    expect(headers['www-authenticate']).toBe(
      'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="mcp"',
    );
    expect(fetched).toEqual([]);
  });

  it('accepts a token until it expires, with no tolerance for clocks, which are the same', async () => {
    const { sign, enter, clock } = open({ cacheMs: 0 });
    const token = await sign();
    expect(await enter(token)).toMatchObject({ expiresAt: NOW + 300_000 });
    clock.now = NOW + 299_999;
    expect(statusOf(await enter(token))).toBe(200);
    clock.now += 1;
    expect(statusOf(await enter(token))).toBe(401);
  });

  it('accepts the tokens of a new key as soon as it is listed, beside those of the old one', async () => {
    const { auth, listed, sign, enter } = open();
    const old = await sign();
    expect(statusOf(await enter(old))).toBe(200);
    const next = await sign({}, TWO);
    expect(statusOf(await enter(next))).toBe(401);
    listed.push(TWO);
    expect([statusOf(await enter(next)), statusOf(await enter(await sign({ jti: 'later' })))]).toEqual([200, 200]);
    // at once: it isn't verified again
    expect(auth.authenticate(bearing(old), undefined)).toMatchObject({ subject: 'ada' });
  });

  it('refuses the tokens of a removed key at once, also those that were just verified', async () => {
    const { listed, keys, sign, enter, events } = open();
    listed.push(TWO);
    const token = await sign();
    expect(statusOf(await enter(token))).toBe(200);
    listed.shift();
    keys.refresh();
    expect(statusOf(await enter(token))).toBe(401);
    expect(events.at(-1)).toMatchObject({ reason: 'key', found: 'kid is "one"' });
    listed.push(ONE);
    expect(statusOf(await enter(token))).toBe(200);
  });

  it('uses only the public members of its keys', async () => {
    const { local, listed, sign, enter } = open();
    listed.splice(0, 1, { ...ONE, jwk: { ...ONE.privateKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256' } });
    expect(statusOf(await enter(await sign()))).toBe(200);
    expect(await local.principalOf(await sign())).toMatchObject({ subject: 'ada' });
  });

  it('says what its operator can do, not what that of a remote issuer could', async () => {
    const { local, sign, enter, logged } = open();
    await enter(await sign({}, TWO));
    expect(logged).toEqual([
      'Refused credentials: kid is "two". This server does not have its key any more. Clients must get a new token.',
    ]);
    await expect(local.principalOf(await sign({}, TWO))).rejects.toThrow('This server does not have its key any more');
  });

  it.each<[SharedOptions, string]>([
    [{ scopes: ['a b'] }, 'authorizationServer: `scopes` contains "a b", which is not a scope'],
    [{ scopes: ['offline_access'] }, 'authorizationServer: `scopes` contains "offline_access"'],
    [{ hierarchy: { a: ['a'] } }, 'authorizationServer: `hierarchy` is a cycle'],
    [{ apiKeys: { ci: { sha256: 'x' } } }, 'authorizationServer: `apiKeys.ci.sha256` must be the SHA-256'],
    [{ apiKeys: { ci: { sha: 'x' } as never } }, 'authorizationServer.apiKeys.ci: `sha` is not an option'],
  ])('names its own function in the error for %j', (options, message) => {
    expect(() => open(options)).toThrow(message);
  });
});

describe('the grant of a token', () => {
  it('is looked up once for each verified token, and refuses the token at once when it is revoked', async () => {
    const { auth, grants, sign, enter, events, logged } = open();
    const token = await sign();
    const head = { ...bearing(token), connection: {} };
    expect(statusOf(await auth.authenticate(head, undefined))).toBe(200);
    for (let n = 0; n < 3; n++) expect(auth.authenticate(head, undefined)).toMatchObject({ subject: 'ada' });
    expect(grants.asked).toEqual(['g-1']);
    Object.assign(grants.live.get('g-1') as object, { revoked: true });
    // not a promise: the store, which may be slow or fail, isn't asked for what is known
    const refused = auth.authenticate(head, undefined);
    expect(refused).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': expect.stringContaining('error="invalid_token"') },
    });
    expect(JSON.stringify(refused)).not.toContain('revoked');
    expect(grants.asked).toEqual(['g-1']);
    expect(events).toEqual([
      {
        type: 'denied',
        reason: 'revoked',
        found: 'its grant has ended',
        remedy: 'Its grant was revoked or has ended. The user must sign in again.',
        method: 'POST',
        remoteAddress: '127.0.0.1',
      },
    ]);
    expect(logged).toHaveLength(1);
    expect(statusOf(await enter(await sign({ jti: 'another token of the grant' })))).toBe(401);
  });

  it('that another process has ended is noticed within 60 seconds', async () => {
    const { grants, sign, enter, clock } = open();
    const token = await sign();
    expect(statusOf(await enter(token))).toBe(200);
    grants.live.clear();
    clock.now += 59_999;
    expect(statusOf(await enter(token))).toBe(200);
    clock.now += 1;
    expect(statusOf(await enter(token))).toBe(401);
  });

  it('must exist: a token without one is refused, as is one of an unknown grant', async () => {
    const { grants, sign, enter, events } = open();
    expect(statusOf(await enter(await sign({ grant_id: undefined })))).toBe(401);
    expect(statusOf(await enter(await sign({ grant_id: 'g-2' })))).toBe(401);
    expect(grants.asked).toEqual([undefined, 'g-2']);
    expect(events.map(({ reason }) => reason)).toEqual(['revoked', 'revoked']);
  });

  it('is not looked up for a token that is not valid', async () => {
    const { grants, sign, enter } = open();
    await enter(await sign({ aud: 'https://other.example' }));
    await enter(await sign({}, { ...TWO, kid: 'one' }));
    expect(grants.asked).toEqual([]);
  });

  it('that cannot be read is a 503, which is not cached, and the log says why', async () => {
    const { grants, sign, enter, logged } = open();
    const token = await sign();
    grants.failure = new Error('disk is gone');
    expect(await enter(token)).toEqual({ status: 503, headers: { 'retry-after': '5' } });
    expect(logged).toEqual(['Refused credentials: disk is gone. The store of grants could not be read.']);
    grants.failure = undefined;
    expect(statusOf(await enter(token))).toBe(200);
    grants.failure = new Error('disk is gone');
    expect(statusOf(await enter(token))).toBe(200);
  });

  it('that a store does not deliver within 5 seconds is a 503, and the token is looked up again after that', async () => {
    const { auth, grants, sign, enter, logged } = open();
    const token = await sign();
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const asked = new Promise<void>((resolve) => {
      grants.find = async () => {
        resolve();
        return await new Promise(() => {});
      };
    });
    const answer = enter(token);
    await asked;
    jest.advanceTimersByTime(4999);
    await new Promise(setImmediate);
    expect(logged).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(await answer).toMatchObject({ status: 503 });
    expect(logged).toEqual(['Refused credentials: no answer within 5000 ms. The store of grants could not be read.']);
    grants.find = async () => ({ revoked: false });
    expect(await auth.authenticate(bearing(token), undefined)).toMatchObject({ subject: 'ada' });
    expect(jest.getTimerCount()).toBe(0);
  });
});
