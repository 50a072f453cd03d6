import { Buffer } from 'node:buffer';

import { describe, expect, it, jest } from '@jest/globals';

import type { Signing } from '../../../test/auth/hostile-issuer.js';
import {
  AUDIENCE,
  createAuth,
  createKey,
  type Fixture,
  type HostileIssuer,
  type Key,
  openIssuer,
  statusOf,
} from './fixture.js';

const NOW = () => Math.floor(Date.now() / 1000);

const WWW = `Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", error="invalid_token", error_description="The access token is not valid or has expired."`;

async function open(options: Parameters<typeof createAuth>[0] = {}, keys?: Parameters<typeof openIssuer>[0]) {
  const issuer = await openIssuer(keys);
  return { issuer, ...createAuth({ issuer: issuer.url, ...options }) };
}

/** Expects a refusal that tells nothing, and the reason in the event. */
async function expectRefused({ enter, events }: Fixture, token: string, reason: string): Promise<void> {
  expect(await enter(token)).toEqual({ status: 401, headers: { 'www-authenticate': WWW } });
  expect(events.at(-1)).toMatchObject({ type: 'denied', reason });
}

/** Claims with a byte that is not UTF-8. */
const LATIN = Buffer.from('{"sub":"\u00e4"}', 'latin1').toString('base64url');

const KEYS = new Map(
  ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'].map((alg) => [alg, createKey(alg, 'key-1')]),
);
const keyFor = (alg: string) => KEYS.get(alg) as Key;

describe('a JWT access token', () => {
  it('gives the principal, with the claims of the token', async () => {
    const { issuer, enter } = await open();
    const exp = NOW() + 100;
    const principal = await enter(issuer.sign({ aud: AUDIENCE, scope: 'mcp files:read', exp, team: 'blue' }));
    expect(principal).toEqual({
      subject: 'ada',
      issuer: issuer.url,
      clientId: 'editor',
      kind: 'user',
      scopes: ['mcp', 'files:read'],
      expiresAt: exp * 1000 + 5000,
      claims: expect.objectContaining({ team: 'blue', sub: 'ada' }),
    });
  });

  it.each([...KEYS.keys()])('may be signed with %s', async (alg) => {
    const { issuer, enter } = await open({}, [keyFor(alg)]);
    expect(statusOf(await enter(issuer.sign({ aud: AUDIENCE })))).toBe(200);
  });

  it('may be verified with a key that names neither its id nor its algorithm', async () => {
    const key = keyFor('RS256');
    const { alg: _alg, kid: _kid, use: _use, ...jwk } = key.jwk;
    const { issuer, enter } = await open({}, [{ ...key, jwk }]);
    expect(statusOf(await enter(issuer.sign({ aud: AUDIENCE }, { header: { kid: undefined } })))).toBe(200);
  });

  it('is of a client if its subject is the client', async () => {
    const { issuer, enter } = await open();
    expect(await enter(issuer.sign({ aud: AUDIENCE, sub: 'editor' }))).toMatchObject({
      kind: 'client',
      subject: 'editor',
      clientId: 'editor',
    });
  });

  it('may have its scopes in `scp`, as text or a list, but only valid ones count', async () => {
    const { issuer, enter } = await open();
    expect(await enter(issuer.sign({ aud: AUDIENCE, scp: 'a b' }))).toMatchObject({ scopes: ['a', 'b'] });
    expect(await enter(issuer.sign({ aud: AUDIENCE, scp: ['a', 'b"', 3, 'c\r\nd'] }))).toMatchObject({ scopes: ['a'] });
  });

  it.each([
    ['HTTPS://MCP.Example.com/mcp', AUDIENCE],
    [AUDIENCE, 'https://MCP.EXAMPLE.COM:443/mcp'],
    ['https://mcp.example.com/', 'https://mcp.example.com'],
  ])('for the audience %s is accepted by a server with %s', async (aud, audience) => {
    const { issuer, enter } = await open({ audience });
    expect(statusOf(await enter(issuer.sign({ aud: ['other', aud] })))).toBe(200);
  });

  it('for an audience that a careless reader takes for https://mcp.example.com is for somebody else (#22)', async () => {
    const { issuer, enter, events } = await open({ audience: 'https://mcp.example.com' });
    for (const aud of [
      'https://mcp.example.com\\evil',
      'https:\\\\mcp.example.com',
      'https:/mcp.example.com',
      'https:mcp.example.com',
      'https:///mcp.example.com',
      'https://mcp.example.com/a/..',
      'https://mcp.example.com/.',
      'https://mcp.example.com/%2e',
      'https://mcp.example.com//',
      'https://mcp%2eexample.com',
      'https://mcp.example.com%2f',
      'https://mcp.example.com.',
      'https://mcp.example.com?',
      'https://mcp.example.com/?',
      'https://mcp.example.com#',
      'https://mcp.example.com/#',
      'https://mcp.example.com:',
      'https://mcp.example.com:0443',
      'https://mcp.example.com:80',
      'http://mcp.example.com:443',
      'https://@mcp.example.com',
      'https://user@mcp.example.com',
      'https://mcp.example.com@evil.example',
      ' https://mcp.example.com',
      'https://mcp.example.com\n',
      'https://mcp.exam\tple.com',
      'https://mcp.example.com\u0000',
      'https://ｍcp.example.com',
      'https://mcp.example。com',
      'https://mcp.ex\u00adample.com',
      'https://mcp.example.com/ ',
      'https://mcp.example.com;v=1',
      'mcp.example.com',
      '//mcp.example.com',
    ]) {
      expect([aud, statusOf(await enter(issuer.sign({ aud }))), events.at(-1)?.reason]).toEqual([aud, 401, 'audience']);
    }
  });

  it('for an audience is not for one as which a URL parser would read it (#22)', async () => {
    for (const [aud, audience] of [
      ['https://127.1', 'https://127.0.0.1'],
      ['https://0x7f000001', 'https://127.0.0.1'],
      ['https://[0:0:0:0:0:0:0:1]', 'https://[::1]'],
      ['https://mcp.example.com/a/../mcp', AUDIENCE],
      ['https://mcp.example.com/%6dcp', AUDIENCE],
      ['https://mcp.example.com/mcp/', AUDIENCE],
      ['https://xn--mcp-.example.com', 'https://mcp.example.com'],
    ] as const) {
      const { issuer, enter } = await open({ audience });
      expect([aud, statusOf(await enter(issuer.sign({ aud })))]).toEqual([aud, 401]);
      expect([aud, statusOf(await enter(issuer.sign({ aud: audience })))]).toEqual([aud, 200]);
    }
  });

  it.each([
    ['EdDSA', 'Ed25519'],
    ['Ed25519', 'EdDSA'],
  ])('may name its algorithm %s if its key names it %s (#22)', async (alg, own) => {
    const { issuer, enter } = await open({}, [createKey(own, 'key-1')]);
    expect(statusOf(await enter(issuer.sign({ aud: AUDIENCE }, { header: { alg } })))).toBe(200);
    const [{ jwk }] = issuer.keys as [Key];
    Object.assign(jwk, { crv: 'Ed448' });
    const { enter: later } = createAuth({ issuer: issuer.url });
    expect(statusOf(await later(issuer.sign({ aud: AUDIENCE }, { header: { alg } })))).toBe(401);
  });

  it.each([
    [0, [401, 200, 401]],
    [300_000, [200, 200, 200]],
  ])(
    'is tolerated for `clockToleranceMs: %d` before `nbf` and after `exp` (#22)',
    async (clockToleranceMs, statuses) => {
      const { issuer, enter, clock } = await open({ clockToleranceMs });
      const start = NOW();
      const token = issuer.sign({ aud: AUDIENCE, nbf: start + 100, exp: start + 200 });
      const found = [];
      for (const seconds of [90, 150, 210]) {
        clock.ahead = seconds * 1000;
        found.push(statusOf(await enter(token)));
      }
      expect(found).toEqual(statuses);
    },
  );

  it('keeps its streams open for as long as `clockToleranceMs` admits it (#22)', async () => {
    const { issuer, enter, clock } = await open({ clockToleranceMs: 300_000 });
    const exp = NOW() + 200;
    clock.ahead = 210_000;
    const entered = await enter(issuer.sign({ aud: AUDIENCE, exp }));
    expect(entered).toMatchObject({ expiresAt: exp * 1000 + 300_000 });
  });

  it('is tolerated for 5 seconds before `nbf` and after `exp`, to the millisecond', async () => {
    const issuer = await openIssuer();
    const start = NOW() * 1000;
    const time = jest.spyOn(Date, 'now').mockReturnValue(start);
    const { enter, clock } = createAuth({ issuer: issuer.url, cacheMs: 0 });
    time.mockRestore();
    const token = issuer.sign({ aud: AUDIENCE, nbf: start / 1000 + 100, exp: start / 1000 + 200 });
    const statuses = [];
    for (const ms of [94_999, 95_000, 204_999, 205_000]) {
      clock.ahead = ms;
      statuses.push(statusOf(await enter(token)));
    }
    expect(statuses).toEqual([401, 200, 200, 401]);
  });

  it('must have the claims that `claims` of its issuer asks for, as its own and with one of the values', async () => {
    const issuer = await openIssuer();
    const claims = { team: ['blue', 'red'], tenant: true, constructor: true } as const;
    const fixture = createAuth({ issuer: { issuer: issuer.url, claims } });
    const valid = { aud: AUDIENCE, team: 'red', tenant: 7, constructor: 'own' };
    expect(statusOf(await fixture.enter(issuer.sign(valid)))).toBe(200);
    const lacking = [
      [{ team: 'green' }, 'team is "green"'],
      [{ team: ['blue'] }, 'team is ["blue"]'],
      [{ team: undefined }, 'team is missing'],
      [{ tenant: undefined }, 'tenant is missing'],
      [{ constructor: undefined }, 'constructor is missing'],
    ] as const;
    for (const [change, found] of lacking) {
      await expectRefused(fixture, issuer.sign({ ...valid, ...change }), 'claims');
      expect(fixture.events.at(-1)?.found).toBe(found);
    }
  });

  /** The claims and the signing of a token, or a function that makes it. */
  const signed: [
    what: string,
    reason: string,
    claims: object | ((issuer: HostileIssuer) => string),
    signing?: Signing,
  ][] = [
    ['without `aud`', 'audience', { aud: undefined }],
    ['for another audience', 'audience', { aud: 'https://other.example.com/mcp' }],
    ['for a path below this server', 'audience', { aud: `${AUDIENCE}/admin` }],
    ['for this server with a user name', 'audience', { aud: 'https://ada@mcp.example.com/mcp' }],
    ['for the same path in another case', 'audience', { aud: 'https://mcp.example.com/MCP' }],
    ['for an audience in a list of lists', 'audience', { aud: [[AUDIENCE]] }],
    ['for an audience in an object', 'audience', { aud: { 0: AUDIENCE } }],
    ['of another issuer', 'issuer', { iss: 'https://evil.example' }],
    ['of the issuer with a slash', 'issuer', (issuer) => issuer.sign({ aud: AUDIENCE, iss: `${issuer.url}/` })],
    ['without issuer', 'issuer', { iss: undefined }],
    ['of a list of issuers', 'issuer', (issuer) => issuer.sign({ aud: AUDIENCE, iss: [issuer.url] })],
    ['that has expired', 'expired', { exp: NOW() - 10 }],
    ['without `exp`', 'expiry', { exp: undefined }],
    ['with `exp` in a string', 'expiry', { exp: `${NOW() + 100}` }],
    [
      'with an infinite `exp`',
      'expiry',
      (issuer) =>
        issuer.sign(JSON.stringify({ iss: issuer.url, sub: 'a', aud: AUDIENCE, exp: 1 }).replace(/1}$/, '1e999}')),
    ],
    ['that is not valid yet', 'not-yet-valid', { nbf: NOW() + 60 }],
    ['with `nbf` in a string', 'not-yet-valid', { nbf: '0' }],
    ['without `sub`', 'subject', { sub: undefined }],
    ['with an empty `sub`', 'subject', { sub: '' }],
    ['with a number as `sub`', 'subject', { sub: 7 }],
    ['of type JWT', 'token-type', {}, { header: { typ: 'JWT' } }],
    ['without type', 'token-type', {}, { header: { typ: undefined } }],
    ['that is a DPoP proof', 'token-type', {}, { header: { typ: 'dpop+jwt' } }],
    ['that is a logout token', 'token-type', {}, { header: { typ: 'logout+jwt' } }],
    ['bound to a key', 'sender-constrained', { cnf: { jkt: 'x' } }],
    ['with `crit`', 'critical', {}, { header: { crit: ['b64'], b64: true } }],
    ['without algorithm', 'algorithm', {}, { header: { alg: 'none' } }],
    ['signed with a secret', 'algorithm', {}, { header: { alg: 'HS256' }, secret: 'secret' }],
    [
      'signed with the public key as a secret',
      'algorithm',
      (issuer) =>
        issuer.sign({ aud: AUDIENCE }, { header: { alg: 'HS256' }, secret: JSON.stringify(issuer.keys[0]?.jwk) }),
    ],
    ['signed with another key of the same id', 'signature', {}, { key: keyFor('ES256') }],
    ['that claims an algorithm its key is not for', 'key', {}, { key: keyFor('RS256') }],
    ['of an unknown key', 'key', {}, { key: createKey('ES256', 'key-2') }],
    ['with an object as `kid`', 'key', {}, { header: { kid: {} } }],
    ['that is an array', 'unrecognized', (issuer) => issuer.sign('[]')],
    ['that is a number', 'unrecognized', (issuer) => issuer.sign('7')],
    ['that is null', 'unrecognized', (issuer) => issuer.sign('null')],
    ['with a header that is no object', 'unrecognized', {}, { header: '"at+jwt"' }],
    ['with a part too many', 'unrecognized', (issuer) => `e30.${issuer.sign({ aud: AUDIENCE })}`],
    ['that is not UTF-8', 'unrecognized', (issuer) => issuer.sign({ aud: AUDIENCE }).replace(/\..*\./, `.${LATIN}.`)],
  ];

  const signedBy = (issuer: HostileIssuer, [, , claims, signing]: (typeof signed)[number]) =>
    typeof claims === 'function' ? claims(issuer) : issuer.sign({ aud: AUDIENCE, ...claims }, signing);

  it.each(signed.map((row) => ({ what: row[0], reason: row[1], row })))('$what is refused ($reason)', async (each) => {
    const fixture = await open();
    await expectRefused(fixture, signedBy(fixture.issuer, each.row), each.reason);
  });

  it('that is refused tells the operator what was found', async () => {
    const { issuer, enter, events } = await open({ cacheMs: 0 });
    const now = NOW();
    const header = (members: object) => issuer.sign({ aud: AUDIENCE }, { header: { ...members } });
    const claims = (members: object) => issuer.sign({ aud: AUDIENCE, ...members });
    const found: [string, string][] = [
      [header({ alg: 'none' }), 'alg is "none"'],
      [header({ crit: ['b64'] }), 'crit is ["b64"]'],
      [header({ typ: undefined }), 'typ is missing'],
      [header({ kid: 7 }), 'kid is 7'],
      [header({ kid: 'key-2' }), 'kid is "key-2"'],
      [claims({ iss: 'https://evil.example' }), 'iss is "https://evil.example"'],
      [claims({ sub: '' }), 'sub is ""'],
      [claims({ aud: ['other'] }), 'aud is ["other"]'],
      [claims({ exp: '1' }), 'exp is "1"'],
      [claims({ exp: now - 10 }), `exp is ${now - 10}`],
      [claims({ nbf: now + 10 }), `nbf is ${now + 10}`],
      [claims({}).replace(/[\w-]+$/, 'AAAA'), 'the signature does not fit'],
      ['opaque', 'the token is no JWT'],
    ];
    for (const [token, what] of found) {
      await enter(token);
      expect(events.at(-1)?.found).toBe(what);
    }
  });

  it.each(['jku', 'x5u', 'jwk', 'x5c'])(
    'that brings its own key in `%s` makes the server fetch nothing [SEC-18]',
    async (name) => {
      const fixture = await open();
      const { issuer } = fixture;
      const evil = await openIssuer();
      const [key] = evil.keys;
      const values = { jku: `${evil.url}/jwks`, x5u: `${evil.url}/jwks`, jwk: key?.jwk, x5c: ['AAAA'] } as Record<
        string,
        unknown
      >;
      const token = issuer.sign({ aud: AUDIENCE }, { ...(key && { key }), header: { [name]: values[name] } });
      await expectRefused(fixture, token, 'signature');
      expect(evil.requests).toEqual([]);
    },
  );

  it('that cannot be valid makes the server fetch nothing', async () => {
    const fixture = await open();
    for (const row of signed.filter(([, why]) => why !== 'signature' && why !== 'key')) {
      await expectRefused(fixture, signedBy(fixture.issuer, row), row[1]);
    }
    expect(fixture.issuer.requests).toEqual([]);
  });

  it('with a `kid` that is no string makes the server fetch nothing', async () => {
    const fixture = await open();
    const token = fixture.issuer.sign({ aud: AUDIENCE }, { header: { kid: ['key-1'] } });
    await expectRefused(fixture, token, 'key');
    expect(fixture.issuer.requests).toEqual([]);
  });

  it('is refused if its key is for another algorithm', async () => {
    const key = { ...keyFor('RS256'), jwk: { ...keyFor('RS256').jwk, alg: 'PS256' } };
    const fixture = await open({}, [key]);
    await expectRefused(fixture, fixture.issuer.sign({ aud: AUDIENCE }), 'key');
  });

  it.each([{ use: 'enc' }, { key_ops: ['sign'] }])('is refused if its key has %j', async (purpose) => {
    const key = { ...keyFor('ES256'), jwk: { ...keyFor('ES256').jwk, ...purpose } };
    const fixture = await open({}, [key]);
    await expectRefused(fixture, fixture.issuer.sign({ aud: AUDIENCE }), 'key');
  });

  it('without `kid` is refused if several keys could have signed it', async () => {
    const fixture = await open({}, [keyFor('ES256'), createKey('ES256', 'key-2')]);
    const token = fixture.issuer.sign({ aud: AUDIENCE }, { header: { kid: undefined } });
    await expectRefused(fixture, token, 'key');
  });

  it('is refused in every other spelling of its signature', async () => {
    const fixture = await open();
    const token = fixture.issuer.sign({ aud: AUDIENCE });
    expect(statusOf(await fixture.enter(token))).toBe(200);
    const last = token.at(-1) as string;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const bytes = Buffer.from(token.split('.')[2] as string, 'base64url');
    const respelled = [...alphabet]
      .filter((letter) => letter !== last)
      .map((letter) => token.slice(0, -1) + letter)
      .filter((each) => Buffer.from(each.split('.')[2] as string, 'base64url').equals(bytes));
    expect(respelled.length).toBeGreaterThan(0);
    for (const each of [...respelled, `${token}=`, `${token}==`, token.replaceAll('-', '+').replaceAll('_', '/')]) {
      if (each !== token) expect(statusOf(await fixture.enter(each))).toBe(401);
    }
  });

  it('of another type is accepted if the issuer’s `tokenTypes` has it, but never an ID token', async () => {
    const issuer = await openIssuer();
    const fixture = createAuth({ issuer: { issuer: issuer.url, tokenTypes: ['JWT', ''] } });
    const typed = (typ: unknown, claims = {}) => issuer.sign({ aud: AUDIENCE, ...claims }, { header: { typ } });
    for (const typ of ['JWT', 'jwt', 'application/JWT', undefined, 'at+jwt', 'application/at+jwt', 'AT+JWT']) {
      expect([typ, statusOf(await fixture.enter(typed(typ)))]).toEqual([typ, 200]);
    }
    for (const typ of ['logout+jwt', ['JWT'], 'application/application/jwt', 'at+application/jwt']) {
      await expectRefused(fixture, typed(typ), 'token-type');
    }
    for (const claim of ['nonce', 'at_hash', 'events']) {
      await expectRefused(fixture, typed('JWT', { [claim]: 'x' }), 'id-token');
      expect(fixture.events.at(-1)?.found).toBe(`it has the claim "${claim}"`);
    }
  });

  it('cannot be changed by a handler, because the next request gets the same principal', async () => {
    const { issuer, enter } = await open();
    const token = issuer.sign({ aud: AUDIENCE, scope: 'mcp', deep: { list: [1] } });
    const principal = (await enter(token)) as unknown as { scopes: string[]; claims: { deep: { list: number[] } } };
    expect(() => principal.scopes.push('admin')).toThrow(TypeError);
    expect(() => principal.claims.deep.list.push(2)).toThrow(TypeError);
    expect(await enter(token)).toBe(principal);
  });

  it('that is longer than any real one is refused without being hashed', async () => {
    const fixture = await open();
    await expectRefused(fixture, 'a'.repeat(20_000), 'malformed');
  });

  it('from an issuer that signs with a short key is refused', async () => {
    const { generateKeyPairSync } = await import('node:crypto');
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const key = { alg: 'RS256', kid: 'k', privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid: 'k' } };
    const fixture = await open({}, [key]);
    await expectRefused(fixture, fixture.issuer.sign({ aud: AUDIENCE }), 'signature');
  });
});
