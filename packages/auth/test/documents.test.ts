import type { AuthDocument } from '@decorum/http';
import { AUTH } from '@decorum/http';
import { describe, expect, it } from '@jest/globals';

import { createAuth, headWith, openIssuer } from './fixture.js';

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
  const PATH = '/.well-known/oauth-authorization-server';

  it('is the first issuer’s, byte for byte', async () => {
    const issuer = await openIssuer();
    const text = `{ "issuer" : "${issuer.url}", "x":"\\u00e9é" }\n`;
    issuer.handlers.set(PATH, (_request, response) => void response.end(text));
    const { auth } = createAuth({ issuer: [issuer.url, ISSUER] });
    expect(await answer(find(auth[AUTH], PATH))).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=300', ...CORS },
      body: text,
    });
  });

  it('is a 502 that nobody caches if it cannot be had, and asks the issuer at most every 30 seconds', async () => {
    const issuer = await openIssuer();
    issuer.publish({ issuer: 'https://evil.example' });
    const { auth, clock } = createAuth({ issuer: issuer.url });
    const document = find(auth[AUTH], PATH);
    for (let n = 0; n < 5; n++) {
      expect(await answer(document)).toMatchObject({ status: 502, headers: { ...CORS, 'cache-control': 'no-store' } });
    }
    expect(issuer.count(PATH)).toBe(1);
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
