import { describe, expect, it } from '@jest/globals';

import { AUDIENCE, createAuth, openIssuer, sendJson, statusOf } from './fixture.js';

const OAUTH = '/.well-known/oauth-authorization-server';
const OIDC = '/.well-known/openid-configuration';

async function open(path = '') {
  const issuer = await openIssuer(undefined, path);
  const fixture = createAuth({ issuer: issuer.url });
  const status = async () => statusOf(await fixture.enter(issuer.sign({ aud: AUDIENCE })));
  return { issuer, ...fixture, status };
}

describe('discovery', () => {
  it('reads the metadata of RFC 8414, with the path of the issuer at the end', async () => {
    const { issuer, status } = await open('/tenant/one');
    expect(await status()).toBe(200);
    expect(issuer.requests).toEqual([`${OAUTH}/tenant/one`, '/tenant/one/jwks']);
  });

  it('falls back to OpenID Connect, with the path of the issuer at the beginning', async () => {
    const { issuer, status } = await open('/tenant');
    issuer.handlers.delete(`${OAUTH}/tenant`);
    issuer.handlers.set(`/tenant${OIDC}`, (_request, response) => sendJson(response, issuer.metadata));
    expect(await status()).toBe(200);
    expect(issuer.requests).toEqual([`${OAUTH}/tenant`, `/tenant${OIDC}`, '/tenant/jwks']);
  });

  it('asks no issuer before the first token', async () => {
    const { issuer, status } = await open();
    expect(issuer.requests).toEqual([]);
    expect(await status()).toBe(200);
  });

  it.each([
    ['with a slash', (url: string) => `${url}/`],
    ['in another case', (url: string) => url.replace('http', 'HTTP')],
    ['of somebody else', () => 'https://evil.example'],
    ['missing', () => undefined],
  ])('refuses metadata whose issuer is %s', async (_what, change) => {
    const { issuer, status, logged } = await open();
    const metadata = { ...issuer.metadata, issuer: change(issuer.url) };
    for (const path of [OAUTH, OIDC]) issuer.handlers.set(path, (_request, response) => sendJson(response, metadata));
    expect(await status()).toBe(503);
    expect(issuer.count('/jwks')).toBe(0);
    expect(logged.join()).toContain('names the issuer');
  });

  it('asks again one second after a failure, and no sooner (#22)', async () => {
    const { issuer, status, clock } = await open();
    issuer.handlers.set(OAUTH, (_request, response) => void response.end('<title>Maintenance</title>'));
    expect(await status()).toBe(503);
    issuer.publish({});
    clock.ahead += 999;
    expect([await status(), issuer.count(OAUTH)]).toEqual([503, 1]);
    clock.ahead += 1;
    expect([await status(), issuer.count(OAUTH)]).toEqual([200, 2]);
  });

  it('waits as long as a 429 asks for, which may be that of only one of the two documents (#22)', async () => {
    const { issuer, status, clock } = await open();
    issuer.handlers.set(OAUTH, (_request, response) => void response.writeHead(429, { 'retry-after': '20' }).end());
    expect(await status()).toBe(503);
    issuer.publish({});
    clock.ahead += 19_999;
    expect([await status(), issuer.count(OAUTH)]).toEqual([503, 1]);
    clock.ahead += 20_000;
    expect(await status()).toBe(200);
  });

  it('that is stale serves while the issuer fails (#22)', async () => {
    const { issuer, enter, clock } = await open();
    const status = async () => statusOf(await enter(issuer.sign({ aud: AUDIENCE, exp: Date.now() / 1000 + 1e6 })));
    expect(await status()).toBe(200);
    issuer.handlers.set(OAUTH, (_request, response) => void response.writeHead(503).end());
    clock.ahead = 2 * 60 * 60 * 1000;
    expect([await status(), issuer.count('/jwks'), issuer.count(OAUTH)]).toEqual([200, 2, 2]);
  });

  it('keeps the slash at the end of an issuer', async () => {
    const { issuer } = await open();
    const slashed = `${issuer.url}/`;
    issuer.publish({ issuer: slashed });
    const { enter } = createAuth({ issuer: slashed });
    expect(statusOf(await enter(issuer.sign({ aud: AUDIENCE, iss: slashed })))).toBe(200);
    expect(statusOf(await enter(issuer.sign({ aud: AUDIENCE })))).toBe(401);
  });

  it('follows no redirect [SEC-18]', async () => {
    const { issuer, status } = await open();
    const evil = await openIssuer();
    issuer.handlers.set(OAUTH, (_request, response) => {
      response.writeHead(307, { location: `${evil.url}${OAUTH}` }).end();
    });
    expect(await status()).toBe(503);
    expect(evil.requests).toEqual([]);
  });

  it.each(['http://keys.example.com/jwks', 'file:///etc/passwd', 'https://user:secret@example.com/jwks', 7, undefined])(
    'fetches no keys from %j',
    async (url) => {
      const { issuer, status } = await open();
      issuer.publish({ jwks_uri: url });
      expect(await status()).toBe(503);
    },
  );
});
