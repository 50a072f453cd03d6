import { AUTH } from '@decorum/http';
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

  it('are fetched at most every 5 seconds for 1,000 unknown key ids (#22)', async () => {
    const { issuer, token, enter, clock } = await open({ cacheMs: 0 });
    expect(statusOf(await enter(token()))).toBe(200);
    const unknown = (n: number) => issuer.sign({ aud: AUDIENCE }, { header: { kid: `unknown-${n}` } });
    const fetched = [];
    for (let round = 0; round < 4; round++) {
      const answers = await Promise.all(Array.from({ length: 250 }, (_, n) => enter(unknown(round * 250 + n))));
      expect(new Set(answers.map(statusOf))).toEqual(new Set([401]));
      fetched.push(issuer.count(JWKS));
      clock.ahead += 2500;
    }
    // the first fetch was for the valid token, at the same second as the first round
    expect(fetched).toEqual([1, 1, 2, 2]);
    expect(issuer.requests).toHaveLength(3);
  });

  it('are found within 5 seconds after a change, also among unknown key ids, with 12 fetches a minute (#22)', async () => {
    const { issuer, enter, status, clock } = await open({ cacheMs: 0 });
    expect(await status()).toBe(200);
    const found: [second: number, status: number | undefined][] = [];
    for (let second = 0; second < 60; second++) {
      clock.ahead = second * 1000;
      const garbage = issuer.sign({ aud: AUDIENCE }, { header: { kid: `unknown-${second}` } });
      expect(statusOf(await enter(garbage))).toBe(401);
      if (second === 21) issuer.keys = [ONE, TWO];
      if (second >= 21) found.push([second, await status('ada', TWO)]);
    }
    expect(found.find(([, answer]) => answer === 200)?.[0]).toBe(25);
    expect(issuer.count(JWKS)).toBe(12);
  });

  it('are fetched at most 12 times a minute if the issuer fails every other time (#22)', async () => {
    const { issuer, enter, status, clock } = await open({ cacheMs: 0 });
    let asked = 0;
    issuer.handlers.set(JWKS, (_request, response) => {
      if (asked++ % 2 === 0) sendJson(response, { keys: [ONE.jwk] });
      else response.writeHead(500).end();
    });
    for (let at = 0; at < MINUTE; at += 500) {
      clock.ahead = at;
      await enter(issuer.sign({ aud: AUDIENCE }, { header: { kid: `unknown-${at}` } }));
    }
    expect(asked).toBe(12);
    expect(await status()).toBe(200);
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
    clock.ahead += 30_000;
    expect(await status()).toBe(200);
  });

  it('that were never fetched are a 503, and the issuer is asked again after 1, 2, 4, 8, 16 and 30 seconds (#22)', async () => {
    const { issuer, status, clock, enter, token } = await open();
    issuer.handlers.set(JWKS, (_request, response) => void response.writeHead(500).end());
    expect(await enter(token())).toEqual({ status: 503, headers: { 'retry-after': '5' } });
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      const before = issuer.count(JWKS);
      clock.ahead += seconds * 1000 - 1;
      expect([seconds, await status(), issuer.count(JWKS) - before]).toEqual([seconds, 503, 0]);
      clock.ahead += 1;
      expect([seconds, await status(), issuer.count(JWKS) - before]).toEqual([seconds, 503, 1]);
    }
    issuer.handlers.set(JWKS, (_request, response) => sendJson(response, { keys: [ONE.jwk] }));
    clock.ahead += 30_000;
    expect(await status()).toBe(200);
  });

  it('are served one second after the issuer, which was away, is back (#22)', async () => {
    const { issuer, status, clock } = await open();
    await issuer.stop();
    expect(await status()).toBe(503);
    await issuer.start();
    clock.ahead += 999;
    expect([await status(), issuer.requests]).toEqual([503, []]);
    clock.ahead += 1;
    expect(await status()).toBe(200);
  });

  it.each([
    ['20', [503, 200]],
    ['a date', [503, 200]],
    ['86400', [503, 503]],
    ['-1', [200, 200]],
    ['soon', [200, 200]],
  ])('are asked for again after `Retry-After: %s`, or 30 seconds if that is less (#22)', async (what, statuses) => {
    const { issuer, status, clock } = await open();
    const after = what === 'a date' ? new Date(Date.now() + 20_000).toUTCString() : what;
    issuer.handlers.set(JWKS, (_request, response) => void response.writeHead(429, { 'retry-after': after }).end());
    expect(await status()).toBe(503);
    issuer.handlers.set(JWKS, (_request, response) => sendJson(response, { keys: [ONE.jwk] }));
    const found = [];
    for (const ahead of [15_000, 20_000]) {
      clock.ahead = ahead;
      found.push(await status());
    }
    expect(found).toEqual(statuses);
    clock.ahead = 30_000;
    expect(await status()).toBe(200);
  });

  it.each([
    ['an empty set', { keys: [] }],
    ['no key', { keys: [null, 7, {}, { kty: 7 }, [ONE.jwk]] }],
    ['a web page', '<!doctype html><title>Maintenance</title>'],
    ['half of an answer', undefined],
  ])('stay in use if the issuer sends %s: it has failed, not revoked them (#22)', async (_what, answer) => {
    const { issuer, status, clock, token, enter, logged } = await open();
    const remembered = token();
    expect(statusOf(await enter(remembered))).toBe(200);
    issuer.handlers.set(JWKS, (_request, response) => {
      if (answer === undefined) response.writeHead(200, { 'content-length': '100' }).write('{"keys":[');
      if (answer === undefined) setImmediate(() => response.destroy());
      else response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
    clock.ahead = 10 * MINUTE;
    expect([await status('bob'), statusOf(await enter(remembered))]).toEqual([200, 200]);
    expect(issuer.count(JWKS)).toBe(2);
    expect(logged).toEqual([]);
    // and for a server that has none yet, they are unavailable
    const { enter: first } = createAuth({ issuer: issuer.url });
    expect(statusOf(await first(token()))).toBe(503);
  });

  it('end with their removal, also if the issuer then has only keys for encryption (#22)', async () => {
    const { issuer, status, clock } = await open({ cacheMs: 0 });
    expect(await status()).toBe(200);
    issuer.handlers.set(JWKS, (_request, response) => sendJson(response, { keys: [{ ...TWO.jwk, use: 'enc' }] }));
    clock.ahead = 10 * MINUTE;
    expect(await status()).toBe(401);
  });

  it.each(['an answer', 'the end of an answer'])(
    'stay in use while the issuer is asked and never sends %s: nobody waits for more than a second (#22)',
    async (what) => {
      const { issuer, status, clock } = await open({ cacheMs: 0 });
      expect(await status()).toBe(200);
      clock.ahead = 10 * MINUTE;
      const asked = new Promise<void>((resolve) =>
        issuer.handlers.set(JWKS, (_request, response) => {
          if (what === 'the end of an answer') response.writeHead(200).write('{"keys":[');
          resolve();
        }),
      );
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
      try {
        const first = status();
        await asked;
        jest.advanceTimersByTime(1000);
        expect(await first).toBe(200);
        // without another second
        expect(await Promise.all([status('bob'), status('cyd')])).toEqual([200, 200]);
        expect(issuer.count(JWKS)).toBe(2);
        const unknown = status('ada', TWO);
        jest.advanceTimersByTime(4000);
        expect([await unknown, await status()]).toEqual([401, 200]);
      } finally {
        jest.useRealTimers();
      }
    },
  );

  it('of one issuer do not wait for another issuer that hangs (#22)', async () => {
    const [one, two] = [await openIssuer([ONE]), await openIssuer([TWO])];
    const { enter } = createAuth({ issuer: [one.url, two.url] });
    const asked = new Promise<void>((resolve) => one.handlers.set(JWKS, () => resolve()));
    const waiting = enter(one.sign({ aud: AUDIENCE }));
    await asked;
    expect(statusOf(await enter(two.sign({ aud: AUDIENCE })))).toBe(200);
    await one.stop();
    expect(statusOf(await waiting)).toBe(503);
  });

  it('serve if one is listed twice, or several share an id but not a type; several of one type do not (#22)', async () => {
    const { issuer, status, clock } = await open({ cacheMs: 0 });
    const rsa = createKey('RS256', 'one');
    const other = createKey('ES256', 'one');
    let keys: object[] = [ONE.jwk, { ...ONE.jwk }, { ...ONE.jwk, alg: undefined, x5c: ['AAAA'] }, rsa.jwk];
    issuer.handlers.set(JWKS, (_request, response) => sendJson(response, { keys }));
    expect([await status(), await status('bob', rsa)]).toEqual([200, 200]);
    keys = [ONE.jwk, other.jwk];
    clock.ahead = 10 * MINUTE;
    expect([await status(), await status('bob', other)]).toEqual([401, 401]);
  });

  it('without ids serve tokens without an id, if only one can have signed them (#22)', async () => {
    const { issuer, enter, clock } = await open({ cacheMs: 0 });
    let keys: object[] = [{ ...ONE.jwk, kid: undefined }];
    issuer.handlers.set(JWKS, (_request, response) => sendJson(response, { keys }));
    const status = async (kid?: string) => statusOf(await enter(issuer.sign({ aud: AUDIENCE }, { header: { kid } })));
    expect([await status(), await status('one')]).toEqual([200, 401]);
    keys = [...keys, { ...TWO.jwk, kid: undefined }];
    clock.ahead = 10 * MINUTE;
    expect(await status()).toBe(401);
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
    expect(auth[AUTH].authenticate(bearing(remembered), undefined)).toMatchObject({ subject: 'ada' });
  });

  it('may move: after a failure the metadata is read again', async () => {
    const { issuer, status, clock } = await open({ cacheMs: 0 });
    expect(await status()).toBe(200);
    issuer.handlers.set('/moved', (_request, response) => sendJson(response, { keys: [TWO.jwk] }));
    issuer.handlers.set(JWKS, (_request, response) => void response.writeHead(404).end());
    issuer.publish({ jwks_uri: `${issuer.url}/moved` });
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
