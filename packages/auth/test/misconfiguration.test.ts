import { setImmediate } from 'node:timers/promises';

import { McpServer } from '@decorum/core';
import { AUTH, listen } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { oauth, OAuth } from '../src/oauth.js';
import type { OAuthOptions } from '../src/options.js';
import { AUDIENCE, createAuth, headWith, openIssuer } from './fixture.js';

const KEY = 'fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9';
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** An `OAuth` that checks its issuers, as in production. */
const checking = (options: Partial<OAuthOptions>) =>
  new OAuth(
    { audience: AUDIENCE, allowLoopbackHttp: true, ...options },
    { now: () => Date.now(), fetch: (url, init) => fetch(url, init), checksIssuers: true },
  );

/** The first warning of such an `OAuth` when a server opens. */
const warningOf = async (options: Partial<OAuthOptions>): Promise<string> =>
  await new Promise((resolve) => checking(options)[AUTH].opened(resolve));

const INTROSPECTION = { clientId: 'files', clientSecret: 'hush' };

describe('when a server opens, the log tells', () => {
  it.each<[string, (url: string) => string, string[]]>([
    [
      'a slash too many in the issuer, and how to write it',
      (url) => `${url}/`,
      ['no metadata of URL/', 'Only the slash at the end differs: write `issuer: "URL"`'],
    ],
    [
      'an issuer with another name',
      (url) => url.replace('127.0.0.1', 'localhost'),
      ['It must be the same: write `issuer: "URL"`'],
    ],
    [
      'a path at which there is no issuer',
      (url) => `${url}/realms/typo`,
      ['/realms/typo/.well-known/openid-configuration answered with status 404', 'Check the path of `issuer`'],
    ],
  ])('of %s (#23)', async (_what, issuerAt, texts) => {
    const { url } = await openIssuer();
    const warning = await warningOf({ issuer: issuerAt(url) });
    for (const text of texts) expect(warning).toContain(text.replace('URL', url));
  });

  it('of an issuer that cannot be reached (#23)', async () => {
    const issuer = await openIssuer();
    const { url } = issuer;
    await issuer.stop();
    const warning = await warningOf({ issuer: url });
    expect(warning).toContain('ECONNREFUSED');
    expect(warning).toContain('that this server can reach it');
  });

  it('of a web site where the issuer should be (#23)', async () => {
    const issuer = await openIssuer();
    for (const document of ['oauth-authorization-server', 'openid-configuration']) {
      issuer.handlers.set(`/.well-known/${document}`, (_request, response) => response.end('<!doctype html>Welcome'));
    }
    expect(await warningOf({ issuer: issuer.url })).toContain('sent no JSON object');
  });

  it('of metadata without an endpoint that is needed (#23)', async () => {
    const issuer = await openIssuer();
    issuer.publish({ introspection_endpoint: undefined });
    const warning = await warningOf({ issuer: { issuer: issuer.url, introspection: INTROSPECTION } });
    expect(warning).toContain(`can't be used: ${issuer.url} has no introspection_endpoint.`);
  });

  it('nothing of an issuer whose tokens are opaque, and which has no keys (#23)', async () => {
    const issuer = await openIssuer();
    issuer.publish({ jwks_uri: undefined });
    const own = { issuer: issuer.url, introspection: INTROSPECTION };
    const other = `${issuer.url}/realms/typo`;
    // the other issuer is checked last, so its warning is the only one
    expect(await warningOf({ issuer: [own, other] })).toContain(`no metadata of ${other}`);
    expect(await warningOf({ issuer: issuer.url })).toContain(`${issuer.url} has no jwks_uri`);
  });

  it('nothing if all is well, and asks each issuer once, however many servers open (#23)', async () => {
    const issuer = await openIssuer();
    const logged: string[] = [];
    const auth = checking({ issuer: issuer.url });
    for (let server = 0; server < 3; server += 1) auth[AUTH].opened((line) => logged.push(line));
    while (issuer.requests.length === 0) await setImmediate();
    await auth[AUTH].documents.at(-1)?.answer(headWith());
    expect([issuer.requests, logged]).toEqual([['/.well-known/oauth-authorization-server'], []]);
  });

  it('also a server that opens after the check has failed (#23)', async () => {
    const issuer = await openIssuer();
    const auth = checking({ issuer: `${issuer.url}/` });
    await new Promise((resolve) => auth[AUTH].opened(resolve as () => void));
    const late: string[] = [];
    auth[AUTH].opened((line) => late.push(line));
    expect(late).toEqual([expect.stringContaining('Only the slash at the end differs')]);
  });

  it('control characters of an issuer only escaped (#23)', async () => {
    const issuer = await openIssuer();
    issuer.publish({ issuer: 'https://evil.example/\u001b[31m\u202e' });
    expect(await warningOf({ issuer: issuer.url })).toMatch(/^[\x20-\x7e]*$/);
  });
});

it('a server in a test asks no issuer unless a request needs it (#23)', async () => {
  const issuer = await openIssuer();
  const asked = jest.spyOn(globalThis, 'fetch');
  oauth({ issuer: issuer.url, audience: AUDIENCE, allowLoopbackHttp: true })[AUTH].opened(() => {});
  expect(asked).not.toHaveBeenCalled();
  asked.mockRestore();
});

describe('the log names a public URL that is not served', () => {
  const warningsOf = async (open: (server: McpServer, auth: OAuth) => Promise<unknown>, audience = AUDIENCE) => {
    const warnings: string[] = [];
    const warn = (...told: unknown[]) => void warnings.push(String(told.at(-1)));
    const server = new McpServer({ name: 'test', version: '1.0.0', logger: { warn, error: warn } });
    closing.push(() => server.close());
    server.addTool({ name: 'ping' }, () => 'pong');
    await open(server, createAuth({ issuer: 'https://id.example.com', audience }).auth);
    return warnings.filter((line) => line.includes('is served at'));
  };

  it('when `listen` serves another path (#23)', async () => {
    const warnings = await warningsOf((server, auth) => listen(server, { auth, port: 0, path: '/api' }));
    expect(warnings).toEqual([expect.stringContaining(`served at "/api", but clients are told "${AUDIENCE}"`)]);
  });

  it('when a handler has another path (#23)', async () => {
    const warnings = await warningsOf(async (server, auth) => await fetchHandler(server, { auth, path: '/api' }).ready);
    expect(warnings).toHaveLength(1);
  });

  it.each([
    ['the same path', AUDIENCE],
    ['a parent of the path, which clients accept', 'https://mcp.example.com'],
    ['the same path with a slash', `${AUDIENCE}/`],
  ])('but not for %s (#23)', async (_title, audience) => {
    expect(await warningsOf((server, auth) => listen(server, { auth, port: 0 }), audience)).toEqual([]);
  });
});

describe('the first refused token is logged with what was expected and what came', () => {
  it('for an `iss` that differs by a slash, once and never with the token (#23)', async () => {
    const issuer = await openIssuer();
    const { enter, logged, events } = createAuth({ issuer: issuer.url });
    const token = issuer.sign({ aud: AUDIENCE, iss: `${issuer.url}/` });
    for (let request = 0; request < 5; request += 1) await enter(token);
    expect(logged).toEqual([
      `Refused credentials: iss is "${issuer.url}/"; expected "${issuer.url}". Only the slash at the end differs. Write \`issuer\` as in the token.`,
    ]);
    expect(events[0]).toMatchObject({
      reason: 'issuer',
      found: `iss is "${issuer.url}/"`,
      expected: `"${issuer.url}"`,
    });
    expect(JSON.stringify([events, logged])).not.toContain(token.split('.')[2]);
  });

  it('even if somebody has sent nonsense before (#23)', async () => {
    const issuer = await openIssuer();
    const { enter, logged } = createAuth({ issuer: issuer.url });
    await enter(issuer.sign({ aud: AUDIENCE, iss: 'https://evil.example' }));
    await enter(issuer.sign({ aud: AUDIENCE, iss: `${issuer.url}/` }));
    expect(logged).toHaveLength(2);
  });

  it('for an `aud` that is not ours (#23)', async () => {
    const issuer = await openIssuer();
    const { enter, logged } = createAuth({ issuer: issuer.url });
    await enter(issuer.sign({ aud: 'https://mcp.example.com' }));
    await enter(issuer.sign({ aud: ['https://other.example', `${AUDIENCE}/`] }));
    expect(logged).toEqual([
      expect.stringContaining(`aud is "https://mcp.example.com"; expected "${AUDIENCE}". Have clients ask`),
      expect.stringContaining(`${AUDIENCE}/"]; expected "${AUDIENCE}". Only the slash at the end differs.`),
    ]);
  });

  it('for an issuer whose metadata cannot be used (#23)', async () => {
    const issuer = await openIssuer();
    const { enter, logged } = createAuth({ issuer: `${issuer.url}/typo` });
    await enter(issuer.sign({ aud: AUDIENCE, iss: `${issuer.url}/typo` }));
    expect(logged).toEqual([expect.stringMatching(/answered with status 404.*Check the path of `issuer`/)]);
  });
});

it('a program over stdio is told what its token lacks (#23)', async () => {
  const issuer = await openIssuer();
  const { auth } = createAuth({ issuer: issuer.url });
  const started = auth.principalOf(issuer.sign({ aud: `${AUDIENCE}/` }));
  await expect(started).rejects.toThrow(
    `aud is "${AUDIENCE}/"; expected "${AUDIENCE}". Only the slash at the end differs`,
  );
});

describe('an unknown API key is called one', () => {
  const apiKeys = { ci: { sha256: KEY } };

  it.each<[string, Partial<OAuthOptions>, string]>([
    ['without issuers', { apiKeys, audience: undefined as never }, 'an unknown API key'],
    ['beside an issuer of JWTs', { apiKeys, issuer: 'https://id.example.com' }, 'neither a JWT nor a known API key'],
  ])('%s (#23)', async (_title, options, found) => {
    const { enter, events, logged } = createAuth(options);
    const refusal = await enter('sk-made-up');
    expect(events).toMatchObject([{ reason: 'api-key', found }]);
    expect(logged).toEqual([`Refused credentials: ${found}. No entry of \`apiKeys\` has its digest.`]);
    expect(JSON.stringify(refusal)).not.toMatch(/key/i);
    expect(JSON.stringify([events, logged])).not.toContain('sk-made-up');
  });

  it('that looks like a JWT, without issuers (#23)', async () => {
    const issuer = await openIssuer();
    const { enter, events } = createAuth({ apiKeys, audience: undefined as never });
    await enter(issuer.sign({}));
    expect(events).toMatchObject([{ reason: 'api-key', found: 'an unknown API key' }]);
  });

  it('that the issuer does not know either, but not if the issuer does not answer (#23)', async () => {
    const issuer = await openIssuer();
    let status = 200;
    issuer.handlers.set('/introspect', (_request, response) => response.writeHead(status).end('{"active":false}'));
    const { enter, events } = createAuth({
      apiKeys,
      issuer: { issuer: issuer.url, introspection: INTROSPECTION },
    });
    await enter('sk-made-up');
    status = 500;
    await enter('sk-made-up-too');
    expect(events).toMatchObject([
      { reason: 'inactive', found: 'the token is not active, nor is it a known API key' },
      { reason: 'introspection-failed', found: expect.not.stringContaining('API key') },
    ]);
  });

  it('not in `Authorization` if keys have a header of their own', async () => {
    const { enter, events } = createAuth({ apiKeys, apiKeyHeader: 'x-api-key', issuer: 'https://id.example.com' });
    await enter('sk-made-up');
    expect(events).toMatchObject([{ reason: 'unrecognized', found: 'the token is no JWT' }]);
  });

  it('that the application does not know either (#23)', async () => {
    const { enter, events } = createAuth({ apiKeys, audience: undefined as never, verify: () => undefined });
    await enter('sk-made-up');
    expect(events).toMatchObject([{ reason: 'verify', found: expect.stringContaining('no known API key') }]);
  });
});
