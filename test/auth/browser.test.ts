// People sign in and consent in a real browser.
import { createHash, randomBytes } from 'node:crypto';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';

import { findChromium, startChromium } from '../../scripts/chromium.js';
import { freePort } from '../support/dev-project.js';
import { Callback, embed, type Embedded, PASSWORD, Sites } from './embedded.js';
import { Program } from './processes.js';

const CHROMIUM = findChromium();

/** An authorization request of a client, with what it needs to get its token. */
interface Request {
  readonly url: string;
  readonly state: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
}

/** Registers a client, and begins its sign-in. */
async function begin(at: Embedded, redirectUri: string, scope = 'mcp notes:write'): Promise<Request> {
  const registered = await fetch(`${at.origin}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Note Taker',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
    }),
  });
  const { client_id: clientId } = (await registered.json()) as { client_id: string };
  return authorizationOf(at, { redirectUri, clientId, scope });
}

/** An authorization request of a registered client. */
function authorizationOf(
  at: Embedded,
  { redirectUri, clientId, scope }: { redirectUri: string; clientId: string; scope: string },
): Request {
  const [verifier, state] = [randomBytes(32).toString('base64url'), randomBytes(8).toString('base64url')];
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: `${at.issuer}/mcp`,
  });
  return { url: `${at.issuer}/authorize?${query}`, state, clientId, redirectUri, verifier };
}

/** What a client sends for its token. */
const codeForm = ({ clientId, redirectUri, verifier }: Request, code: string) =>
  new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code,
    code_verifier: verifier,
  });

/** Exchanges a code, and calls a tool with the token. */
async function whoAmI(at: Embedded, request: Request, code: string): Promise<unknown> {
  const answer = await fetch(`${at.origin}/token`, { method: 'POST', body: codeForm(request, code) });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const called = await fetch(`${at.origin}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'whoami',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', _meta: meta } }),
  });
  const { result } = (await called.json()) as { result: { content: { text: string }[] } };
  return JSON.parse(result.content[0]?.text ?? '');
}

if (CHROMIUM === undefined) {
  process.stderr.write('browser.test.ts: no Chromium was found. Install one, or name it in CHROMIUM.\n');
  it('no test runs in a browser, because there is none', () => {
    expect(findChromium()).toBeUndefined();
  });
} else inChromium(CHROMIUM);

function inChromium(path: string): void {
  let browser: Browser;
  let servers: Record<'http' | 'https', Embedded>;
  let callback: Callback;
  let sites: Sites;
  let context: BrowserContext;
  let page: Page;
  /** What the browser writes to its console, such as violations of the content security policy. */
  let complaints: string[];

  beforeAll(async () => {
    const [http, https] = await Promise.all([embed('http'), embed('https')]);
    servers = { http, https };
    [browser, callback, sites] = await Promise.all([startChromium(path), Callback.open(), Sites.open()]);
  });

  afterAll(async () => {
    await browser.close();
    callback.close();
    sites.close();
    await Promise.all(Object.values(servers).map((each) => each.close()));
  });

  beforeEach(async () => {
    context = await browser.newContext({ ignoreHTTPSErrors: true });
    complaints = [];
    context.on('console', (message) => complaints.push(message.text()));
    context.on('weberror', (error) => complaints.push(error.error().message));
    page = await context.newPage();
  });

  afterEach(async () => {
    await context.close();
  });

  const press = async (name: string, on = page) => await on.getByRole('button', { name }).click();
  const signIn = async (name: string, password = PASSWORD, on = page) => {
    await on.getByLabel('User name').fill(name);
    await on.getByLabel('Password').fill(password);
    await press('Sign in', on);
  };
  const asked = async (on = page) => {
    await on.getByRole('heading', { name: 'Allow access?' }).waitFor();
    return await on.getByRole('main').innerText();
  };

  describe.each(['http', 'https'] as const)('in Chromium, over %s,', (protocol) => {
    it('a user signs in and allows, and the client calls a tool (#25)', async () => {
      const at = servers[protocol];
      const request = await begin(at, callback.url);
      await page.goto(request.url);
      expect(await page.getByRole('main').innerText()).toContain('Note Taker');
      await signIn('alice', 'wrong');
      expect(await page.getByRole('alert').innerText()).toBe('The user name or the password is wrong.');
      // the name is kept, and the password is typed again
      expect(await page.locator(':focus').getAttribute('name')).toBe('password');
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press('Enter');
      const text = await asked();
      const { host } = new URL(callback.url);
      for (const part of ['Note Taker', host, 'Alice Adams', 'Use this server', 'Change your notes']) {
        expect(text).toContain(part);
      }
      const cookies = await context.cookies();
      const session = new RegExp(`^${protocol === 'https' ? '__Host-' : ''}session-[\\da-f]{8}$`);
      expect(cookies.map(({ name }) => name)).toContainEqual(expect.stringMatching(session));
      for (const cookie of cookies) {
        expect(cookie).toMatchObject({ httpOnly: true, secure: protocol === 'https', sameSite: 'Lax' });
      }
      await press('Allow');
      const { code = '', ...rest } = await callback.next();
      expect(rest).toEqual({ state: request.state, iss: at.issuer });
      await page.getByText('You can close this page.').waitFor();
      expect(await whoAmI(at, request, code)).toMatchObject({ subject: 'alice', scopes: ['mcp', 'notes:write'] });
      expect(complaints).toEqual([]);
    });
  });

  describe('in Chromium,', () => {
    it('a user who denies comes back without a code, and is asked again the next time (#25)', async () => {
      const at = servers.https;
      const request = await begin(at, callback.url);
      await page.goto(request.url);
      await signIn('alice');
      await press('Deny');
      const error = { error: 'access_denied', error_description: 'The user has denied access.' };
      expect(await callback.next()).toEqual({ ...error, state: request.state, iss: at.issuer });
      // signed in already
      await page.goto(request.url);
      await press('Allow');
      expect(await callback.next()).toMatchObject({ code: expect.any(String) });
      expect(complaints).toEqual([]);
    });

    it('a user takes another account on the consent page, and keeps it (#25)', async () => {
      const at = servers.https;
      const request = await begin(at, callback.url);
      await page.goto(request.url);
      await signIn('alice');
      await press('Use another account');
      await signIn('bob');
      expect(await asked()).toContain('Bob Brown');
      await press('Allow');
      const { code = '' } = await callback.next();
      expect(await whoAmI(at, request, code)).toMatchObject({ subject: 'bob' });
      await page.goto(request.url);
      expect(await asked()).toContain('Bob Brown');
      expect(complaints).toEqual([]);
    });

    it('the keyboard is enough, and no page is wider than a small screen (#25)', async () => {
      const request = await begin(servers.https, callback.url);
      await page.setViewportSize({ width: 320, height: 480 });
      await page.goto(request.url);
      const widths = [await page.evaluate('document.documentElement.scrollWidth')];
      await page.locator('input[name=username]:focus').waitFor();
      for (const key of ['a', 'l', 'i', 'c', 'e', 'Tab', 'p', 'w', 'Tab', 'Enter']) await page.keyboard.press(key);
      await asked();
      widths.push(await page.evaluate('document.documentElement.scrollWidth'));
      const stops: string[] = [];
      for (let count = 0; count < 3; count++) {
        await page.keyboard.press('Tab');
        stops.push(await page.locator(':focus').innerText());
      }
      expect(stops).toEqual(['Use another account', 'Allow', 'Deny']);
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Enter');
      expect(await callback.next()).toMatchObject({ state: request.state, code: expect.any(String) });
      expect(widths).toEqual([320, 320]);
      expect(complaints).toEqual([]);
    });

    it('two apps that connect at the same time both get their answer, also after a double click (#25)', async () => {
      const [first, second] = [await begin(servers.https, callback.url), await begin(servers.https, callback.url)];
      const other = await context.newPage();
      await page.goto(first.url);
      await other.goto(second.url);
      await signIn('alice');
      await signIn('alice', PASSWORD, other);
      await press('Allow');
      expect(await callback.next()).toMatchObject({ state: first.state, code: expect.any(String) });
      await asked(other);
      await other.getByRole('button', { name: 'Allow' }).dblclick();
      expect(await callback.next()).toMatchObject({ state: second.state, code: expect.any(String) });
      expect(complaints).toEqual([]);
    });

    it('servers on two ports of a machine leave each other alone (#25)', async () => {
      const near = await embed('http');
      try {
        const [first, second] = [await begin(servers.http, callback.url), await begin(near, callback.url)];
        await page.goto(first.url);
        await signIn('alice');
        await asked();
        const other = await context.newPage();
        await other.goto(second.url);
        await signIn('bob', PASSWORD, other);
        await asked(other);
        await press('Allow');
        expect(await callback.next()).toMatchObject({ state: first.state, code: expect.any(String) });
        // still signed in at both
        await page.goto(first.url);
        expect(await asked()).toContain('Alice Adams');
        await other.goto(second.url);
        expect(await asked(other)).toContain('Bob Brown');
      } finally {
        await near.close();
      }
    });

    it('the redirect to a private scheme leaves the page (#25)', async () => {
      const request = await begin(servers.https, 'cursor://anysphere.cursor-mcp/callback');
      await page.goto(request.url);
      await signIn('alice');
      await asked();
      const left = page.waitForEvent('requestfailed', { predicate: (each) => each.url().startsWith('cursor:') });
      await press('Allow');
      const url = new URL((await left).url());
      expect(Object.fromEntries(url.searchParams)).toMatchObject({ state: request.state, code: expect.any(String) });
      expect(complaints).toEqual([]);
    });

    it('a remembered consent serves the user, but no page of another site (#25)', async () => {
      const request = await begin(servers.https, sites.url('app.example', '/callback'));
      sites.pages.set('/callback', 'Connected').set('/game', `<a href="${request.url}">Win</a>`);
      await page.goto(request.url);
      await signIn('alice');
      await page.getByLabel("Don't ask again for 30 days").check();
      await press('Allow');
      await page.getByText('Connected').waitFor();
      const first = page.url();
      // as if the user had typed the address, or a program had opened it
      await page.goto(request.url);
      await page.getByText('Connected').waitFor();
      expect(page.url()).not.toBe(first);
      await page.goto(sites.url('other.example', '/game'));
      await page.getByText('Win').click();
      expect(await asked()).toContain('Note Taker');
      expect(complaints).toEqual([]);
    });

    it('another site can neither frame the pages nor send their forms (#25)', async () => {
      const request = await begin(servers.https, callback.url);
      await page.goto(request.url);
      await signIn('alice');
      await asked();
      const [action, csrf] = [page.url(), await page.locator('input[name=csrf]').inputValue()];
      const form = `<form method="post" action="${action}"><input name="csrf" value="${csrf}">
        <button name="decision" value="allow">Win</button></form>`;
      sites.pages.set('/game', `<iframe src="${action}"></iframe>${form}`);
      const other = await context.newPage();
      const refused = other.waitForEvent('requestfailed');
      await other.goto(sites.url('other.example', '/game'));
      expect((await refused).failure()?.errorText).toBe('net::ERR_BLOCKED_BY_RESPONSE');
      await press('Win', other);
      await other.getByRole('heading', { name: 'Start again' }).waitFor();
      // the page of the user still works
      await press('Allow');
      expect(await callback.next()).toMatchObject({ state: request.state, code: expect.any(String) });
    });

    it('a page that shows an account which the user has left allows nothing (#25)', async () => {
      const [first, second] = [await begin(servers.https, callback.url), await begin(servers.https, callback.url)];
      const other = await context.newPage();
      await page.goto(first.url);
      await signIn('alice');
      await asked();
      await other.goto(second.url);
      await press('Use another account', other);
      await signIn('bob', PASSWORD, other);
      await asked(other);
      await press('Allow');
      await page.getByRole('heading', { name: 'Start again' }).waitFor();
      await press('Allow', other);
      const { code = '', state } = await callback.next();
      expect(state).toBe(second.state);
      expect(await whoAmI(servers.https, second, code)).toMatchObject({ subject: 'bob' });
    });

    it('a client that is a web page discovers the server, registers, and gets its token (#25)', async () => {
      const at = servers.https;
      const redirectUri = sites.url('app.example', '/client');
      sites.pages.set('/client', 'Client');
      await page.goto(redirectUri);
      type Sent = { headers: Record<string, string>; method?: string; body?: string };
      const ask = async (where: string, init: Sent): Promise<Record<string, unknown>> =>
        await page.evaluate(
          async ([url, options]) => (await (await fetch(url, options)).json()) as Record<string, unknown>,
          [at.issuer + where, init] as const,
        );
      const headers = { 'MCP-Protocol-Version': '2025-11-25' };
      const resource = await ask('/.well-known/oauth-protected-resource/mcp', { headers });
      expect(resource).toMatchObject({ authorization_servers: [at.issuer] });
      const metadata = await ask('/.well-known/oauth-authorization-server', { headers });
      expect(metadata).toMatchObject({ registration_endpoint: `${at.issuer}/register` });
      const registration = { redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' };
      const json = { ...headers, 'content-type': 'application/json' };
      const sent = { method: 'POST', headers: json, body: JSON.stringify(registration) };
      const client = await ask('/register', sent);
      const request = authorizationOf(at, { redirectUri, clientId: String(client['client_id']), scope: 'mcp' });
      await page.goto(request.url);
      await signIn('alice');
      await press('Allow');
      await page.getByText('Client').waitFor();
      const form = codeForm(request, new URL(page.url()).searchParams.get('code') ?? '');
      const type = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
      const tokens = await ask('/token', { method: 'POST', headers: type, body: `${form}` });
      expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'mcp', refresh_token: expect.any(String) });
      expect(complaints).toEqual([]);
    });

    it('a user allows here, and signs in elsewhere: no other browser can take that over (#25)', async () => {
      let staff: Program | undefined;
      const port = await freePort();
      const at = await embed('https', async (redirect) => {
        staff = await Program.start('stock-issuer.js', [`--port=${port}`, `--redirect=${redirect}`]);
        return staff.url;
      });
      const hostCookies = async () =>
        (await context.cookies(at.issuer)).filter(({ name }) => name.startsWith('__Host-upstream-'));
      const enter = async (on: Page) => {
        await on.locator('input[name=login]').fill('alice');
        await on.locator('input[name=password]').fill('any');
        await on.getByRole('button', { name: 'Sign-in' }).click();
        await on.getByRole('button', { name: 'Continue' }).click();
      };
      const visited: string[] = [];
      page.on('request', (each) => void visited.push(each.url()));
      try {
        const request = await begin(at, callback.url);
        await page.goto(request.url);
        expect(await asked()).toContain('You sign in at staff next');
        expect(await hostCookies()).toEqual([]);
        await press('Allow');
        await page.locator('input[name=login]').waitFor();
        expect(await hostCookies()).toMatchObject([{ httpOnly: true, secure: true, sameSite: 'Lax', path: '/' }]);
        const stranger = await browser.newContext({ ignoreHTTPSErrors: true });
        const lured = await stranger.newPage();
        await lured.goto(visited.find((url) => url.startsWith(`http://127.0.0.1:${port}/auth?`)) ?? '');
        await enter(lured);
        await lured.getByRole('heading', { name: 'Start again' }).waitFor();
        await stranger.close();
        await enter(page);
        const { code = '', state } = await callback.next();
        expect(state).toBe(request.state);
        expect(await whoAmI(at, request, code)).toMatchObject({ subject: 'staff|alice' });
        expect(await hostCookies()).toEqual([]);
      } finally {
        await at.close();
        await staff?.stop();
      }
    });
  });
}
