import { describe, expect, it, jest } from '@jest/globals';

import { AUDIENCE, bearing, createAuth, createKey, openIssuer, sendJson, statusOf } from './fixture.js';

const [ONE, TWO] = [createKey('ES256', 'one'), createKey('ES256', 'two')];
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const JWKS = '/jwks';

async function open(options: Parameters<typeof createAuth>[0] = {}) {
  const issuer = await openIssuer([ONE]);
  const fixture = createAuth({ issuer: issuer.url, ...options });
  /** A token that is valid for days. */
  const token = (sub = 'ada', key = ONE) => issuer.sign({ aud: AUDIENCE, sub, exp: Date.now() / 1000 + 1e6 }, { key });
  const status = async (...of: Parameters<typeof token>) => statusOf(await fixture.enter(token(...of)));
  return { issuer, ...fixture, token, status };
}

describe('the keys of an issuer', () => {
  it('are fetched once, also for simultaneous first requests', async () => {
    const { issuer, status } = await open();
    expect(await Promise.all(['a', 'b', 'c'].map((sub) => status(sub)))).toEqual([200, 200, 200]);
    expect(issuer.count(JWKS)).toBe(1);
  });

  it('are fetched at most every 30 seconds for 1,000 unknown key ids', async () => {
    const { issuer, token, enter, clock } = await open({ cacheMs: 0 });
    expect(statusOf(await enter(token()))).toBe(200);
    const unknown = (n: number) => issuer.sign({ aud: AUDIENCE }, { header: { kid: `unknown-${n}` } });
    const fetched = [];
    for (let round = 0; round < 4; round++) {
      const answers = await Promise.all(Array.from({ length: 250 }, (_, n) => enter(unknown(round * 250 + n))));
      expect(new Set(answers.map(statusOf))).toEqual(new Set([401]));
      fetched.push(issuer.count(JWKS));
      clock.ahead += 15_000;
    }
    // the first fetch was for the valid token, at the same second as the first round
    expect(fetched).toEqual([1, 1, 2, 2]);
    expect(issuer.requests).toHaveLength(3);
  });

  it('are fetched again for the id of a new key', async () => {
    const { issuer, status, clock } = await open();
    expect(await status()).toBe(200);
    issuer.keys = [ONE, TWO];
    expect(await status('ada', TWO)).toBe(401);
    clock.ahead += 30_000;
    expect(await status('ada', TWO)).toBe(200);
  });

  it('stay in use while the issuer is away, for a day: known keys serve, unknown ones do not', async () => {
    const { issuer, status, clock, logged } = await open({ cacheMs: 0 });
    expect(await status()).toBe(200);
    await issuer.stop();
    for (const ahead of [10 * MINUTE, HOUR, 23 * HOUR]) {
      clock.ahead = ahead;
      expect([ahead, await status('ada'), await status('ada', TWO)]).toEqual([ahead, 200, 401]);
    }
    clock.ahead = 24 * HOUR + MINUTE;
    expect(await status()).toBe(503);
    expect(logged.at(-1)).toMatch(/ECONNREFUSED/);
    await issuer.start();
    expect(await status()).toBe(503);
    clock.ahead += 30_000;
    expect(await status()).toBe(200);
  });

  it('that were never fetched are a 503, and the issuer is asked again after 30 seconds', async () => {
    const { issuer, status, clock, enter, token } = await open();
    await issuer.stop();
    expect(await enter(token())).toEqual({ status: 503, headers: { 'retry-after': '5' } });
    await issuer.start();
    clock.ahead += 29_000;
    expect(await status()).toBe(503);
    expect(issuer.requests).toEqual([]);
    clock.ahead += 1000;
    expect(await status()).toBe(200);
  });

  it('end with their removal, and with them the tokens that they signed, also remembered ones', async () => {
    const { issuer, status, clock, token, enter } = await open();
    const remembered = token();
    expect(statusOf(await enter(remembered))).toBe(200);
    issuer.keys = [TWO];
    clock.ahead += 30_000;
    // nobody has asked the issuer yet
    expect(statusOf(await enter(remembered))).toBe(200);
    expect(await status('bob', TWO)).toBe(200);
    expect(statusOf(await enter(remembered))).toBe(401);
    expect(await status()).toBe(401);
  });

  it('are fetched again after five minutes, so that a removed key ends without new tokens', async () => {
    const { issuer, status, clock } = await open();
    expect(await status()).toBe(200);
    issuer.keys = [TWO];
    clock.ahead += 4 * MINUTE;
    expect(await status('bob')).toBe(200);
    clock.ahead += 2 * MINUTE;
    expect(await status('cyd')).toBe(401);
  });

  it('that stay let remembered tokens live on', async () => {
    const { auth, issuer, status, clock, token, enter } = await open();
    const remembered = token();
    expect(statusOf(await enter(remembered))).toBe(200);
    issuer.keys = [ONE, TWO];
    clock.ahead += 30_000;
    expect(await status('bob', TWO)).toBe(200);
    // without a promise: not verified again
    expect(auth.authenticate(bearing(remembered), undefined)).toMatchObject({ subject: 'ada' });
  });

  it('may move: after a failure the metadata is read again', async () => {
    const { issuer, status, clock } = await open({ cacheMs: 0 });
    expect(await status()).toBe(200);
    issuer.handlers.set('/moved', (_request, response) => sendJson(response, { keys: [TWO.jwk] }));
    issuer.handlers.set(JWKS, (_request, response) => void response.writeHead(404).end());
    const { metadata } = issuer;
    issuer.handlers.set('/.well-known/oauth-authorization-server', (_request, response) =>
      sendJson(response, { ...metadata, jwks_uri: `${issuer.url}/moved` }),
    );
    clock.ahead += 10 * MINUTE;
    expect(await status()).toBe(200);
    clock.ahead += MINUTE;
    expect(await status('ada', TWO)).toBe(200);
  });

  it.each([
    ['are not JSON', (text: string) => text.slice(1)],
    ['are a list', () => '[]'],
    ['are larger than 256 KiB', (text: string) => text + ' '.repeat(256 * 1024)],
    ['are not UTF-8', (text: string) => Buffer.from(text.replace('{', '{"x":"\u00ff",'), 'latin1')],
  ])('that %s are a 503', async (_what, change) => {
    const { issuer, status } = await open();
    issuer.handlers.set(JWKS, (_request, response) => void response.end(change(JSON.stringify({ keys: [ONE.jwk] }))));
    expect(await status()).toBe(503);
  });

  it('with anything but keys among them still serve', async () => {
    const { issuer, status } = await open();
    const keys = [
      null,
      7,
      {},
      { kty: 'oct', k: 'AAAA', kid: 'one' },
      { kty: 'EC', crv: 'P-256', kid: 'two' },
      { ...TWO.jwk, key_ops: 7 },
      { ...TWO.jwk, key_ops: 'verify' },
      ONE.jwk,
    ];
    issuer.handlers.set(JWKS, (_request, response) => sendJson(response, { keys }));
    expect(await status()).toBe(200);
    expect(await status('ada', TWO)).toBe(401);
  });

  it('are not followed to another place [SEC-18]', async () => {
    const { issuer, status } = await open();
    const evil = await openIssuer([ONE]);
    issuer.handlers.set(JWKS, (_request, response) => {
      response.writeHead(302, { location: `${evil.url}/jwks` }).end();
    });
    expect(await status()).toBe(503);
    expect(evil.requests).toEqual([]);
  });

  it('of an issuer that answers endlessly are given up after 256 KiB', async () => {
    const { issuer, status } = await open();
    const closed = new Promise<void>((resolve) => {
      issuer.handlers.set(JWKS, (_request, response) => {
        response.on('close', resolve);
        const more = (): void => {
          while (!response.destroyed && response.write(' '.repeat(65_536)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      });
    });
    expect(await status()).toBe(503);
    await closed;
  });

  it('of an issuer that never answers are given up after 5 seconds', async () => {
    const { issuer, token, enter } = await open();
    const asked = new Promise<void>((resolve) => issuer.handlers.set(JWKS, () => resolve()));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
    try {
      const answer = enter(token());
      await asked;
      jest.advanceTimersByTime(5000);
      expect(statusOf(await answer)).toBe(503);
    } finally {
      jest.useRealTimers();
    }
  });

  it('survive a clock that is set back', async () => {
    const { issuer, status, clock } = await open();
    clock.ahead = HOUR;
    expect(await status()).toBe(200);
    clock.ahead = 0;
    issuer.keys = [ONE, TWO];
    expect(await status('ada', TWO)).toBe(200);
  });
});
