// A server in front of a provider that registers no clients.
import { createServer, type ServerResponse } from 'node:http';

import { describe, expect, it } from '@jest/globals';

import { auth0, entra, keycloak, okta } from '@decorum/auth';

import { eachRevision } from '../../../../test/support/requirements.js';
import { rawRequest } from '../../../../test/support/raw-http.js';
import { authorizationServer, github, google, UpstreamError } from '../../src/index.js';
import type { UpstreamOptions } from '../../src/upstream/upstream-options.js';
import { Browser, type Page } from './browser.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Change } from '../../src/store/auth-store.js';
import { Client, REDIRECT, type Tokens } from './client.js';
import { listenOn, pass, serve, type Site, type SiteOptions, stopClock } from './site.js';
import { SECRET, UpstreamSite } from './upstream-site.js';

stopClock();

/** A user at the consent page of a server in front of an upstream. */
class Visitor {
  readonly browser = new Browser();
  /** At the upstream, which has cookies of its own. */
  readonly upstreamBrowser = new Browser();

  constructor(readonly client: Client) {}

  async open(parameters = {}): Promise<Page> {
    return await this.browser.open(this.client.url(parameters));
  }

  /** Allows access, and signs in upstream. Returns where the upstream sends the browser. */
  async allow(page: Page): Promise<string> {
    const sent = await this.browser.submit(page, {}, 'Allow');
    return (await this.upstreamBrowser.open(sent.redirect.href)).redirect.href;
  }

  async connect(parameters = {}): Promise<Tokens> {
    const back = await this.browser.open(await this.allow(await this.open(parameters)));
    const { status, body } = await this.client.exchange(back.answer['code'] as string);
    if (status !== 200) throw new Error(`The exchange failed: ${JSON.stringify(body)}`);
    return body as unknown as Tokens;
  }
}

async function delegated(more: Partial<UpstreamOptions> = {}, rest: SiteOptions = {}) {
  const upstream = await UpstreamSite.serve();
  const options = {
    issuer: upstream.issuer,
    clientId: 'decorum',
    clientSecret: SECRET,
    name: 'staff',
    scopes: ['calendar'],
  };
  const site = await serve({ ...rest, upstream: { ...options, ...more } });
  upstream.know(`${site.issuer}/upstream/callback`);
  return { upstream, site, visitor: new Visitor(await Client.register(site)) };
}

describe('A server in front of another provider', () => {
  const first = 'asks for consent first, naming what it will ask for there, and then signs the user in (defence 1)';
  eachRevision(['SEC-01', 'SEC-03'], first, async () => {
    const { visitor, site } = await delegated();
    const page = await visitor.open();
    expect(page.text).toMatch(/calls itself Notebook .*Use this server.*staff, this server will ask for.*calendar/);
    expect(page.text).toContain(visitor.client.redirect);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const stolen = await visitor.browser.post(page.action, { ...page.fields({}, 'Allow'), csrf: 'x' });
    expect([stolen.status, stolen.headers.get('location')]).toEqual([400, null]);
    const back = await visitor.browser.open(await visitor.allow(page));
    expect(back.answer).toEqual({ code: expect.any(String), state: 'a state', iss: site.issuer });
    const { body } = await visitor.client.exchange(back.answer['code'] as string);
    const { text } = await site.call(body['access_token'] as string);
    expect(text).toContain('staff|u-1');
    expect(site.events.map(({ type, subject, allowed }) => [type, subject, allowed])).toEqual([
      ['registered', undefined, undefined],
      ['login', 'staff|u-1', true],
      ['consent', 'staff|u-1', true],
    ]);
  });

  it('protects the request to the upstream with state, PKCE and nonce (defences 7 and 8)', async () => {
    const { visitor, upstream } = await delegated({ parameters: { access_type: 'offline' } });
    const { redirect } = await visitor.browser.submit(await visitor.open(), {}, 'Allow');
    expect(redirect.origin).toBe(upstream.issuer);
    const random = expect.stringMatching(/^[\w-]{43}$/);
    expect(Object.fromEntries(redirect.searchParams)).toMatchObject({
      client_id: 'decorum',
      scope: 'openid profile calendar',
      code_challenge_method: 'S256',
      access_type: 'offline',
      state: random,
      nonce: random,
      code_challenge: random,
    });
    const cookie = visitor.browser.received.find((each) => each.startsWith('upstream-'));
    expect(cookie).toMatch(/^upstream-[\w-]+=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
  });

  const cookieRow = 'keeps the cookie of an approval to itself over https, and binds it to one client (defence 3)';
  eachRevision('SEC-04', cookieRow, async () => {
    const upstream = await UpstreamSite.serve();
    const options = { issuer: upstream.issuer, clientId: 'decorum', clientSecret: SECRET, name: 'staff', scopes: [] };
    const resource = 'https://mcp.example.com/mcp';
    const { origin } = await serve({ resource, upstream: options });
    upstream.know('https://mcp.example.com/upstream/callback');
    const send = async (path: string, cookie = '', body?: string) =>
      await rawRequest(origin + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { host: 'mcp.example.com', cookie, 'content-type': 'application/x-www-form-urlencoded' },
        ...(body !== undefined && { body }),
      });
    const cookiesOf = ({ headers }: Awaited<ReturnType<typeof send>>) => headers['set-cookie'] ?? [];
    const registered = await send('/register', '', JSON.stringify({ redirect_uris: [REDIRECT] }));
    const { client_id: id } = JSON.parse(registered.body) as { client_id: string };
    const client = new Client({ issuer: origin, resource } as Site, id);
    const begun = await send(client.url().slice(origin.length));
    const jar = cookiesOf(begun).map((cookie) => cookie.split(';', 1)[0]);
    const page = new URL(String(begun.headers.location)).pathname;
    const csrf = /name="csrf" value="([^"]+)"/.exec((await send(page, jar.join('; '))).body)?.[1];
    const sent = await send(page, jar.join('; '), `csrf=${csrf}&decision=allow`);
    const name = /^__Host-upstream-[\w-]+=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/;
    expect([sent.status, cookiesOf(sent)]).toEqual([303, [expect.stringMatching(name)]]);
    for (const cookie of cookiesOf(begun)) expect(cookie).toMatch(/; secure/i);
  });

  const once = 'takes an answer only once, from the browser that has allowed, within 10 minutes (defences 3 and 7)';
  eachRevision('SEC-06', once, async () => {
    const { visitor } = await delegated();
    const location = await visitor.allow(await visitor.open());
    const refused = { status: 400, text: expect.stringContaining('no longer valid') };
    const forged = new URL(location);
    forged.searchParams.set('state', 'x'.repeat(43));
    expect(await new Browser().open(location)).toMatchObject(refused);
    expect(await visitor.browser.open(forged.href)).toMatchObject(refused);
    expect(await visitor.browser.open(`${location}&state=twice`)).toMatchObject(refused);
    expect((await visitor.browser.open(location)).answer).toHaveProperty('code');
    expect(await visitor.browser.open(location)).toMatchObject(refused);
    const late = await visitor.allow(await visitor.open());
    pass(10 * 60_000 + 1000);
    expect(await visitor.browser.open(late)).toMatchObject(refused);
  });

  it('gives an attacker nothing who has allowed, but not signed in, nor a victim who has signed in, but not allowed', async () => {
    const { visitor } = await delegated();
    const victim = new Browser();
    const sent = await visitor.browser.submit(await visitor.open(), {}, 'Allow');
    const back = (await visitor.upstreamBrowser.open(sent.redirect.href)).redirect.href;
    expect((await victim.open(back)).status).toBe(400);
    expect(victim.received).toEqual([]);
  });

  it.each([
    ['denied', 'access_denied', 'access_denied'],
    ['failed', 'temporarily_unavailable', 'server_error'],
  ])('tells the client that the user was refused upstream: %s', async (_name, refuses, error) => {
    const { visitor, upstream, site } = await delegated();
    upstream.refuses = refuses;
    const back = await visitor.browser.open(await visitor.allow(await visitor.open()));
    expect(back.answer).toMatchObject({ error, state: 'a state', iss: site.issuer });
    expect(back.answer).not.toHaveProperty('code');
  });

  it('tells the operator what the upstream says, such as of a wrong secret', async () => {
    const { visitor, site } = await delegated({ clientSecret: 'another secret' });
    const back = await visitor.browser.open(await visitor.allow(await visitor.open()));
    expect(back.answer).toMatchObject({ error: 'server_error' });
    expect(site.logged.join()).toMatch(/could not sign in upstream: .*invalid_client/);
    expect(site.logged.join()).not.toMatch(/\[object|another secret/);
  });

  it('asks nobody upstream if the user denies access here', async () => {
    const { visitor } = await delegated();
    const back = await visitor.browser.submit(await visitor.open(), {}, 'Deny');
    expect(back.answer).toMatchObject({ error: 'access_denied', state: 'a state' });
    expect(visitor.browser.received.filter((cookie) => cookie.startsWith('upstream-'))).toEqual([]);
  });

  it('shows a page that fails if the upstream is down, and goes on when it is back', async () => {
    const { visitor, upstream } = await delegated();
    const page = await visitor.open();
    const callback = `${visitor.client.site.issuer}/upstream/callback`;
    upstream.forgetServer();
    const failed = await visitor.browser.submit(page, {}, 'Allow');
    expect(failed.answer).toMatchObject({ error: 'server_error', state: 'a state' });
    upstream.know(callback);
    expect((await visitor.connect()).access_token).toEqual(expect.any(String));
  });

  it('lets the application decide who may sign in, and what they may grant', async () => {
    const user: UpstreamOptions['user'] = ({ id, claims }) => {
      expect(claims['sub']).toBe(id);
      return id === 'u-2' ? undefined : { name: 'User One', scopes: ['mcp'] };
    };
    const { visitor, upstream, site } = await delegated({ user });
    expect((await visitor.connect({ scope: 'mcp admin' })).scope).toBe('mcp');
    upstream.user = 'u-2';
    const other = new Visitor(visitor.client);
    const back = await other.browser.open(await other.allow(await other.open()));
    expect(back.answer).toMatchObject({ error: 'access_denied' });
    expect(site.events.at(-1)).toMatchObject({ type: 'login', allowed: false, subject: 'staff|u-2' });
  });

  it('signs nobody in if the application answers in an unknown way', async () => {
    let answer: unknown;
    const { visitor, site } = await delegated({ user: () => answer as undefined });
    answer = null;
    expect((await visitor.browser.open(await visitor.allow(await visitor.open()))).answer['error']).toBe(
      'access_denied',
    );
    for (answer of [
      false,
      true,
      'u-1',
      [],
      { scopes: 'notes:write' },
      { scopes: null },
      { scopes: [1] },
      { name: 5 },
    ]) {
      const { status } = await visitor.browser.open(await visitor.allow(await visitor.open()));
      expect([answer, status, site.logged.splice(0).join()]).toEqual([
        answer,
        500,
        expect.stringContaining('`user` of'),
      ]);
    }
  });

  it('remembers a consent only for the account that gave it', async () => {
    const { visitor, upstream } = await delegated({}, { remember: 30 });
    const page = await visitor.open();
    const sent = await visitor.browser.submit(page, { "Don't ask again for 30 days": 'yes' }, 'Allow');
    const back = (await visitor.upstreamBrowser.open(sent.redirect.href)).redirect.href;
    expect((await visitor.browser.open(back)).answer).toHaveProperty('code');
    const again = await visitor.open();
    expect(again.redirect.origin).toBe(upstream.issuer);
    expect((await visitor.open({ prompt: 'consent' })).status).toBe(200);
    const headers = { 'sec-fetch-site': 'cross-site' };
    const { url, status } = await visitor.browser.open(visitor.client.url(), { headers });
    expect(status).toBe(200);
    // as with a reload
    expect((await visitor.browser.open(url)).status).toBe(200);
    upstream.user = 'u-2';
    const other = await new Browser().open(again.redirect.href);
    const asked = await visitor.browser.open(other.redirect.href);
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining('Allow access?')]);
  });
});

eachRevision(
  'AUTH25-17',
  'A delegated sign-in leads only to registered URIs, ends if it idles, and leaks no credentials',
  async () => {
    const written: string[] = [];
    class WatchedStore extends MemoryStore {
      override async write(changes: readonly Change[]): Promise<boolean> {
        written.push(JSON.stringify(changes));
        return await super.write(changes);
      }
    }
    const store = new WatchedStore({}, { now: () => Date.now(), wait: async () => {} });
    const { visitor, upstream, site } = await delegated({}, { store });
    const foreign = await visitor.open({ redirect_uri: 'https://evil.example/callback' });
    expect([foreign.status, foreign.headers.get('location')]).toEqual([400, null]);
    const { access_token: token } = await visitor.connect();
    const { accessToken } = await site.auth.upstream(await site.auth.principalOf(token));
    expect(written.join()).not.toContain(accessToken);
    const idle = await visitor.open();
    pass(10 * 60_000);
    expect((await visitor.browser.submit(idle, {}, 'Allow')).status).toBe(400);
    const back = await visitor.allow(await visitor.open());
    upstream.forgetServer();
    const failed = await visitor.browser.open(back);
    expect(failed.answer).toMatchObject({ error: 'server_error', iss: site.issuer });
    expect(`${site.logged.join()}${JSON.stringify(site.events)}`).not.toMatch(new RegExp(`${accessToken}|${SECRET}`));
  },
);

describe('The token of the upstream', () => {
  it('is that of the caller, and is refreshed once, however many ask', async () => {
    const { visitor, upstream, site } = await delegated();
    const { access_token: token } = await visitor.connect();
    const principal = await site.auth.principalOf(token);
    const first = await site.auth.upstream(principal);
    expect(await site.auth.upstream(principal)).toEqual(first);
    const before = upstream.tokenRequests;
    pass(250_000);
    const next = await Promise.all([1, 2, 3].map(() => site.auth.upstream(principal)));
    expect(new Set(next.map(({ accessToken }) => accessToken)).size).toBe(1);
    expect(next[0]?.accessToken).not.toBe(first.accessToken);
    expect(upstream.tokenRequests - before).toBe(1);
  });

  eachRevision(['AUTH25-15', 'AUTH25-16'], 'ends our grant if the upstream has ended its own', async () => {
    const { visitor, upstream, site } = await delegated();
    const { access_token: token, refresh_token: refresh } = await visitor.connect();
    const principal = await site.auth.principalOf(token);
    pass(250_000);
    upstream.isForgetful = true;
    await expect(site.auth.upstream(principal)).rejects.toMatchObject({ name: 'UpstreamError', code: 'revoked' });
    expect((await site.call(token)).status).toBe(401);
    expect((await visitor.client.refresh(refresh)).body).toMatchObject({ error: 'invalid_grant' });
  });

  it('is forgotten with our grant, whoever has ended it', async () => {
    for (const end of [
      async ({ client }: Visitor, { refresh_token: token }: Tokens) => await client.revoke(token),
      async ({ client }: Visitor, { access_token: token }: Tokens) => await client.revoke(token),
      async ({ client }: Visitor, { refresh_token: token }: Tokens) => {
        await client.refresh((await client.refresh(token)).body['refresh_token'] as string);
        await client.refresh(token);
      },
    ]) {
      const { visitor, site } = await delegated();
      const tokens = await visitor.connect();
      const principal = await site.auth.principalOf(tokens.access_token);
      await site.auth.upstream(principal);
      await end(visitor, tokens);
      await expect(site.auth.upstream(principal)).rejects.toThrow(UpstreamError);
    }
  });

  it('is not kept if our grant ends while the upstream is asked', async () => {
    const { visitor, upstream, site } = await delegated();
    const tokens = await visitor.connect();
    const principal = await site.auth.principalOf(tokens.access_token);
    pass(250_000);
    upstream.beforeToken = async () => void (await visitor.client.revoke(tokens.refresh_token));
    await expect(site.auth.upstream(principal)).rejects.toMatchObject({ code: 'revoked' });
    await expect(site.auth.upstream(principal)).rejects.toMatchObject({ code: 'no-token' });
  });

  it('is not there for others, and may be there later if the upstream is down', async () => {
    const { visitor, upstream, site } = await delegated();
    const { access_token: token } = await visitor.connect();
    const principal = await site.auth.principalOf(token);
    for (const other of [undefined, { subject: 'staff|u-1' }, { ...principal, claims: { grant_id: 'unknown' } }]) {
      await expect(site.auth.upstream(other)).rejects.toMatchObject({ code: 'no-token' });
    }
    pass(250_000);
    upstream.forgetServer();
    await expect(site.auth.upstream(principal)).rejects.toThrow(UpstreamError);
    await expect(site.auth.upstream(principal)).rejects.toMatchObject({ code: 'unavailable' });
    expect((await site.call(token)).status).toBe(200);
  });
});

describe('A provider without OpenID Connect', () => {
  /** A visitor who comes back from GitHub with more parameters than `code` and `state`. */
  async function visit(user: string, more = '', token = {}) {
    const seen: string[] = [];
    const answer = (response: ServerResponse, body: string) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    };
    const origin = await listenOn(
      createServer((request, response) => {
        seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`.trim());
        if (request.url === '/user') return answer(response, user);
        const body = { access_token: 'of the upstream', token_type: 'bearer', scope: 'repo', ...token };
        answer(response, JSON.stringify(body));
      }),
    );
    const preset = github({ clientId: 'decorum', clientSecret: SECRET, scopes: ['repo'] });
    const endpoints = { authorization: `${origin}/authorize`, token: `${origin}/token`, user: `${origin}/user` };
    const site = await serve({ upstream: { ...preset, endpoints } });
    const { client, browser } = new Visitor(await Client.register(site));
    const page = await browser.open(client.url());
    const { redirect } = await browser.submit(page, {}, 'Allow');
    const callback = `${site.issuer}/upstream/callback?code=c&state=${redirect.searchParams.get('state')}${more}`;
    return { page, site, client, seen, back: await browser.open(callback) };
  }

  eachRevision('SEC-07', 'tells who has signed in by its API, and never sees a token of ours', async () => {
    const { page, site, client, seen, back } = await visit('{ "id": 583231, "login": "octocat" }');
    expect(page.text).toMatch(/At GitHub, this server will ask for.*repo/);
    const { body } = await client.exchange(back.answer['code'] as string);
    const principal = await site.auth.principalOf(body['access_token'] as string);
    expect(principal.subject).toBe('github|583231');
    expect(await site.auth.upstream(principal)).toEqual({ accessToken: 'of the upstream' });
    expect(seen).toEqual(['POST /token', 'GET /user Bearer of the upstream']);
  });

  it('may say who it is, and nobody else may (RFC 9207)', async () => {
    const { back } = await visit('{ "id": 1 }', '&iss=https://github.com/login/oauth');
    expect(back.answer['code']).toBeDefined();
    const { back: mixedUp } = await visit('{ "id": 1 }', '&iss=https://github.com');
    expect(mixedUp.answer).toMatchObject({ error: 'server_error' });
  });

  it('may give a token that lasts a minute and can not be refreshed', async () => {
    const { site, client, back } = await visit('{ "id": 1 }', '', { expires_in: 50 });
    const { body } = await client.exchange(back.answer['code'] as string);
    const principal = await site.auth.principalOf(body['access_token'] as string);
    expect(await site.auth.upstream(principal)).toMatchObject({ accessToken: 'of the upstream' });
    pass(50_000);
    await expect(site.auth.upstream(principal)).rejects.toMatchObject({ code: 'revoked' });
  });

  it('signs nobody in whose id is missing, or a number that JavaScript rounds', async () => {
    for (const id of ['9007199254740993', '1e400', '1.5', 'null', '""', '[1]', 'true']) {
      const { back } = await visit(`{ "id": ${id} }`);
      expect([id, back.answer['error']]).toEqual([id, 'server_error']);
    }
  });
});

it.each([
  ['Entra', entra({ tenant: '8eaef023-2b34-4da1-9baa-8bc8c9d6a490' })],
  ['Auth0', auth0({ domain: 'tenant.eu.auth0.com' })],
  ['Keycloak', keycloak({ url: 'https://id.example.com', realm: 'staff' })],
  ['Okta', okta({ domain: 'company.okta.com' })],
  ['Google', google({ clientId: 'decorum', clientSecret: SECRET })],
])('The preset of %s is an upstream with the client of this server', (_name, preset) => {
  const upstream = { clientId: 'decorum', clientSecret: SECRET, ...preset };
  const resource = 'https://mcp.example.com/mcp';
  expect(authorizationServer({ resource, consent: { mcp: 'Use this server' }, upstream }).upstream).toBeInstanceOf(
    Function,
  );
});
