// The endpoints as HTTP: where they are, which methods and origins they take, and what the worst requests get.
import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';

import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { eachRevision } from '../../../../test/support/requirements.js';
import { rawRequest } from '../../../../test/support/raw-http.js';
import { Browser } from './browser.js';
import { Client, PASSWORD, register, REDIRECT, sendForm } from './client.js';
import { createAuth, pass, serve, type Site, stopClock } from './site.js';

stopClock();

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const METADATA = '/.well-known/oauth-authorization-server';
const ENDPOINTS = ['/authorize', '/token', '/register', '/revoke', '/jwks'];
const FOR_CLIENTS = ['/token', '/register', '/revoke', '/jwks', METADATA, '/.well-known/openid-configuration'];

let site: Site;
let client: Client;
beforeAll(async () => {
  site = await serve();
  client = await Client.register(site);
});

const jsonOf = async (url: string, headers = {}) => {
  const response = await fetch(url, { headers });
  return response.status === 200 ? ((await response.json()) as Record<string, unknown>) : response.status;
};

const wholeFlow = async (of: Site, replaced = {}) => {
  const app = await Client.register(of);
  const { access_token: token, refresh_token: next } = await app.connect(replaced);
  const { status } = await app.refresh(next);
  return [status, await app.call(token), (await app.revoke(token)).status, await app.call(token)];
};
const WORKS = [200, 200, 200, 401];

describe('the metadata', () => {
  const rows = ['AUTH25-03', 'AUTH25-04', 'AUTH25-05', 'AUTHAS-02', 'AUTHAS-03', 'AUTHAS-04', 'AUTHX-02'] as const;
  eachRevision(rows, 'is at the root of the origin, and leads to endpoints that are there', async (revision) => {
    const metadata = await jsonOf(site.origin + METADATA, { 'mcp-protocol-version': revision });
    const at = (path: string) => site.issuer + path;
    expect(metadata).toEqual({
      issuer: site.issuer,
      authorization_endpoint: at('/authorize'),
      token_endpoint: at('/token'),
      registration_endpoint: at('/register'),
      revocation_endpoint: at('/revoke'),
      jwks_uri: at('/jwks'),
      scopes_supported: ['mcp', 'notes:write', 'admin'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'PS256', 'EdDSA'],
      revocation_endpoint_auth_methods_supported: expect.arrayContaining(['none', 'client_secret_basic']),
      revocation_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'PS256', 'EdDSA'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    });
    expect(await jsonOf(`${site.origin}/.well-known/openid-configuration`)).toEqual(metadata);
    expect(await jsonOf(at('/jwks'))).toEqual({
      keys: [
        {
          kty: 'EC',
          crv: 'P-256',
          use: 'sig',
          alg: 'ES256',
          kid: expect.any(String),
          x: expect.any(String),
          y: expect.any(String),
        },
      ],
    });
    expect((await register(site, { redirect_uris: [REDIRECT] })).status).toBe(201);
  });

  eachRevision('AUTH25-06', 'is not needed by a client that uses the default endpoints', async () => {
    const metadata = await jsonOf(site.origin + METADATA);
    for (const [member, path] of Object.entries({
      authorization_endpoint: '/authorize',
      token_endpoint: '/token',
      registration_endpoint: '/register',
    }))
      expect(metadata).toMatchObject({ [member]: site.origin + path });
    expect(await wholeFlow(site)).toEqual(WORKS);
  });

  it('of an issuer with a path is at all three places, and the endpoints are below the path', async () => {
    const tenant = await serve({ path: '/auth/a' });
    const places = [
      `${METADATA}/auth/a`,
      '/.well-known/openid-configuration/auth/a',
      '/auth/a/.well-known/openid-configuration',
    ];
    for (const place of places) {
      expect(await jsonOf(tenant.origin + place)).toMatchObject({
        issuer: tenant.issuer,
        token_endpoint: `${tenant.origin}/auth/a/token`,
      });
    }
    expect(await jsonOf(`${tenant.origin}/.well-known/oauth-protected-resource/mcp`)).toMatchObject({
      authorization_servers: [tenant.issuer],
    });
    expect(await wholeFlow(tenant)).toEqual(WORKS);
    for (const path of ENDPOINTS) expect([path, await jsonOf(tenant.origin + path)]).toEqual([path, 404]);
    const { answer } = await (await Client.register(tenant)).authorize();
    expect(answer['iss']).toBe(tenant.issuer);
  });

  eachRevision('AUTHAS-05', 'has no registration endpoint if there is none, and the path gets 404', async () => {
    const closed = await serve({
      registration: false,
      clients: [{ clientId: 'app', redirectUris: [REDIRECT], name: 'The app' }],
    });
    expect(await jsonOf(closed.origin + METADATA)).not.toHaveProperty('registration_endpoint');
    expect((await register(closed, { redirect_uris: [REDIRECT] })).status).toBe(404);
    const app = new Client(closed, 'app');
    expect((await app.signIn(new Browser())).text).toContain("Comes from This server's own list of apps");
    expect(await app.call((await app.connect()).access_token)).toBe(200);
    expect((await register(site, { redirect_uris: [REDIRECT] })).status).toBe(201);
  });
});

eachRevision('AUTH25-11', 'the endpoints are at https, or on this machine if that is allowed', () => {
  const at = (origin: string, allowLoopbackHttp: boolean) => () => createAuth(origin, { allowLoopbackHttp });
  expect(at('https://mcp.example.com', false)).not.toThrow();
  expect(at('http://localhost:3000', true)).not.toThrow();
  for (const allowed of [true, false]) expect(at('http://mcp.example.com', allowed)).toThrow('must use https');
  expect(at('http://localhost:3000', false)).toThrow('must use https');
});

describe('the host of a request', () => {
  const forged = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' };

  it('must be ours', async () => {
    for (const path of [...ENDPOINTS, '/interaction/x']) {
      const { status } = await rawRequest(site.origin + path, { method: 'GET', headers: { host: 'evil.example' } });
      expect([path, status]).toEqual([path, 403]);
    }
  });

  it('that a header claims appears in no document, redirect, page or cookie', async () => {
    for (const path of [METADATA, '/jwks'])
      expect(JSON.stringify(await jsonOf(site.origin + path, forged))).not.toContain('evil');
    const browser = new Browser(forged);
    const page = await client.signIn(browser);
    expect(page.action.startsWith(site.origin)).toBe(true);
    const { answer } = await browser.submit(page, {}, 'Allow');
    expect(answer['iss']).toBe(site.issuer);
    expect(browser.received.join()).not.toMatch(/evil|domain/i);
    for (const path of browser.followed) expect(path).toMatch(/^\/(?:authorize|interaction)\//);
  });
});

describe('methods and origins', () => {
  const send = async (path: string, method: string, headers = {}) =>
    await fetch(site.origin + path, { method, headers, redirect: 'manual' });

  it('other than those of an endpoint get 405 with what is allowed', async () => {
    const allowed: Record<string, string> = { '/authorize': 'GET', '/jwks': 'GET', '/interaction/x': 'GET' };
    for (const path of [...ENDPOINTS, '/interaction/x', '/authorize/x']) {
      for (const method of ['PUT', 'DELETE', 'PATCH', 'GET', 'POST']) {
        const allow = allowed[path] ?? (path === '/authorize/x' ? 'GET' : 'POST');
        if (method === allow || path.startsWith('/interaction')) continue;
        const response = await send(path, method);
        expect([path, method, response.status, response.headers.get('allow')]).toEqual([path, method, 405, allow]);
      }
    }
  });

  it('HEAD gets the headers of GET', async () => {
    expect((await send('/jwks', 'HEAD')).status).toBe(200);
    const { pathname, search } = new URL(client.url());
    const response = await send(pathname + search, 'HEAD');
    expect([response.status, response.headers.get('location')]).toEqual([
      303,
      expect.stringContaining('/interaction/'),
    ]);
    expect((await send('/authorize?client_id=x', 'HEAD')).status).toBe(400);
    expect((await send('/token', 'HEAD')).status).toBe(405);
  });

  it('let pages of all origins act as clients, also when an error is answered', async () => {
    const origin = { origin: 'https://client.example' };
    for (const path of FOR_CLIENTS) {
      const { status, headers } = await send(path, 'OPTIONS', {
        ...origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      });
      expect([path, status, headers.get('access-control-allow-origin')]).toEqual([path, 204, '*']);
      expect(headers.get('access-control-allow-headers')).toMatch(/authorization/i);
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
    for (const path of ['/token', '/register', '/revoke']) {
      const { status, headers } = await send(path, 'POST', origin);
      expect([path, status >= 400, headers.get('access-control-allow-origin')]).toEqual([path, true, '*']);
    }
    for (const path of ['/authorize', '/interaction/x']) {
      const { headers } = await send(path, 'OPTIONS', { ...origin, 'access-control-request-method': 'GET' });
      expect([path, headers.get('access-control-allow-origin')]).toEqual([path, null]);
    }
  });
});

describe('what /token gets wrong', () => {
  const token = async (body: string, headers = {}) => {
    const answer = await sendForm(`${site.issuer}/token`, body, headers);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    return [answer.status, answer.body['error']];
  };

  it.each([
    ['nothing', '', [400, 'invalid_request']],
    ['no grant type', 'client_id=CLIENT', [400, 'invalid_request']],
    ['an unknown grant type', 'client_id=CLIENT&grant_type=magic', [400, 'unsupported_grant_type']],
    ['an unknown client', 'client_id=nobody&grant_type=refresh_token&refresh_token=x', [401, 'invalid_client']],
    ['no client', 'grant_type=refresh_token&refresh_token=x', [400, 'invalid_request']],
    ['no refresh token', 'client_id=CLIENT&grant_type=refresh_token', [400, 'invalid_request']],
    ['an unknown refresh token', 'client_id=CLIENT&grant_type=refresh_token&refresh_token=x', [400, 'invalid_grant']],
    [
      'a code that names a property',
      'client_id=CLIENT&grant_type=authorization_code&code=__proto__&redirect_uri=x&code_verifier=x',
      [400, 'invalid_grant'],
    ],
    ['NUL', 'client_id=CLIENT&grant_type=refresh_token&refresh_token=%00', [400, 'invalid_grant']],
    ['a lone surrogate', 'client_id=CLIENT&grant_type=refresh_token&refresh_token=%ED%A0%80', [400, 'invalid_grant']],
    [
      'a parameter twice',
      'client_id=CLIENT&grant_type=refresh_token&refresh_token=x&refresh_token=y',
      [400, 'invalid_request'],
    ],
    [
      'two clients',
      'client_id=CLIENT&client_id=other&grant_type=refresh_token&refresh_token=x',
      [400, 'invalid_request'],
    ],
    ['10,000 parameters', `client_id=CLIENT&${'a=&'.repeat(3000)}`, [400, 'invalid_request']],
  ])('%s', async (_what, body, expected) => {
    expect(await token(body.replace('CLIENT', client.id))).toEqual(expected);
  });

  it('JSON, or a type that is no form, is an invalid request', async () => {
    for (const type of ['application/json', 'text/plain', 'multipart/form-data', ''])
      expect([type, ...(await token(`{"client_id":"${client.id}"}`, { 'content-type': type }))]).toEqual([
        type,
        400,
        'invalid_request',
      ]);
  });
});

beforeEach(() => void site.logged.splice(0));

describe('bodies', () => {
  it('of more than 16 KiB get 413, and the client can read that', async () => {
    const junk = 'x'.repeat(1024 * 1024);
    for (const path of ['/token', '/register', '/revoke', '/interaction/x']) {
      for (const length of [16 * 1024 + 1, junk.length]) {
        const { status, body } = await rawRequest(site.origin + path, { headers: FORM, body: junk.slice(0, length) });
        expect([path, length, status, body]).toEqual([path, length, 413, expect.stringContaining('invalid_request')]);
      }
    }
    const metadata = { redirect_uris: [REDIRECT], client_name: 'x'.repeat(16 * 1024) };
    expect((await register(site, metadata)).status).toBe(413);
  });

  it('that take longer than 10 seconds get 408, and their connection ends', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'hrtime'] });
    const { port } = new URL(site.origin);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`POST /token HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 1000\r\n\r\ngrant_type=`);
    const answer = textOf(socket);
    while (jest.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));
    jest.advanceTimersByTime(10_000);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 .*invalid_request/s);
  });

  it('that are cut off have no effect, and the server goes on', async () => {
    const { port } = new URL(site.origin);
    for (const path of ['/token', '/register', '/interaction/x']) {
      const socket = connect(Number(port), '127.0.0.1');
      await once(socket, 'connect');
      socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 1000\r\n\r\n{"redirect_uris":`);
      socket.end();
      await once(socket.resume(), 'close');
    }
    expect(site.logged).toEqual([]);
    expect(await wholeFlow(site)).toEqual(WORKS);
  });
});

describe('the limits of an address', () => {
  const addresses = ['192.0.2.1', '2001:db8::1', '192.0.2.1, 198.51.100.7'];
  let proxied: Site;
  let direct: Site;
  beforeAll(async () => {
    proxied = await serve({ trustProxy: true });
    direct = await serve();
  });
  const statusOf = async (of: Site, headers: Record<string, string>) => {
    const { status, body, headers: sent } = await register(of, { redirect_uris: [REDIRECT] }, headers);
    return status === 429 ? [status, body['error'], sent.get('retry-after')] : status;
  };
  const fill = async (of: Site, headers = {}) => {
    for (let n = 0; n < 20; n++) expect(await statusOf(of, headers)).toBe(201);
  };
  const FULL = [429, 'slow_down', '3600'];

  it('are 20 registrations an hour, whatever address a header claims (defence 13)', async () => {
    await fill(direct);
    expect(await statusOf(direct, {})).toEqual(FULL);
    for (const address of addresses) expect(await statusOf(direct, { 'x-forwarded-for': address })).toEqual(FULL);
    pass(3_600_000);
    expect(await statusOf(direct, {})).toBe(201);
  });

  it('count by the last address that a trusted proxy appends', async () => {
    for (const address of addresses) {
      await fill(proxied, { 'x-forwarded-for': address });
      expect(await statusOf(proxied, { 'x-forwarded-for': address })).toEqual(FULL);
    }
    expect(await statusOf(proxied, { 'x-forwarded-for': `203.0.113.9, 192.0.2.1` })).toEqual(FULL);
    expect(await statusOf(proxied, { 'x-forwarded-for': '2001:db8::ffff:1' })).toEqual(FULL);
    expect(await statusOf(proxied, { 'x-forwarded-for': '192.0.2.1, 203.0.113.9' })).toBe(201);
  });

  it('are 120 authorization requests a minute', async () => {
    const url = (await Client.register(direct)).url();
    const visit = async () => await fetch(url, { redirect: 'manual' });
    for (let n = 0; n < 120; n++) expect((await visit()).status).toBe(303);
    const { status, headers } = await visit();
    expect([status, headers.get('retry-after')]).toEqual([429, '60']);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    pass(60_000);
    expect((await visit()).status).toBe(303);
  });

  it('are 240 forms a minute, each of which may send a user upstream', async () => {
    const browser = new Browser();
    const page = await browser.open((await Client.register(direct)).url());
    const send = async () => await browser.post(page.action, { ...page.hidden, decision: 'unknown' });
    for (let n = 0; n < 240; n++) expect((await send()).status).toBe(400);
    const { status, headers } = await send();
    expect([status, headers.get('retry-after')]).toEqual([429, '60']);
    pass(60_000);
    expect((await send()).status).toBe(400);
  });
});

describe('fields of the sign-in page', () => {
  it('may have anything in them', async () => {
    const browser = new Browser();
    const page = await browser.open(client.url());
    for (const name of [
      '\0',
      '\ud800',
      '<script>',
      '"><b>',
      '\u202e',
      'x'.repeat(5000),
      '__proto__',
      'constructor',
      '',
    ]) {
      const again = await browser.submit(page, { 'User name': name, Password: `${name}\0` }, 'Sign in');
      expect([name, again.status, again.text]).toEqual([name, 200, expect.stringContaining('password is wrong')]);
      expect(again.html).not.toMatch(/<script|<b>/);
    }
    expect(site.logged).toEqual([]);
    const retry = new Browser();
    const consent = await retry.submit(
      await retry.open(client.url()),
      { 'User name': 'bob', Password: PASSWORD },
      'Sign in',
    );
    expect(consent.text).toContain('Your account bob');
  });

  it('may have anything in the state and the name of the client, which come back as they were', async () => {
    const states = ['\0', '\ud800', 'a b+c%20&d=#\r\nx: y', '<b>', '💥'.repeat(100), ' '];
    for (const state of states) {
      const { answer } = await client.authorize({ state });
      expect(answer['state']).toBe(Buffer.from(state).toString());
    }
  });
});
