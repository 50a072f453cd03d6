// The metadata of issuers, and the documents that the server publishes.
import { AUTH, type AuthDocument } from '@decorum/http';
import { describe, expect, it } from '@jest/globals';

import { AUDIENCE, createAuth, headWith, openIssuer, sendJson, statusOf } from './fixture.js';

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

const ISSUER = 'https://id.example.com';
const CORS = { 'access-control-allow-origin': '*' };

const find = ({ documents }: { documents: readonly AuthDocument[] }, path: string) =>
  documents.find((document) => document.path === path) as AuthDocument;

const answer = async (document: AuthDocument, url = document.path) =>
  await document.answer({
    ...headWith({ host: 'evil.example', 'x-forwarded-host': 'evil.example' }),
    method: 'GET',
    url,
  });

const pathsOf = ({ documents }: { documents: readonly AuthDocument[] }) => documents.map(({ path }) => path);

describe('the metadata of the resource', () => {
  it('is at the root and with the path inserted, and says the same in both places', async () => {
    const { auth } = createAuth({ issuer: [ISSUER, 'https://two.example.com/tenant'], scopes: ['mcp', 'files:read'] });
    const paths = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'];
    expect(pathsOf(auth[AUTH])).toEqual([...paths, '/.well-known/oauth-authorization-server']);
    for (const path of paths) {
      const { status, headers, body = '' } = await answer(find(auth[AUTH], path));
      expect([status, headers]).toEqual([
        200,
        { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=300', ...CORS },
      ]);
      expect(JSON.parse(body)).toEqual({
        resource: 'https://mcp.example.com/mcp',
        authorization_servers: [ISSUER, 'https://two.example.com/tenant'],
        scopes_supported: ['mcp', 'files:read'],
        bearer_methods_supported: ['header'],
      });
    }
  });

  it('leaves out scopes if there are none, and names the resource as the operator writes it', async () => {
    const { auth } = createAuth({ issuer: ISSUER, audience: 'api://files', resource: 'https://MCP.example.com/a/b/' });
    expect(pathsOf(auth[AUTH])).toContain('/.well-known/oauth-protected-resource/a/b');
    const { body = '' } = await answer(find(auth[AUTH], '/.well-known/oauth-protected-resource'));
    expect(JSON.parse(body)).toEqual({
      resource: 'https://MCP.example.com/a/b/',
      authorization_servers: [ISSUER],
      bearer_methods_supported: ['header'],
    });
  });

  it.each(['https://mcp.example.com', 'https://mcp.example.com/'])('of %s is in one place', (audience) => {
    const { auth } = createAuth({ issuer: ISSUER, audience });
    expect(pathsOf(auth[AUTH])).toEqual([
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-authorization-server',
    ]);
  });
});

describe('the metadata of the authorization server', () => {
  it('is the first issuer’s, byte for byte', async () => {
    const issuer = await openIssuer();
    const text = `{ "issuer" : "${issuer.url}", "x":"\\u00e9é" }\n`;
    issuer.handlers.set(OAUTH, (_request, response) => void response.end(text));
    const { auth } = createAuth({ issuer: [issuer.url, ISSUER] });
    expect(await answer(find(auth[AUTH], OAUTH))).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=300', ...CORS },
      body: text,
    });
  });

  it('is a 502 that nobody caches if it cannot be had, and asks the issuer at most every 30 seconds', async () => {
    const issuer = await openIssuer();
    issuer.publish({ issuer: 'https://evil.example' });
    const { auth, clock } = createAuth({ issuer: issuer.url });
    const document = find(auth[AUTH], OAUTH);
    for (let n = 0; n < 5; n++) {
      expect(await answer(document)).toMatchObject({ status: 502, headers: { ...CORS, 'cache-control': 'no-store' } });
    }
    expect(issuer.count(OAUTH)).toBe(1);
    issuer.publish({});
    clock.ahead = 30_000;
    expect(await answer(document)).toMatchObject({ status: 200 });
    // kept while the issuer is away
    await issuer.stop();
    clock.ahead += 2 * 60 * 60 * 1000;
    expect(await answer(document)).toMatchObject({ status: 200 });
  });
});

describe('the endpoints for clients that read no metadata', () => {
  it('are redirects to those of the first issuer, with the query', async () => {
    const issuer = await openIssuer();
    const { auth } = createAuth({ issuer: issuer.url, legacyEndpoints: true });
    for (const [path, post] of [
      ['/authorize', false],
      ['/token', true],
      ['/register', true],
    ] as const) {
      const document = find(auth[AUTH], path);
      expect(document.answersPost).toBe(post);
      expect(await answer(document, `${path}?a=b%20c&a=//evil.example`)).toEqual({
        status: 307,
        headers: { location: `${issuer.url}${path}?a=b%20c&a=//evil.example`, ...CORS },
      });
      expect(await answer(document)).toMatchObject({ headers: { location: `${issuer.url}${path}` } });
    }
  });

  it('keep the query of an endpoint', async () => {
    const issuer = await openIssuer();
    issuer.publish({ authorization_endpoint: `${issuer.url}/go?tenant=1` });
    const { auth } = createAuth({ issuer: issuer.url, legacyEndpoints: true });
    const { headers } = await answer(find(auth[AUTH], '/authorize'), '/authorize?state=x');
    expect(headers).toMatchObject({ location: `${issuer.url}/go?tenant=1&state=x` });
  });

  it('are a 502 if the issuer has no such endpoint, or only an unsafe one', async () => {
    const issuer = await openIssuer();
    issuer.publish({ registration_endpoint: undefined, token_endpoint: 'http://evil.example/' });
    const { auth } = createAuth({ issuer: issuer.url, legacyEndpoints: true });
    expect(await answer(find(auth[AUTH], '/register'))).toMatchObject({ status: 502 });
    expect(await answer(find(auth[AUTH], '/token'))).toMatchObject({ status: 502 });
  });

  it('are absent by default', () => {
    expect(pathsOf(createAuth({ issuer: ISSUER }).auth[AUTH])).not.toContain('/authorize');
  });
});
