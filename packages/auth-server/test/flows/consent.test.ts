// The pages on which people sign in and consent: who sees them, and who can't use them.
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { eachRevision } from '../../../../test/support/requirements.js';
import type { LoginRequest } from '../../src/options.js';
import { SignInBusyError } from '../../src/users/derivations.js';
import { Browser, type Page } from './browser.js';
import { Client, PASSWORD, REDIRECT } from './client.js';
import { directory, pass, serve, type Site, stopClock } from './site.js';

stopClock();

const DAY = 86_400_000;
const LOOPBACK = ['http://127.0.0.1:1/callback', 'http://localhost:1/callback'];

let site: Site;
let client: Client;
beforeAll(async () => {
  site = await serve({ remember: 30 });
  client = await Client.register(site, { client_name: '<b>Note</b>book\u202e\u0007' });
});
beforeEach(() => void site.events.splice(0));

const titleOf = ({ html }: Page) => /<h1>(.*?)<\/h1>/.exec(html)?.[1];
const CONSENT = 'Allow access?';
const SIGN_IN = 'Sign in';
const EXPIRED = 'Start again';
const WRONG = 'The user name or the password is wrong';
const allow = async (browser: Browser, page: Page) => await browser.submit(page, {}, 'Allow');

describe('the pages', () => {
  eachRevision(
    'AUTHAS-09',
    'name the client as its own claim, and the host of the redirect, and warn of loopback',
    async () => {
      const page = await client.signIn(new Browser());
      expect(page.text).toContain('It calls itself <b>Note</b>book');
      expect(page.text).toMatch(/Sends you to app\.example https:\/\/app\.example\/callback/);
      expect(page.text).not.toContain('Did you start this yourself?');
      const local = await Client.register(site, { redirect_uris: LOOPBACK });
      const warned = await local.signIn(new Browser());
      expect(warned.text).toContain('Sends you to 127.0.0.1:1');
      expect(warned.text).toContain('Did you start this yourself?');
    },
  );

  it('tell who asks for what, and can not be framed, cached or sent by others (defences 1 and 2)', async () => {
    const browser = new Browser();
    const signIn = await browser.open(client.url({ scope: 'mcp notes:write' }));
    const consent = await browser.submit(signIn, { 'User name': 'alice', Password: PASSWORD }, 'Sign in');
    for (const { headers, html } of [signIn, consent]) {
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'/),
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      expect(html).not.toMatch(/<script|\p{Bidi_Control}|(?!\n)\p{Cc}|<b>/u);
      expect(html).toContain('&lt;b&gt;Note&lt;/b&gt;book');
    }
    for (const shown of ['Your account alice', 'Use this server', 'Change your notes', 'app.example'])
      expect(consent.text).toContain(shown);
    // no form is accepted without the token of this very page
    const other = await client.signIn(new Browser());
    for (const csrf of [undefined, '', 'x', other.hidden['csrf'] as string]) {
      const { csrf: _, ...fields } = consent.fields({}, 'Allow');
      const page = await browser.post(consent.action, { ...fields, ...(csrf !== undefined && { csrf }) });
      expect([csrf, page.status, titleOf(page)]).toEqual([csrf, 400, EXPIRED]);
    }
    expect(site.events.map(({ type }) => type)).not.toContain('consent');
  });

  it('belong to one browser: another gets no page, and its form has no effect (defence 3)', async () => {
    const victim = new Browser();
    const consent = await client.signIn(victim);
    const attacker = new Browser();
    await client.signIn(attacker, {}, 'bob');
    for (const browser of [attacker, new Browser()]) {
      expect(await browser.open(consent.action)).toMatchObject({ status: 400 });
      const page = await browser.post(consent.action, consent.fields({}, 'Allow'));
      expect([page.status, titleOf(page)]).toEqual([400, EXPIRED]);
    }
    expect((await allow(victim, consent)).answer['code']).toBeDefined();
  });

  it('can be used once: a form that is sent again gets no second code', async () => {
    const browser = new Browser();
    const signIn = await browser.open(client.url());
    const consent = await browser.submit(signIn, { 'User name': 'alice', Password: PASSWORD }, 'Sign in');
    expect((await allow(browser, consent)).answer['code']).toBeDefined();
    for (const [page, fields] of [
      [consent, consent.fields({}, 'Allow')],
      [consent, consent.fields({}, 'Deny')],
      [signIn, { ...signIn.hidden, username: 'alice', password: PASSWORD }],
    ] as const)
      expect(titleOf(await browser.post(page.action, fields))).toBe(EXPIRED);
  });

  it('can not be skipped: a form of the sign-in page that allows has no effect', async () => {
    const browser = new Browser();
    const signIn = await browser.open(client.url());
    for (const decision of ['allow', 'magic', ''])
      expect(titleOf(await browser.post(signIn.action, { ...signIn.hidden, decision }))).toBe(EXPIRED);
    expect(site.events).toEqual([]);
  });

  it('are valid for 10 minutes', async () => {
    const browser = new Browser();
    const consent = await client.signIn(browser);
    pass(10 * 60_000);
    expect(titleOf(await allow(browser, consent))).toBe(EXPIRED);
  });

  it('set cookies that scripts can not read, and that forms of other sites do not send', async () => {
    const browser = new Browser();
    await allow(browser, await client.signIn(browser));
    const set = browser.received.filter((cookie) => !/^[^=]+=;/.test(cookie));
    expect(set.length).toBeGreaterThan(2);
    for (const cookie of set) expect(cookie).toMatch(/; samesite=lax/i);
    for (const cookie of set) expect(cookie).toMatch(/; httponly/i);
  });

  it('say that a password is wrong without saying which, and keep the name', async () => {
    const browser = new Browser();
    const page = await browser.open(client.url());
    const texts = [];
    for (const name of ['alice', 'nobody']) {
      const again = await browser.submit(page, { 'User name': name, Password: 'wrong' }, 'Sign in');
      expect([again.status, again.html.includes(`value="${name}"`)]).toEqual([200, true]);
      texts.push(again.text);
      expect(again.text).toContain(WRONG);
    }
    expect(texts[0]).toBe(texts[1]);
    expect(titleOf(await browser.submit(page, { 'User name': 'alice', Password: PASSWORD }, 'Sign in'))).toBe(CONSENT);
  });
});

describe('consent', () => {
  it('is asked for each client and each time, also in a session (defence 4)', async () => {
    const browser = new Browser();
    await allow(browser, await client.signIn(browser));
    const other = await Client.register(site);
    for (const each of [other, client]) {
      const page = await browser.open(each.url());
      expect([page.status, titleOf(page)]).toEqual([200, CONSENT]);
      expect((await allow(browser, page)).answer['code']).toBeDefined();
    }
  });

  it('can be for another account, whose tokens the client then gets', async () => {
    const browser = new Browser();
    const asAlice = await client.signIn(browser);
    const signIn = await browser.submit(asAlice, {}, 'Use another account');
    expect(titleOf(signIn)).toBe(SIGN_IN);
    const asBob = await browser.submit(signIn, { 'User name': 'bob', Password: PASSWORD }, 'Sign in');
    expect(asBob.text).toContain('Your account bob');
    const { code = '' } = (await allow(browser, asBob)).answer;
    const { body } = await client.exchange(code);
    expect((await site.call(body['access_token'] as string)).text).toContain('bob');
    expect((await browser.open(client.url())).text).toContain('Your account bob');
  });

  it('of somebody who has signed in elsewhere in the browser meanwhile is for the account on the page, or for none', async () => {
    const browser = new Browser();
    const asAlice = await client.signIn(browser);
    const other = await Client.register(site);
    const signIn = await browser.submit(await browser.open(other.url()), {}, 'Use another account');
    await browser.submit(signIn, { 'User name': 'bob', Password: PASSWORD }, 'Sign in');
    const page = await allow(browser, asAlice);
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
  });

  it('is for somebody else in a browser whose user is none any more', async () => {
    const users = [{ subject: 'alice' }, { subject: 'bob' }];
    const app = await Client.register(await serve({ users: directory(users) }));
    const browser = new Browser();
    await allow(browser, await app.signIn(browser));
    users.shift();
    expect((await browser.open(app.url({ prompt: 'none' }))).answer['error']).toBe('login_required');
    const page = await app.signIn(browser, {}, 'bob');
    expect(page.text).toMatch(/Your account bob/);
    expect((await allow(browser, page)).answer['code']).toBeDefined();
  });
});

describe('consent that is remembered', () => {
  const remember = async (browser: Browser, of: Client, replaced = {}, name = 'alice') =>
    await browser.submit(await of.signIn(browser, replaced, name), { "Don't ask again for 30 days": 'yes' }, 'Allow');
  const open = async (browser: Browser, of: Client, replaced = {}, headers = {}) =>
    await browser.open(of.url(replaced), { headers });
  const isAsked = ({ status, html }: Page) => status === 200 && html.includes(CONSENT);

  it('is not asked for again until it is 30 days old, also after signing in again', async () => {
    const browser = new Browser();
    await remember(browser, client);
    const { answer } = await open(browser, client);
    expect((await client.exchange(answer['code'] as string)).status).toBe(200);
    pass(29 * DAY);
    expect((await client.signIn(browser)).answer['code']).toBeDefined();
    pass(2 * DAY);
    expect(isAsked(await client.signIn(browser))).toBe(true);
  });

  it('is for requests that no page of another site has caused', async () => {
    const browser = new Browser();
    await remember(browser, client);
    for (const from of ['cross-site', 'same-site', '', 'NONE', 'none, cross-site'])
      expect([from, isAsked(await open(browser, client, {}, { 'sec-fetch-site': from }))]).toEqual([from, true]);
    // a page of ours is in between, but the request comes from elsewhere
    const stranger = new Browser();
    const url = `${client.url()}&decorum_direct=yes`;
    const signIn = await stranger.open(url, { headers: { 'sec-fetch-site': 'cross-site' } });
    const page = await stranger.submit(signIn, { 'User name': 'alice', Password: PASSWORD }, 'Sign in');
    expect(isAsked(page)).toBe(true);
    // the same endpoint for oidc-provider, but not for us
    const { status } = await browser.open(url.replace('/authorize?', '/authorize/?'));
    expect(status).toBe(404);
    expect((await open(browser, client, {}, { 'sec-fetch-site': 'same-origin' })).answer['code']).toBeDefined();
  });

  eachRevision('SEC-02', 'is for one client, redirect, account, and no more than its scopes', async () => {
    const browser = new Browser();
    const two = await Client.register(site, { redirect_uris: [REDIRECT, `${REDIRECT}2`] });
    await remember(browser, two);
    expect(isAsked(await open(browser, two, { scope: 'mcp notes:write' }))).toBe(true);
    expect(isAsked(await open(browser, two, { redirect_uri: `${REDIRECT}2` }))).toBe(true);
    expect(isAsked(await open(browser, two, { prompt: 'consent' }))).toBe(true);
    expect(isAsked(await open(browser, await Client.register(site)))).toBe(true);
    expect(isAsked(await two.signIn(new Browser(), {}, 'bob'))).toBe(true);
    expect((await open(browser, two)).answer['code']).toBeDefined();
  });

  it('is not offered to clients on the own computer, and a forged form has no effect', async () => {
    for (const redirects of [LOOPBACK, [...LOOPBACK, REDIRECT]]) {
      const local = await Client.register(site, { redirect_uris: redirects });
      const browser = new Browser();
      const page = await local.signIn(browser);
      expect(page.text).not.toContain("Don't ask again");
      await browser.post(page.action, { ...page.fields({}, 'Allow'), remember: 'yes' });
      expect(isAsked(await open(browser, local))).toBe(true);
    }
  });
});

describe('the option login', () => {
  const requests: LoginRequest[] = [];
  let answers: unknown[];
  let delegating: Site;
  let app: Client;
  beforeAll(async () => {
    const login = async (request: LoginRequest) => {
      requests.push(request);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer as never;
    };
    delegating = await serve({ login });
    app = await Client.register(delegating);
  });
  beforeEach(() => {
    answers = [];
    requests.splice(0);
  });
  const visit = async (browser = new Browser({ cookie: 'app=1' })) => await browser.open(app.url());

  it('says who it is, with the name and the scopes, each time', async () => {
    answers = [{ subject: 'u-1', name: 'Ada', scopes: ['mcp'] }];
    const browser = new Browser();
    const page = await browser.open(app.url({ scope: 'mcp notes:write' }));
    expect(page.text).toContain('Your account Ada');
    expect(page.text).not.toMatch(/Use another account|Change your notes/);
    expect(titleOf(await browser.post(page.action, { ...page.hidden, username: 'x', password: 'y' }))).toBe(EXPIRED);
    const { code = '' } = (await allow(browser, page)).answer;
    const { body } = await app.exchange(code);
    expect([body['scope'], await app.call(body['access_token'] as string)]).toEqual(['mcp', 200]);
    answers = [{ subject: 'u-2' }];
    expect((await browser.open(app.url())).text).toContain('Your account u-2');
    expect(requests[0]).toEqual({
      headers: expect.objectContaining({ host: new URL(delegating.origin).host }),
      url: expect.stringMatching(`^${delegating.issuer}/interaction/`),
      remoteAddress: '127.0.0.1',
    });
  });

  it('sends the user elsewhere, and back', async () => {
    answers = [{ location: 'https://app.example/login' }, { subject: 'u-1' }];
    const browser = new Browser();
    const { status, redirect } = await browser.open(app.url());
    expect([status, redirect.href]).toEqual([303, 'https://app.example/login']);
    const page = await browser.open(requests[0]?.url as string);
    expect(titleOf(page)).toBe(CONSENT);
  });

  it.each([
    ['denies access if there is nobody', undefined],
    ['denies access to nobody in particular', null],
  ])('%s', async (_what, answer) => {
    answers = [answer];
    expect((await visit()).answer).toMatchObject({ error: 'access_denied', state: 'a state', iss: delegating.issuer });
  });

  it.each([
    ['throws', new Error('secret')],
    ['returns a user without a subject', { name: 'Ada' }],
    ['returns an empty subject', { subject: '' }],
    ['returns a text', 'alice'],
    ['returns scopes in a text', { subject: 'u-1', scopes: 'mcp notes:write' }],
    ['returns a name that is no text', { subject: 'u-1', name: 5 }],
    ['returns a place that is no text', { location: 5 }],
  ])('that %s gets a page without details, and the operator is told', async (_what, answer) => {
    answers = [answer];
    const { status, text, headers } = await visit();
    expect([status, headers.get('content-type')]).toEqual([500, 'text/html; charset=utf-8']);
    expect(text).toContain('Something went wrong');
    expect(text).not.toMatch(/secret|subject|TypeError/);
    expect(delegating.logged.splice(0).join()).toMatch(/secret|`login` must return/);
  });
});

describe('failures to sign in', () => {
  let strict: Site;
  let app: Client;
  let error: Error | undefined;
  beforeAll(async () => {
    const users = directory();
    const verify = async (name: string, password: string) => {
      if (error) throw error;
      return await users.verify(name, password);
    };
    strict = await serve({ users: { ...users, verify } });
    app = await Client.register(strict);
  });
  const attempt = async (password: string, headers = {}, name = 'alice') => {
    const browser = new Browser(headers);
    const page = await browser.open(app.url());
    return await browser.submit(page, { 'User name': name, Password: password }, 'Sign in');
  };

  it('lock out after five, also with the right password, and whatever address a header claims', async () => {
    for (let n = 0; n < 5; n++) expect((await attempt('wrong')).text).toContain(WRONG);
    for (const headers of [{}, { 'x-forwarded-for': '192.0.2.1' }, { forwarded: 'for=192.0.2.1' }]) {
      const locked = await attempt(PASSWORD, headers);
      expect([locked.status, locked.headers.get('retry-after')]).toEqual([429, '900']);
      expect(locked.text).toContain('Try again in 15 minutes');
      expect(locked.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    }
    expect(titleOf(await attempt(PASSWORD, {}, 'bob'))).toBe(CONSENT);
    expect(strict.events).toContainEqual({ type: 'lockout', subject: 'alice', remoteAddress: '127.0.0.1' });
    pass(15 * 60_000);
    expect(titleOf(await attempt(PASSWORD))).toBe(CONSENT);
  });

  it('do not count while too many sign in: that gets 503, and when to come back', async () => {
    error = new SignInBusyError();
    for (let n = 0; n < 6; n++) {
      const page = await attempt(PASSWORD);
      expect([page.status, page.headers.get('retry-after'), titleOf(page)]).toEqual([503, '5', 'Busy']);
    }
    error = new Error('the directory is at secret.internal');
    const page = await attempt(PASSWORD);
    expect([page.status, titleOf(page)]).toEqual([500, 'Something went wrong']);
    expect(page.text).not.toContain('secret');
    error = undefined;
    expect(titleOf(await attempt(PASSWORD))).toBe(CONSENT);
  });
});
