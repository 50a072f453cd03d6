// Authorization requests: what is sent back to the client, and what must not be.
import { beforeAll, describe, expect, it } from '@jest/globals';

import { eachRevision, itShows } from '../../../../test/support/requirements.js';
import { Browser, type Page } from './browser.js';
import { Client, partsOf, PASSWORD, register, REDIRECT } from './client.js';
import { directory, pass, serve, type Site, stopClock } from './site.js';

stopClock();

let site: Site;
let client: Client;
beforeAll(async () => {
  const [alice, bob, nobody] = [
    { subject: 'alice' },
    { subject: 'bob', scopes: ['mcp'] },
    { subject: 'nobody', scopes: ['other'] },
  ];
  site = await serve({ users: directory([alice, bob, nobody]), redirectSchemes: ['cursor'] });
  client = await Client.register(site);
});

const open = async (of: Client, replaced = {}) => await new Browser().open(of.url(replaced));

/** A page that says what is wrong, and leads nowhere. */
function expectPage({ status, headers, text, html }: Page): void {
  expect([status, headers.get('location'), headers.get('content-type')]).toEqual([
    400,
    null,
    'text/html; charset=utf-8',
  ]);
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(text).toContain('This request does not work');
  expect(html).not.toMatch(/<(?:a|form|script|meta http-equiv)\b/);
}

const NEAR_MISSES = [
  `${REDIRECT}/`,
  `${REDIRECT}/more`,
  `${REDIRECT}?x=1`,
  `${REDIRECT}#x`,
  REDIRECT.slice(0, -1),
  'https://app.example/',
  'https://app.example/Callback',
  'https://app.example/a/../callback',
  'https://app.example/%63allback',
  'https://app.example//callback',
  'https://app.example:443/callback',
  'https://app.example:8443/callback',
  'https://app.example./callback',
  'https://app.example.evil.example/callback',
  'https://app.example@evil.example/callback',
  'https://evil.example\\@app.example/callback',
  'https://evil.example/https://app.example/callback',
  'https://user@app.example/callback',
  'http://app.example/callback',
  'HTTPS://APP.EXAMPLE/callback',
  ' https://app.example/callback',
  'https://app.example/callback\n',
  '//app.example/callback',
  '/callback',
  'javascript:alert(1)',
  'data:text/html,x',
  'cursor://app.example/callback',
];

describe('a request that must not lead back', () => {
  it.each([
    ['an unknown client', { client_id: 'nobody' }],
    ['no client', { client_id: undefined }],
    ['a client id that is no text', { client_id: '\0' }],
    ['a client id that names a property', { client_id: '__proto__' }],
    ['a document at a private address', { client_id: 'https://127.0.0.1/client.json' }],
  ])('gets a page: %s', async (_what, replaced) => expectPage(await open(client, replaced)));

  it('gets a page that says what to do if its registration is gone', async () => {
    expect((await open(client, { client_id: 'nobody' })).text).toContain('Remove this server from the app, and add it');
  });

  eachRevision(
    ['AUTHAS-10', 'AUTHAS-14', 'SEC-05'],
    'gets a page: redirects are compared exactly (defence 6)',
    async () => {
      for (const uri of NEAR_MISSES) {
        const page = await open(client, { redirect_uri: uri });
        expect([uri, page.status]).toEqual([uri, 400]);
        expectPage(page);
        // whatever else is wrong with it
        expectPage(
          await open(client, { redirect_uri: uri, code_challenge: undefined, scope: 'x', response_type: 'token' }),
        );
      }
    },
  );

  it('gets a page: of a loopback redirect, only the port is free', async () => {
    const native = await Client.register(site, {
      redirect_uris: ['http://127.0.0.1:1234/callback', 'cursor://auth/done'],
    });
    for (const uri of ['http://127.0.0.1:9/callback', 'http://127.0.0.1/callback', 'cursor://auth/done'])
      expect([uri, (await open(native, { redirect_uri: uri })).text]).toEqual([
        uri,
        expect.stringContaining('Sign in'),
      ]);
    for (const uri of [
      'http://127.0.0.1:9/other',
      'http://localhost:9/callback',
      'http://127.0.0.2:9/callback',
      'http://[::1]:9/callback',
      'https://127.0.0.1:9/callback',
      'http://127.0.0.1:9@evil.example/callback',
      'cursor://auth/done/more',
      'cursor://evil/done',
    ])
      expectPage(await open(native, { redirect_uri: uri }));
  });

  it('gets a page, or leads to what the client has registered: two redirects or two clients in one request', async () => {
    expectPage(await new Browser().open(`${client.url()}&client_id=other`));
    const { redirect, answer } = await new Browser().open(`${client.url()}&redirect_uri=https%3A%2F%2Fevil.example%2F`);
    expect([redirect.origin + redirect.pathname, answer['error']]).toEqual([REDIRECT, 'invalid_request']);
  });
});

describe('a mistake of a known client', () => {
  const expectRedirect = async (
    replaced: Readonly<Record<string, string | undefined>>,
    error: string,
    name = 'alice',
  ) => {
    const page = await client.signIn(new Browser(), replaced, name).catch(async () => await open(client, replaced));
    const { redirect, answer, status } = page;
    expect([status, redirect.origin + redirect.pathname]).toEqual([303, REDIRECT]);
    const { error_description: _, ...rest } = answer;
    expect(rest).toEqual({ error, state: 'a state', iss: site.issuer });
  };

  const pkce = async () => {
    for (const replaced of [
      { code_challenge: undefined, code_challenge_method: undefined },
      { code_challenge: undefined },
      { code_challenge_method: undefined },
      { code_challenge_method: 'plain' },
      { code_challenge_method: 's256' },
      { code_challenge: 'short' },
      { code_challenge: '' },
    ])
      await expectRedirect(replaced, 'invalid_request');
  };
  eachRevision('AUTH25-13', 'is sent back: PKCE with S256 is required of all clients (defence 8)', pkce);

  itShows(
    [['AUTHAS-13', '2026-07-28']],
    'is sent back with `state` and `iss`, as a success is (defence 12)',
    async () => {
      await expectRedirect({ resource: 'https://other.example/mcp' }, 'invalid_target');
      await expectRedirect({ resource: `${site.resource}/x` }, 'invalid_target');
      await expectRedirect({ resource: site.origin }, 'invalid_target');
      await expectRedirect({ response_type: 'magic' }, 'unsupported_response_type');
      await expectRedirect({ response_type: undefined }, 'invalid_request');
      await expectRedirect({ request: 'a.b.c' }, 'request_not_supported');
      await expectRedirect({ prompt: 'none' }, 'login_required');
      const { answer } = await client.authorize();
      expect(answer).toEqual({ code: expect.any(String), state: 'a state', iss: site.issuer });
      const metadata = (await (await fetch(`${site.issuer}/.well-known/oauth-authorization-server`)).json()) as object;
      expect(metadata).toMatchObject({ authorization_response_iss_parameter_supported: true, issuer: site.issuer });
    },
  );

  it('is sent back: an answer that the metadata does not offer', async () => {
    for (const mode of ['fragment', 'form_post', 'web_message', 'jwt', ''])
      await expectRedirect({ response_mode: mode }, 'unsupported_response_mode');
    expect((await client.authorize({ response_mode: 'query' })).answer['code']).toBeDefined();
  });

  it('gets a page, and no script: an answer like that for a request that nobody has begun', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    for (const mode of ['form_post', 'fragment', 'query']) {
      const url = client.url({ response_mode: mode }).replace('/authorize?', '/authorize/abc?');
      const page = await new Browser().open(url, { headers });
      expect([page.status, page.headers.get('location')]).toEqual([400, null]);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  it('is none: a parameter for something that the metadata does not offer', async () => {
    const more = { dpop_jkt: 'k'.repeat(43), authorization_details: '[]', web_message_uri: 'https://other.example' };
    expect((await client.connect(more)).scope).toBe('mcp');
  });

  it('is sent back: a parameter that comes twice', async () => {
    for (const more of [
      'state=x',
      'scope=mcp',
      'response_mode=query&response_mode=form_post',
      'code_challenge=x',
      'response_type=code',
    ]) {
      const { answer } = await new Browser().open(`${client.url()}&${more}`);
      expect([more, answer['error']]).toEqual([more, 'invalid_request']);
    }
  });

  it('is sent back: Deny, also on behalf of a user who may grant nothing', async () => {
    const browser = new Browser();
    const { answer } = await browser.submit(await client.signIn(browser), {}, 'Deny');
    expect(answer).toEqual({
      error: 'access_denied',
      error_description: expect.any(String),
      state: 'a state',
      iss: site.issuer,
    });
    await expectRedirect({}, 'access_denied', 'nobody');
    await expectRedirect({ scope: 'notes:write' }, 'access_denied', 'bob');
    await expectRedirect({ scope: 'unknown' }, 'access_denied');
  });
});

it('parameters of OpenID Connect lead to a page or back, and never to an error of the server', async () => {
  const values = ['login', 'consent', 'login consent', 'select_account', 'none', '', '0', '-1', 'x', '{}', '\0'];
  const names = ['prompt', 'max_age', 'claims', 'id_token_hint', 'login_hint', 'acr_values', 'request_uri', 'dpop_jkt'];
  for (const name of [...names, 'registration', 'authorization_details', 'code_challenge_method', 'display', 'nonce']) {
    for (const value of values) {
      const { status } = await open(client, { [name]: value });
      expect([name, value, [200, 303, 400].includes(status)]).toEqual([name, value, true]);
    }
    // an hour of requests
    pass(60_000);
  }
  expect(site.logged).toEqual([]);
});

describe('scopes', () => {
  const granted = async (scope: string | undefined, name?: string) => (await client.connect({ scope }, name)).scope;

  it('are those of the option `scopes` if the client asks for none', async () => {
    expect(await granted(undefined)).toBe('mcp');
    expect(await granted('')).toBe('mcp');
  });

  it('that the user may not grant, or that do not exist, are left out of the page and of the token', async () => {
    const page = await client.signIn(new Browser(), { scope: 'mcp notes:write unknown' }, 'bob');
    expect(page.text).toContain('Use this server');
    expect(page.text).not.toMatch(/Change your notes|unknown/);
    expect(await granted('mcp notes:write unknown', 'bob')).toBe('mcp');
    expect(await granted('mcp notes:write toString')).toBe('mcp notes:write');
    // as clients ask that also speak OpenID Connect
    expect(await granted('openid profile offline_access mcp')).toBe('mcp');
  });

  it('of a registration do not limit what the client may ask for later', async () => {
    const narrow = await Client.register(site, { scope: 'mcp' });
    expect((await narrow.connect({ scope: 'mcp notes:write' })).scope).toBe('mcp notes:write');
  });

  it('come with a resource that is named twice, as with one', async () => {
    const browser = new Browser();
    const url = `${client.url()}&resource=${encodeURIComponent(site.resource)}`;
    const page = await browser.submit(await browser.open(url), { 'User name': 'alice', Password: PASSWORD }, 'Sign in');
    const { code = '' } = (await browser.submit(page, {}, 'Allow')).answer;
    expect((await client.exchange(code)).status).toBe(200);
  });

  it('come with a resource that is ours in any spelling, or ours without one', async () => {
    for (const resource of [undefined, site.resource, site.resource.replace('http:', 'HTTP:')]) {
      const { code = '' } = (await client.authorize({ resource })).answer;
      const { status, body } = await client.exchange(code, { resource });
      expect([resource, status]).toEqual([resource, 200]);
      expect(partsOf(body['access_token'] as string)[1]).toMatchObject({ aud: site.resource });
    }
  });
});

describe('a registration', () => {
  const refused = async (metadata: unknown) => {
    const { status, body } = await register(site, metadata);
    return [status, body['error']];
  };

  eachRevision(['AUTH25-12', 'AUTHAS-12'], 'accepts https and loopback redirects, and no others', async () => {
    for (const uri of [
      'http://evil.example/cb',
      'http://192.168.0.1/cb',
      'javascript:alert(1)',
      'data:,x',
      'other://x/y',
    ])
      expect([uri, ...(await refused({ redirect_uris: [uri] }))]).toEqual([uri, 400, 'invalid_redirect_uri']);
    for (const uri of ['https://a.example/cb', 'http://localhost/cb', 'http://127.0.0.1:7/cb', 'http://[::1]/cb'])
      expect([uri, ...(await refused({ redirect_uris: [uri] }))]).toEqual([uri, 201, undefined]);
  });

  it('gets an id and a secret of ours, and nothing else that it asks for (defence 5)', async () => {
    const sent = { client_id: 'mine', client_secret: 'mine', scope: 'admin', application_type: 'web', logo_uri: 'x' };
    const { status, body, headers } = await register(site, { redirect_uris: [REDIRECT], ...sent });
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(body).toEqual({
      client_id: expect.stringMatching(/^[\w-]{22}$/),
      client_id_issued_at: expect.any(Number),
      client_secret: expect.stringMatching(/^[\w-]{43}$/),
      client_secret_expires_at: 0,
      redirect_uris: [REDIRECT],
      application_type: 'web',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
    });
  });

  it.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['nothing', ''],
    ['another object', '{"__proto__":{"redirect_uris":["https://a.example/"]}}'],
    ['no authorization code', { redirect_uris: [REDIRECT], grant_types: ['client_credentials'] }],
    ['an unknown method', { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'magic' }],
  ])('of %s is refused', async (_what, metadata) => {
    const [status, error] = await refused(metadata);
    expect([status, error]).toEqual([400, expect.stringMatching(/^invalid_(?:client_metadata|redirect_uri)$/)]);
  });
});
