import { createHash } from 'node:crypto';
import { inspect } from 'node:util';

import { AUTH } from '@decorum/http';
import { describe, expect, it, jest } from '@jest/globals';

import { RecentDigests } from '../src/recent-digests.js';
import { AUDIENCE, createAuth, headWith, openIssuer, statusOf } from './fixture.js';

const METADATA = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const KEYS = { ci: { sha256: sha256('key-of-ci'), scopes: ['files:admin'] }, cd: { sha256: sha256('key-of-cd') } };
const hierarchy = { 'files:admin': ['files:write'], 'files:write': ['files:read'] };

describe('credentials', () => {
  const { auth, enter } = createAuth({ issuer: 'https://id.example.com', scopes: ['mcp', 'files:read'] });

  function expectAnswer(authorization: string, status: number, challenge: string): void {
    const answer = auth[AUTH].authenticate(headWith({ authorization }), undefined);
    expect([authorization, answer]).toEqual([authorization, { status, headers: { 'www-authenticate': challenge } }]);
  }

  it('are missing if there is no header', () => {
    expect(auth[AUTH].authenticate(headWith(), undefined)).toBeUndefined();
  });

  it('in another form are no token: the challenge has no error', () => {
    for (const authorization of ['Basic YTpi', 'DPoP abc', 'Bearer', 'Bearer ', 'Bearerabc', 'abc', ''])
      expectAnswer(authorization, 401, `Bearer ${METADATA}, scope="mcp files:read"`);
  });

  it('are refused with 400 if they are two', () => {
    const challenge =
      'Bearer error="invalid_request", error_description="Send one access token, in one Authorization header."';
    for (const authorization of [
      'Bearer a b',
      'Bearer a, Bearer b',
      'Bearer a,b',
      'bearer a\tb',
      'Basic YTpi, Bearer b',
    ])
      expectAnswer(authorization, 400, challenge);
  });

  it('in two headers are a 400, even if both are the same', () => {
    const head = { ...headWith({ authorization: 'Bearer a' }), authorizations: ['Bearer a', 'Bearer a'] };
    expect(auth[AUTH].authenticate(head, undefined)).toMatchObject({ status: 400 });
  });

  it('with letters that no token has are a bad token', () => {
    const challenge = `Bearer ${METADATA}, scope="mcp files:read", error="invalid_token", error_description="The access token is not valid or has expired."`;
    for (const authorization of ['Bearer a"b', 'Bearer é', 'Bearer =a', 'Bearer {}'])
      expectAnswer(authorization, 401, challenge);
  });

  it('are found in any spelling of the scheme', async () => {
    const issuer = await openIssuer();
    const own = createAuth({ issuer: issuer.url }).auth;
    const token = issuer.sign({ aud: AUDIENCE });
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER  ']) {
      const found = await own[AUTH].authenticate(headWith({ authorization: `${scheme}${token}` }), undefined);
      expect([scheme, statusOf(found)]).toEqual([scheme, 200]);
    }
  });

  it('that nothing can verify are refused', async () => {
    expect(statusOf(await enter('opaque'))).toBe(401);
  });
});

describe('an API key', () => {
  it('is a bearer token by default, and its holder gets what its scopes imply', async () => {
    const { auth, enter } = createAuth({ audience: undefined as never, apiKeys: KEYS, hierarchy });
    expect(await enter('key-of-ci')).toEqual({
      subject: 'ci',
      issuer: 'apiKeys',
      kind: 'apiKey',
      scopes: ['files:admin', 'files:write', 'files:read'],
    });
    expect(await enter('key-of-cd')).toMatchObject({ subject: 'cd', scopes: [] });
    for (const wrong of ['key-of-c', 'key-of-ci ', sha256('key-of-ci')].map((key) => key.trim() + 'x')) {
      expect(await enter(wrong)).toMatchObject({ status: 401, headers: { 'www-authenticate': expect.any(String) } });
    }
    // without an issuer there is no metadata to point to
    expect(auth[AUTH].documents).toEqual([]);
    const challenge = auth[AUTH].challenge({
      reason: 'unauthorized',
      scopes: [],
      principal: undefined,
      inSession: false,
    });
    expect(challenge).toEqual({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
  });

  it('has a principal that no handler can change, because the next request gets the same', async () => {
    const { enter } = createAuth({ audience: undefined as never, apiKeys: KEYS });
    const principal = (await enter('key-of-cd')) as { scopes: string[]; subject: string };
    expect(() => principal.scopes.push('admin')).toThrow(TypeError);
    expect(() => {
      principal.subject = 'root';
    }).toThrow(TypeError);
    expect(await enter('key-of-cd')).toMatchObject({ subject: 'cd', scopes: [] });
  });

  it('is found synchronously', () => {
    const { auth } = createAuth({ audience: undefined as never, apiKeys: KEYS });
    expect(auth[AUTH].authenticate(headWith({ authorization: 'Bearer key-of-ci' }), undefined)).toMatchObject({
      subject: 'ci',
    });
  });

  it('may have a header of its own: then it is no bearer token, and handlers do not see the header', async () => {
    const options = { audience: undefined as never, apiKeys: KEYS, apiKeyHeader: 'X-Files-Key' };
    const { auth, events } = createAuth(options);
    expect(auth[AUTH].credentialHeaders).toEqual(['x-files-key']);
    const answers = [
      { 'x-files-key': 'key-of-ci' },
      { 'x-files-key': 'wrong' },
      { 'x-files-key': 'key-of-ci, key-of-ci' },
      { authorization: 'Bearer key-of-ci' },
      { 'x-files-key': 'key-of-ci', authorization: 'Bearer key-of-ci' },
      { 'x-files-key': 'k'.repeat(20_000) },
    ].map(async (headers: Record<string, string>) =>
      statusOf(await auth[AUTH].authenticate(headWith(headers), undefined)),
    );
    expect(await Promise.all(answers)).toEqual([200, 401, 401, 401, 400, 401]);
    expect(events[0]).toMatchObject({ reason: 'api-key', found: 'an unknown API key' });
  });

  it('works beside tokens', async () => {
    const issuer = await openIssuer();
    const { enter } = createAuth({ issuer: issuer.url, apiKeys: KEYS });
    expect([await enter('key-of-ci'), await enter(issuer.sign({ aud: AUDIENCE, sub: 'ci' }))]).toMatchObject([
      { subject: 'ci', issuer: 'apiKeys', kind: 'apiKey' },
      { subject: 'ci', issuer: issuer.url, kind: 'user' },
    ]);
  });
});

describe('verify', () => {
  it('gets what nobody else knows, and the request [AUTHRS-08]', async () => {
    const issuer = await openIssuer();
    const asked: unknown[] = [];
    const { auth, enter, events } = createAuth({
      issuer: issuer.url,
      hierarchy,
      verify: (token, request) => {
        asked.push([token, request]);
        return token === 'known' ? { subject: 'bob', scopes: ['files:write'] } : undefined;
      },
    });
    const request = { url: '/mcp' };
    expect(await auth[AUTH].authenticate(headWith({ authorization: 'Bearer known' }), request)).toEqual({
      subject: 'bob',
      scopes: ['files:write', 'files:read'],
    });
    const headers = { 'www-authenticate': expect.stringContaining('error="invalid_token"') };
    expect(await enter('unknown')).toMatchObject({ status: 401, headers });
    expect(events.at(-1)).toMatchObject({ reason: 'verify', found: 'the application does not know it' });
    // of this issuer, but not valid
    expect(statusOf(await enter(issuer.sign({ aud: 'other' })))).toBe(401);
    const foreign = issuer.sign({ iss: 'https://other.example' });
    expect(statusOf(await enter(foreign))).toBe(401);
    expect(asked).toEqual([
      ['known', request],
      ['unknown', undefined],
      [foreign, undefined],
    ]);
  });

  it('grants no scopes by anything but a list', async () => {
    for (const scopes of ['ab', 7, { 0: 'a' }, null]) {
      const { enter } = createAuth({
        audience: undefined as never,
        hierarchy: { a: ['b'] },
        verify: () => ({ subject: 'bob', scopes: scopes as never }),
      });
      const { scopes: granted } = (await enter('x')) as { scopes?: unknown };
      expect([scopes, Array.isArray(granted)]).toEqual([scopes, false]);
    }
  });

  it('may say more about the caller than a principal does', async () => {
    const found = { subject: 'bob', reason: 'signature' };
    expect(await createAuth({ audience: undefined as never, verify: () => found }).enter('x')).toEqual(found);
  });

  it('that returns null refuses, and one that throws is an error of the application', async () => {
    expect(statusOf(await createAuth({ audience: undefined as never, verify: () => null as never }).enter('x'))).toBe(
      401,
    );
    const failing = createAuth({ audience: undefined as never, verify: () => Promise.reject(new Error('down')) });
    await expect(failing.enter('x')).rejects.toThrow('down');
  });
});

describe('the hierarchy', () => {
  it('adds to a token’s scopes what they imply, through any number of steps', async () => {
    const issuer = await openIssuer();
    const { enter } = createAuth({ issuer: issuer.url, hierarchy: { a: ['b', 'c'], c: ['d'], b: ['d'], z: ['a'] } });
    expect(await enter(issuer.sign({ aud: AUDIENCE, scope: 'a x' }))).toMatchObject({
      scopes: ['a', 'x', 'b', 'c', 'd'],
    });
    expect(await enter(issuer.sign({ aud: AUDIENCE, scope: 'constructor __proto__' }))).toMatchObject({
      scopes: ['constructor', '__proto__'],
    });
  });
});

describe('a remembered token', () => {
  it('is verified again after 60 seconds at most, and after `exp`', async () => {
    const issuer = await openIssuer();
    const { auth, clock, enter } = createAuth({ issuer: issuer.url });
    const token = issuer.sign({ aud: AUDIENCE, exp: Math.floor(Date.now() / 1000) + 100 });
    const head = headWith({ authorization: `Bearer ${token}` });
    await enter(token);
    const synchronous = [];
    for (const second of [0, 59, 60]) {
      clock.ahead = second * 1000;
      synchronous.push(!(auth[AUTH].authenticate(head, undefined) instanceof Promise));
    }
    expect(synchronous).toEqual([true, true, false]);
    clock.ahead = 80_000;
    await enter(token);
    clock.ahead = 106_000;
    expect(statusOf(await enter(token))).toBe(401);
  });

  it('is verified each time if `cacheMs` is 0', async () => {
    const issuer = await openIssuer();
    const { auth, enter } = createAuth({ issuer: issuer.url, cacheMs: 0 });
    const token = issuer.sign({ aud: AUDIENCE });
    await enter(token);
    expect(auth[AUTH].authenticate(headWith({ authorization: `Bearer ${token}` }), undefined)).toBeInstanceOf(Promise);
  });

  it('is known again on its connection, where another token is another caller and an expired one is nobody’s', async () => {
    const issuer = await openIssuer();
    const { auth, clock } = createAuth({ issuer: issuer.url });
    const connection = {};
    const send = async (token: string) => {
      const found = await auth[AUTH].authenticate(
        { ...headWith({ authorization: `Bearer ${token}` }), connection },
        undefined,
      );
      return found && 'subject' in found ? found.subject : statusOf(found);
    };
    const exp = Math.floor(Date.now() / 1000) + 100;
    const [ada, bob] = ['ada', 'bob'].map((sub) => issuer.sign({ aud: AUDIENCE, sub, exp })) as [string, string];
    const sent = [ada, ada, bob, ada, `${ada.slice(0, -4)}AAAA`, ada, bob, bob];
    const found: unknown[] = [];
    for (const token of sent) found.push(await send(token));
    expect(found).toEqual(['ada', 'ada', 'bob', 'ada', 401, 'ada', 'bob', 'bob']);
    clock.ahead = 106_000;
    expect(await send(bob)).toBe(401);
  });

  it('is hashed once for a connection that keeps sending it', async () => {
    const issuer = await openIssuer();
    const { auth } = createAuth({ issuer: issuer.url });
    const spies = (['get', 'set'] as const).map((name) => jest.spyOn(RecentDigests.prototype, name));
    const head = { ...headWith({ authorization: `Bearer ${issuer.sign({ aud: AUDIENCE })}` }), connection: {} };
    for (let n = 0; n < 5; n += 1) expect(statusOf(await auth[AUTH].authenticate(head, undefined))).toBe(200);
    // the first request has to wait for the keys, the second finds the token in the cache
    const [get, set] = spies.map((spy) => spy.mock.calls.length);
    for (const spy of spies) spy.mockRestore();
    expect([get, set]).toEqual([5, 1]);
  });

  it('is not held at all if `cacheMs` is 0', async () => {
    const issuer = await openIssuer();
    const { auth, enter } = createAuth({ issuer: issuer.url, cacheMs: 0 });
    expect(await enter(issuer.sign({ aud: AUDIENCE, sub: 'countess' }))).toMatchObject({ subject: 'countess' });
    expect(inspect(auth, { depth: Infinity })).not.toContain('countess');
  });

  it('is remembered by its digest: nothing that the object holds contains it', async () => {
    const issuer = await openIssuer();
    const { auth, enter, events } = createAuth({ issuer: issuer.url, reportGranted: true });
    const token = issuer.sign({ aud: AUDIENCE });
    await enter(token);
    const everything = inspect([auth, events], { depth: Infinity, maxArrayLength: Infinity, showHidden: true });
    const [, , signature = ''] = token.split('.');
    expect(everything).toContain('ada');
    expect(everything).not.toContain(signature);
  });
});
