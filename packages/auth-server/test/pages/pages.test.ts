import { createHash } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { pageHeaders } from '../../src/pages/page-headers.js';
import { Pages } from '../../src/pages/pages.js';
import { STYLE } from '../../src/pages/style.js';
import type { ClientView, ConsentView, SignInView } from '../../src/pages/views.js';

const pages = new Pages();
const CLIENT: ClientView = {
  name: 'Notes',
  host: 'notes.example.com',
  redirectHost: 'app.example.com',
  isLoopbackOnly: false,
};
const SIGN_IN: SignInView = { action: '/sign-in', csrf: 'token', client: CLIENT };
const CONSENT: ConsentView = {
  action: '/consent',
  csrf: 'token',
  client: CLIENT,
  account: 'alice',
  scopes: ['Use this server', 'Change your notes'],
};

/** The text that a reader sees. */
const textOf = (page: string) =>
  page
    .replace(/<style>[^]*<\/style>|<title>[^]*<\/title>/g, '')
    .replace(/<bdi>|<\/bdi>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

/** The tags of a page, without the values of attributes. */
const tagsOf = (page: string) =>
  page
    .replace(STYLE, '')
    .match(/<[^>]*>/g)
    ?.map((tag) => tag.replace(/"[^"]*"/g, '""'));

describe('the sign-in page', () => {
  it('has labelled fields that password managers fill in', () => {
    const page = pages.signIn(SIGN_IN);
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page).toMatch(/<form method="post" action="\/sign-in">/);
    expect(page).toContain('<input type="hidden" name="csrf" value="token">');
    expect(page).toMatch(/<label for="username">[^]*id="username" name="username"[^>]* autocomplete="username"/);
    expect(page).toMatch(/<label for="password">[^]*id="password"[^>]* autocomplete="current-password"/);
    expect(page).toMatch(/<button class="primary" type="submit">Sign in<\/button>/);
    expect(page).not.toMatch(/<script| on\w+=|javascript:|https?:/);
  });

  it('ties the problem to both fields, keeps the name, and asks for the password', () => {
    const page = pages.signIn({ ...SIGN_IN, username: 'al"ice', problem: 'wrong' });
    expect(page).toContain('<p class="wrong" id="problem" role="alert">The user name or the password is wrong.</p>');
    const inputs = page.match(/<input id=[^>]*>/g) as string[];
    expect(inputs.map((input) => input.includes('aria-invalid="true" aria-describedby="problem"'))).toEqual([
      true,
      true,
    ]);
    expect(inputs.map((input) => input.includes(' autofocus'))).toEqual([false, true]);
    expect(inputs[0]).toContain('value="al&quot;ice"');
    expect(inputs[1]).not.toContain('value');
  });
});

describe('the consent page', () => {
  it('names the client as its own claim, both hosts, the account and the scopes [AUTHAS-09] [SEC-03]', () => {
    const text = textOf(pages.consent({ ...CONSENT, upstream: { name: 'GitHub', scopes: ['repo'] } }));
    expect(text).toContain('It calls itself Notes');
    expect(text).toContain('Comes from notes.example.com');
    expect(text).toContain('Sends you to app.example.com');
    expect(text).toContain('Your account alice Use another account');
    expect(text).toContain('It will be able to Use this server Change your notes');
    expect(text).toContain('At GitHub, this server will ask for repo');
    expect(text).toMatch(/Allow Deny $/);
    expect(text).not.toContain('any program');
    const none = textOf(pages.consent({ ...CONSENT, upstream: { name: 'GitHub', scopes: [] } }));
    expect(none).toContain('You sign in at GitHub next');
  });

  it('shows where exactly the answer goes, cut to a line or two, below the whole host [SEC-03]', () => {
    const redirectUri = `https://app.example.com/callback?next=${'x'.repeat(500)}`;
    const text = textOf(pages.consent({ ...CONSENT, client: { ...CLIENT, redirectUri } }));
    expect(text).toMatch(/Sends you to app\.example\.com https:\/\/app\.example\.com\/callback\?next=x{10,90}… /);
  });

  it('says that the operator has listed a client, whose name is then known', () => {
    const text = textOf(pages.consent({ ...CONSENT, client: { ...CLIENT, host: undefined, isListed: true } }));
    expect(text).toContain('Comes from This server&#39;s own list of apps');
  });

  it('says that nobody has confirmed the name of a client whose id is no URL', () => {
    const text = textOf(pages.consent({ ...CONSENT, client: { ...CLIENT, host: undefined, name: '\u202E\u200B' } }));
    expect(text).toContain('It calls itself (no name) Comes from Unknown. Any app can use this name');
  });

  it('warns of clients that any program on the computer can pretend to be, and never remembers them [AUTHAS-09]', () => {
    const client = { ...CLIENT, redirectHost: '127.0.0.1:4000', isLoopbackOnly: true };
    const page = pages.consent({ ...CONSENT, client, mayRemember: 30 });
    expect(textOf(page)).toContain('any program can pretend to be it');
    expect(page).not.toContain('name="remember"');
  });

  it('offers to remember the answer only if told to, and not by default', () => {
    expect(pages.consent(CONSENT)).not.toContain('type="checkbox"');
    const page = pages.consent({ ...CONSENT, mayRemember: 30 });
    expect(page).toContain('<input type="checkbox" name="remember" value="yes">');
    expect(textOf(page)).toContain('ask again for 30 days');
  });

  it('has a button for each decision, and offers another account only to those who have signed in', () => {
    const decisions = (page: string) =>
      [...page.matchAll(/name="decision" value="([^"]*)"/g)].map(([, value]) => value);
    expect(decisions(pages.consent(CONSENT))).toEqual(['switch-account', 'allow', 'deny']);
    expect(decisions(pages.consent({ ...CONSENT, account: undefined }))).toEqual(['allow', 'deny']);
  });
});

describe('the other pages', () => {
  it('say when to try again, and what went wrong', () => {
    expect(textOf(pages.locked({ retryAfter: 61 }))).toContain('Too many attempts Try again in 2 minutes.');
    expect(textOf(pages.locked({ retryAfter: 1 }))).toContain('Try again in a minute.');
    expect(pages.message({ title: 'No', message: 'a <b>' })).toContain('<h1>No</h1>\n<p><bdi>a &lt;b&gt;</bdi></p>');
  });
});

describe('all pages', () => {
  /** Texts that try to leave their place. */
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(
        fc.constantFrom(
          '"',
          "'",
          '<',
          '>',
          '&',
          '`',
          '=',
          '-->',
          '</style>',
          '</title>',
          '<script>',
          'x',
          '\0',
          '\n',
          '\u202E',
        ),
      )
      .map((parts) => parts.join('')),
  );

  it('have the same tags and attributes whatever clients and users send', () => {
    const view = fc.record({ name: hostile, host: hostile, redirectHost: hostile, redirectUri: hostile });
    fc.assert(
      fc.property(view, hostile, hostile, (texts, one, other) => {
        const client = { ...texts, isLoopbackOnly: false };
        const plain = { ...CLIENT, redirectUri: 'https://app.example.com/' };
        const upstream = { name: one, scopes: [other] };
        const consent = { action: one, csrf: other, client, account: one, scopes: [one, other], upstream };
        expect(tagsOf(pages.consent(consent))).toEqual(
          tagsOf(pages.consent({ ...CONSENT, client: plain, upstream: { name: 'GitHub', scopes: ['repo'] } })),
        );
        const signIn = { action: one, csrf: other, client, username: `x${one}`, problem: 'wrong' } as const;
        expect(tagsOf(pages.signIn(signIn))).toEqual(
          tagsOf(pages.signIn({ ...SIGN_IN, client: plain, username: 'x', problem: 'wrong' })),
        );
        expect(tagsOf(pages.message({ title: one, message: other }))).toEqual(
          tagsOf(pages.message({ title: '', message: '' })),
        );
      }),
    );
  });

  it('may not be framed, stored or scripted, and apply only their own style [SEC-03]', () => {
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(pages.consent(CONSENT)) ?? [];
    const digest = createHash('sha256').update(style).digest('base64');
    expect(pageHeaders()).toEqual({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${digest}'; frame-ancestors 'none'; base-uri 'none'`,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(pages.signIn(SIGN_IN)).not.toContain('style=');
  });

  it.each([
    ['text', 'card'],
    ['text', 'page'],
    ['quiet', 'card'],
    ['accent', 'card'],
    ['on-accent', 'accent'],
    ['on-warn', 'warn'],
    ['wrong', 'card'],
  ])('have enough contrast between %s and %s, light and dark', (front, back) => {
    const schemes = [...STYLE.matchAll(/:root\{[^}]*\}/g)].map(([rule]) => rule);
    expect(schemes).toHaveLength(2);
    for (const rule of schemes) expect(contrast(colorIn(rule, front), colorIn(rule, back))).toBeGreaterThanOrEqual(4.5);
  });
});

const colorIn = (rule: string, name: string) => new RegExp(`--${name}:(#\\w{6})`).exec(rule)?.[1] as string;

/** Relative luminance (WCAG 2.2). */
function luminance(color: string): number {
  const channels = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);
  const [red, green, blue] = channels.map((value) =>
    value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}
