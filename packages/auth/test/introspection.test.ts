import { Buffer } from 'node:buffer';

import { describe, expect, it } from '@jest/globals';

import { AUDIENCE, createAuth, openIssuer, sendJson, statusOf } from './fixture.js';

const NOW = () => Math.floor(Date.now() / 1000);

async function open(options: Parameters<typeof createAuth>[0] = {}) {
  const issuer = await openIssuer();
  /** What the issuer says, by token. */
  const known = new Map<string, object>();
  const asked: { authorization: string | undefined; body: string }[] = [];
  issuer.handlers.set('/introspect', (request, response, body) => {
    asked.push({ authorization: request.headers.authorization, body });
    sendJson(response, known.get(new URLSearchParams(body).get('token') ?? '') ?? { active: false });
  });
  const valid = { active: true, iss: issuer.url, sub: 'ada', client_id: 'editor', aud: AUDIENCE, exp: NOW() + 300 };
  const fixture = createAuth({
    issuer: { issuer: issuer.url, introspection: { clientId: 'mcp server', clientSecret: 'a:b c&d' } },
    ...options,
  });
  const status = async (token: string) => statusOf(await fixture.enter(token));
  return { issuer, known, asked, valid, ...fixture, status };
}

describe('introspection', () => {
  it('asks the issuer about an opaque token, as the client that it is for the issuer', async () => {
    const { known, asked, valid, enter, issuer } = await open();
    known.set('opaque', { ...valid, scope: 'mcp', username: 'Ada' });
    expect(await enter('opaque')).toEqual({
      subject: 'ada',
      issuer: issuer.url,
      clientId: 'editor',
      kind: 'user',
      scopes: ['mcp'],
      expiresAt: valid.exp * 1000 + 5000,
      claims: expect.objectContaining({ username: 'Ada' }),
    });
    // form encoding, then base64 (RFC 6749, section 2.3.1)
    const authorization = `Basic ${Buffer.from('mcp+server:a%3Ab+c%26d').toString('base64')}`;
    expect(asked).toEqual([{ authorization, body: 'token=opaque&token_type_hint=access_token' }]);
  });

  it('knows the token of a client by its client id', async () => {
    const { known, valid, enter } = await open();
    known.set('machine', { ...valid, sub: undefined });
    expect(await enter('machine')).toMatchObject({ subject: 'editor', kind: 'client' });
  });

  it('is not asked about JWTs, which are verified here', async () => {
    const { issuer, asked, status } = await open();
    expect(await status(issuer.sign({ aud: AUDIENCE }))).toBe(200);
    expect(await status(issuer.sign({ aud: AUDIENCE, exp: 1 }))).toBe(401);
    expect(await status(issuer.sign({ aud: AUDIENCE, iss: 'https://evil.example' }))).toBe(401);
    expect(asked).toEqual([]);
  });

  it.each([
    ['inactive', 'inactive', { active: false }, 'the token is not active'],
    ['active in another way', 'inactive', { active: 'true' }, 'the token is not active'],
    ['for another audience', 'audience', { aud: 'https://other.example.com' }, 'aud is "https://other.example.com"'],
    ['for nobody in particular', 'audience', { aud: undefined }, 'aud is missing'],
    ['expired', 'expired', { exp: 1 }, 'exp is 1'],
    ['valid for ever', 'expiry', { exp: undefined }, 'exp is missing'],
    ['of another issuer', 'inactive', { iss: 'https://evil.example' }, 'iss is "https://evil.example"'],
    ['a DPoP token', 'inactive', { token_type: 'DPoP' }, 'token_type is "DPoP"'],
    ['of several types', 'inactive', { token_type: ['Bearer'] }, 'token_type is ["Bearer"]'],
    ['bound to a certificate', 'sender-constrained', { cnf: { 'x5t#S256': 'x' } }, undefined],
    ['of nobody', 'subject', { sub: undefined, client_id: undefined }, 'sub is missing'],
    ['of somebody without a name', 'subject', { sub: '' }, 'sub is missing'],
    ['of a number', 'subject', { sub: 7 }, 'sub is missing'],
  ])('refuses a token that is %s [AUTHRS-08]', async (_what, reason, answer, found) => {
    const { known, valid, enter, events } = await open();
    known.set('opaque', { ...valid, ...answer });
    const headers = { 'www-authenticate': expect.stringContaining('error="invalid_token"') };
    expect(await enter('opaque')).toMatchObject({ status: 401, headers });
    expect([events.at(-1)?.reason, events.at(-1)?.found]).toEqual([reason, found]);
  });

  it.each(['Bearer', 'bearer', 'BEARER', undefined])('knows tokens of the type %s', async (type) => {
    const { known, valid, status } = await open();
    known.set('opaque', { ...valid, iss: undefined, token_type: type });
    expect(await status('opaque')).toBe(200);
  });

  it('is remembered for 30 seconds if a token is valid, and for 5 if it is not', async () => {
    const { known, asked, valid, status, clock } = await open();
    known.set('good', valid);
    const times = async (token: string, seconds: number) => {
      clock.ahead = seconds * 1000;
      await status(token);
      return asked.filter(({ body }) => body.includes(token)).length;
    };
    expect([await times('good', 0), await times('good', 29), await times('good', 30)]).toEqual([1, 1, 2]);
    clock.ahead = 0;
    expect([await times('bad', 0), await times('bad', 4), await times('bad', 5)]).toEqual([1, 1, 2]);
  });

  it('is remembered no longer than the token is valid', async () => {
    const { known, asked, valid, status, clock } = await open();
    known.set('good', { ...valid, exp: NOW() + 10 });
    await status('good');
    clock.ahead = 16_000;
    await status('good');
    expect(asked).toHaveLength(2);
  });

  it('remembers at most 10,000 refusals', async () => {
    const { TokenCache } = await import('../src/token-cache.js');
    const cache = new TokenCache<number>();
    for (let n = 0; n <= 10_000; n++) cache.set(`${n}`, n, 10);
    expect([cache.get('0', 0), cache.get('1', 0), cache.get('10000', 0)]).toEqual([undefined, 1, 10_000]);
  });

  it('asks once for simultaneous requests with one token', async () => {
    const { known, asked, valid, status } = await open();
    known.set('good', valid);
    expect(await Promise.all([status('good'), status('good'), status('good')])).toEqual([200, 200, 200]);
    expect(asked).toHaveLength(1);
  });

  it('is a 503 if the issuer is away or does not know this server, and is not remembered', async () => {
    const { issuer, known, valid, status, events } = await open();
    known.set('good', valid);
    issuer.handlers.set('/introspect', (_request, response) => void response.writeHead(401).end());
    expect(await status('good')).toBe(503);
    expect(events.at(-1)).toMatchObject({ reason: 'introspection-failed', found: expect.stringContaining('401') });
    issuer.handlers.set('/introspect', (_request, response) => sendJson(response, valid));
    expect(await status('good')).toBe(200);
    await issuer.stop();
    expect([await status('good'), await status('other')]).toEqual([200, 503]);
  });

  /** Lets the issuer hold its answers. `arrived` waits for a number of questions; `release` answers some or all. */
  function hold({ issuer, known }: Awaited<ReturnType<typeof open>>) {
    const answers: (() => void)[] = [];
    let wanted = Number.POSITIVE_INFINITY;
    let full = () => {};
    let isHeld = true;
    issuer.handlers.set('/introspect', (_request, response, body) => {
      const answer = () =>
        sendJson(response, known.get(new URLSearchParams(body).get('token') ?? '') ?? { active: false });
      if (!isHeld) return answer();
      if (answers.push(answer) >= wanted) full();
    });
    return {
      arrived: (count: number) =>
        new Promise<void>((resolve) => {
          [wanted, full] = [count, resolve];
          if (answers.length >= wanted) resolve();
        }),
      release: (count = Number.POSITIVE_INFINITY) => {
        isHeld = count < answers.length;
        for (const answer of answers.splice(0, count)) answer();
      },
    };
  }

  it('serves the new token of one address while another sends 130 garbage tokens at once (#22)', async () => {
    const opened = await open();
    const { known, valid, enter, events } = opened;
    known.set('good', valid);
    const { arrived, release } = hold(opened);
    const garbage = Array.from({ length: 130 }, (_, n) => enter(`garbage-${n}`, '203.0.113.7'));
    await arrived(25);
    const good = enter('good', '203.0.113.8');
    await arrived(26);
    release();
    expect(await good).toMatchObject({ subject: 'ada' });
    const statuses = (await Promise.all(garbage)).map(statusOf);
    expect([statuses.filter((each) => each === 401).length, statuses.filter((each) => each === 503).length]).toEqual([
      25, 105,
    ]);
    expect(events.filter(({ reason }) => reason === 'busy')).toHaveLength(105);
  });

  it.each([
    ['a network of IPv6', (n: number) => `2001:db8:0:7::${n.toString(16)}`],
    ['no known address', () => 'unix socket'],
  ])('counts all that come from %s as one address (#22)', async (_what, from) => {
    const opened = await open();
    const { enter } = opened;
    const { arrived, release } = hold(opened);
    const garbage = Array.from({ length: 25 }, (_, n) => enter(`garbage-${n}`, from(n)));
    await arrived(25);
    expect(statusOf(await enter('one-too-many', from(99)))).toBe(503);
    const other = enter('other', '203.0.113.8');
    await arrived(26);
    release();
    expect(statusOf(await other)).toBe(401);
    await Promise.all(garbage);
    // those that were answered do not count
    expect(statusOf(await enter('later', from(99)))).toBe(401);
  });

  it('lets one more token of an address wait for each that was answered', async () => {
    const opened = await open();
    const { enter } = opened;
    const address = '203.0.113.7';
    await Promise.all([enter('earlier', address), enter('beside', address)]);
    const { arrived, release } = hold(opened);
    const answers = Array.from({ length: 25 }, (_, n) => enter(`token-${n}`, address));
    await arrived(25);
    release(1);
    await Promise.race(answers);
    answers.push(enter('one-more', address));
    await arrived(25);
    expect(statusOf(await enter('one-too-many', address))).toBe(503);
    release();
    expect(new Set((await Promise.all(answers)).map(statusOf))).toEqual(new Set([401]));
  });

  it('lets at most 100 tokens of all addresses wait, and answers 503 to others', async () => {
    const opened = await open();
    const { enter, events } = opened;
    // those that were answered do not count
    expect(statusOf(await enter('earlier'))).toBe(401);
    const { arrived, release } = hold(opened);
    const answers = Array.from({ length: 100 }, (_, n) => enter(`token-${n}`, `203.0.113.${n % 4}`));
    await arrived(100);
    expect(statusOf(await enter('one-too-many', '203.0.113.200'))).toBe(503);
    expect(events.at(-1)).toMatchObject({ reason: 'busy' });
    release();
    expect(new Set((await Promise.all(answers)).map(statusOf))).toEqual(new Set([401]));
    expect(statusOf(await enter('one-later', '203.0.113.200'))).toBe(401);
  });

  it('does not refuse the token of a busy issuer because another issuer does not know it (#22)', async () => {
    const [one, two] = [await open(), await open()];
    const credentials = { clientId: 'a', clientSecret: 'b' };
    const { enter, clock } = createAuth({
      issuer: [one, two].map(({ issuer }) => ({ issuer: issuer.url, introspection: credentials })),
    });
    one.known.set('good', one.valid);
    const { arrived, release } = hold(one);
    const garbage = Array.from({ length: 25 }, (_, n) => enter(`garbage-${n}`));
    await arrived(25);
    expect(statusOf(await enter('good'))).toBe(503);
    release();
    await Promise.all(garbage);
    // not remembered either
    expect([clock.ahead, statusOf(await enter('good'))]).toEqual([0, 200]);
  });

  it('leaves the tokens that no issuer knows to the application', async () => {
    const issuer = await openIssuer();
    issuer.handlers.set('/introspect', (_request, response) => sendJson(response, { active: false }));
    const introspection = { clientId: 'a', clientSecret: 'b' };
    const { enter } = createAuth({
      issuer: { issuer: issuer.url, introspection },
      verify: (token) => (token === 'own' ? { subject: 'bob' } : undefined),
    });
    expect(await enter('own')).toEqual({ subject: 'bob' });
    expect(statusOf(await enter('other'))).toBe(401);
  });

  it('asks several issuers in turn, and never knows less because one is away', async () => {
    const [one, two] = [await open(), await open()];
    const credentials = { clientId: 'a', clientSecret: 'b' };
    const { enter } = createAuth({
      issuer: [one, two].map(({ issuer }) => ({ issuer: issuer.url, introspection: credentials })),
    });
    two.known.set('two', two.valid);
    expect(await enter('two')).toMatchObject({ issuer: two.issuer.url });
    await one.issuer.stop();
    two.known.set('three', two.valid);
    expect(statusOf(await enter('three'))).toBe(200);
    expect(statusOf(await enter('four'))).toBe(503);
  });
});
