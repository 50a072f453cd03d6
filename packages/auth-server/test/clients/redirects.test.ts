import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { ClientError } from '../../src/clients/client-error.js';
import { takeMetadata } from '../../src/clients/client-metadata.js';
import { clientKind, isPrivateScheme, requireRedirects } from '../../src/clients/redirects.js';
import { clientWith, seenByProvider } from './provider.js';

const CURSOR = 'cursor://anysphere.cursor-mcp/oauth/callback';
const VS_CODE = [
  'https://insiders.vscode.dev/redirect',
  'https://vscode.dev/redirect',
  'http://127.0.0.1/',
  'http://127.0.0.1:33418/',
];
const SCHEMES = ['cursor', 'com.example.app'];

const seen = (...uris: unknown[]) =>
  seenByProvider(clientWith(takeMetadata({ redirect_uris: uris }, { schemes: SCHEMES, methods: ['none'] })));

function refusal(...uris: unknown[]): string {
  try {
    requireRedirects(uris, SCHEMES);
  } catch (error) {
    expect(error).toBeInstanceOf(ClientError);
    const { code, message } = error as ClientError;
    // error_description has neither quotes nor backslashes (RFC 6749, section 5.2)
    expect(message).toMatch(/^[ !#-[\]-~]+$/);
    return `${code}: ${message}`;
  }
  return 'accepted';
}

describe('redirect URIs', () => {
  it.each([
    ['https', ['https://app.example/cb'], 'web'],
    ['https with a query, a port and no path', ['https://app.example:8443', 'https://app.example/cb?a=b'], 'web'],
    ['a default port', ['https://app.example:443/cb'], 'web'],
    ['loopback http by name', ['http://localhost:3000/callback'], 'native'],
    ['loopback http by address, without a path', ['http://127.0.0.1:3000', 'http://[::1]/cb'], 'native'],
    ['the list of VS Code', VS_CODE, 'native'],
    ["Cursor's", [CURSOR], 'native'],
    ['a private scheme without a host', ['com.example.app:/oauth'], 'native'],
    ['loopback https beside http', ['https://localhost:3000/cb', 'http://localhost:3000/cb'], 'web'],
  ])('with %s are accepted, by oidc-provider too', (_name, uris, kind) => {
    const client = seen(...uris);
    expect(client.metadata()['application_type']).toBe(kind);
    expect(uris.filter((uri) => !client.redirectUriAllowed(uri))).toEqual([]);
  });

  it('of native clients have a free port on loopback hosts only, also in a mixed list', () => {
    const client = seen(...VS_CODE, 'http://localhost:1/cb');
    expect(client.redirectUriAllowed('http://127.0.0.1:54321/')).toBe(true);
    expect(client.redirectUriAllowed('http://localhost:54321/cb')).toBe(true);
    expect(client.redirectUriAllowed('https://vscode.dev:444/redirect')).toBe(false);
  });

  it.each([
    'https://vscode.dev/redirect/',
    'https://vscode.dev/redirect?a',
    'https://vscode.dev/Redirect',
    'https://vscode.dev.evil.example/redirect',
    'https://vscode.dev@evil.example/redirect',
    'http://vscode.dev/redirect',
    'http://127.0.0.1:33418/x',
    'http://127.0.0.1.evil.example/',
    'http://127.0.0.1:1@evil.example/',
    'http://127.0.0.2:33418/',
    'https://127.0.0.1:33418/',
    'http://localhost:33418/',
  ])('are compared exactly: %s is not one of them [AUTHAS-10] [SEC-05]', (uri) => {
    expect(seen(...VS_CODE).redirectUriAllowed(uri)).toBe(false);
  });

  it.each([
    ['http://evil.example/cb', 'must use https'],
    ['http://127.0.0.2/cb', 'must use https'],
    ['http://localhost.evil.example/cb', 'must use https'],
    ['http://0.0.0.0/cb', 'must use https'],
    ['http://[::ffff:7f00:1]/cb', 'must use https'],
    ['javascript:alert(1)', 'must use https'],
    ['data:text/html,x', 'must use https'],
    ['vscode://vscode.example/cb', 'must use https'],
    ['about:blank', 'must use https'],
    ['ws://localhost/cb', 'must use https'],
    ['https://app.example/cb#x', 'fragment'],
    ['https://app.example/cb#', 'fragment'],
    ['https://user@app.example/cb', 'user name'],
    ['https://:secret@app.example/cb', 'user name'],
    ['cursor://user@host/cb', 'user name'],
    ['https://*.example.com/cb', 'wildcard'],
    ['https://app.example/*', 'wildcard'],
    ['/cb', 'absolute'],
    ['', 'absolute'],
    ['app.example', 'absolute'],
    ['https:app.example/cb', 'normal form'],
    ['https://@app.example/cb', 'normal form'],
    ['https://app.example/a/../cb', 'normal form'],
    ['https://app.example/a/%2E%2e/cb', 'normal form'],
    ['https://app.example\\cb', 'normal form'],
    ['https://app.example/c\tb', 'normal form'],
    [' https://app.example/cb', 'normal form'],
    ['https://app.example/cb\u0000', 'normal form'],
    ['https://app.example/%0d%0aSet-Cookie:a', 'normal form'],
    ['http://127.1/cb', 'normal form'],
    ['http://2130706433/cb', 'normal form'],
    ['https://аpple.example/cb', 'normal form'],
    ['cursor:cb', 'path'],
    ['cursor://host/a/../cb', 'normal form'],
    [42, 'string'],
    [null, 'string'],
  ])('such as %j are refused [AUTHAS-12] [AUTHAS-14]', (uri, why) => {
    expect(refusal('https://app.example/ok', uri)).toMatch(/^invalid_redirect_uri: redirect_uris\[1\] must /);
    expect(refusal(uri)).toContain(why);
  });

  it('are at least one, at most 20, and all different', () => {
    const many = Array.from({ length: 21 }, (_, n) => `https://app.example/${n}`);
    expect(refusal(...many.slice(1))).toBe('accepted');
    expect(refusal(...many)).toContain('at most 20');
    expect(refusal()).toContain('at least one');
    expect(refusal(`https://app.example/${'a'.repeat(2000)}`)).toContain('2000 characters');
    expect(refusal(CURSOR, CURSOR)).toContain('redirect_uris[1] repeats');
    expect(refusal(CURSOR, 'https://localhost/cb')).toContain('both');
    for (const uris of [undefined, 'https://app.example/cb', { length: 1 }, Array(2)]) {
      expect(() => requireRedirects(uris, SCHEMES)).toThrow(ClientError);
    }
  });

  it('with a private scheme need permission, and some schemes never get it', () => {
    expect(() => requireRedirects([CURSOR], [])).toThrow(/must use https/);
    for (const scheme of [
      'http',
      'https',
      'javascript',
      'data',
      'file',
      'blob',
      'about',
      'vbscript',
      'ws',
      'Cursor',
      'cursor:',
      '',
    ]) {
      expect(isPrivateScheme(scheme)).toBe(false);
    }
    expect(() => requireRedirects(['javascript:/alert(1)'], ['javascript'])).toThrow(ClientError);
  });

  it('that are accepted are always accepted by oidc-provider, and lead nowhere else', () => {
    const parts = 'https http cursor javascript HTTP : / // \\ @ # ? * .. . %2e %00 :80 :443 :3000 é \u202e'.split(' ');
    const hosts = 'localhost 127.0.0.1 [::1] 127.1 app.example evil.example'.split(' ');
    const part = fc.constantFrom(...parts, ...hosts, '\t', ' ');
    const built = fc
      .tuple(
        fc.constantFrom('https://', 'http://', 'cursor://', 'cursor:/', ''),
        fc.constantFrom('localhost', '127.0.0.1', '[::1]', 'app.example', ''),
        fc.array(part, { maxLength: 5 }),
      )
      .map(([scheme, host, rest]) => scheme + host + rest.join(''));
    let accepted = 0;
    fc.assert(
      fc.property(
        fc.array(fc.oneof(built, fc.webUrl(), fc.string({ unit: 'binary' })), { minLength: 1, maxLength: 4 }),
        (uris) => {
          if (refusal(...uris) !== 'accepted') return;
          accepted += 1;
          const client = seen(...uris);
          for (const uri of uris) {
            const { protocol, hostname, username, hash } = new URL(uri);
            expect(client.redirectUriAllowed(uri)).toBe(true);
            expect([username, hash]).toEqual(['', '']);
            expect(['https:', 'http:', 'cursor:']).toContain(protocol);
            if (protocol === 'http:') expect(['localhost', '127.0.0.1', '[::1]']).toContain(hostname);
            expect(client.redirectUriAllowed(`${uri}x`)).toBe(uris.includes(`${uri}x`));
          }
          expect(clientKind(uris)).toBe(client.metadata()['application_type']);
        },
      ),
      { numRuns: 1500 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});
