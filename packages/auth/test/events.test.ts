import { AUTH } from '@decorum/http';
import type { Principal } from '@decorum/core';
import { describe, expect, it } from '@jest/globals';

import { AUDIENCE, bearing, createAuth, headWith, openIssuer } from './fixture.js';

const METADATA = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"';
const www = (challenge: { headers: Readonly<Record<string, string>> }) => challenge.headers['www-authenticate'];

describe('a challenge', () => {
  const { auth } = createAuth({ issuer: 'https://id.example.com', scopes: ['mcp'], hierarchy: { all: ['x'] } });
  const denial = { reason: 'insufficient-scope', scopes: ['mcp', 'files:write'], inSession: false } as const;

  it('to a caller without a token has what the request needs, and no error', () => {
    const { status, headers } = auth[AUTH].challenge({ ...denial, reason: 'unauthorized', principal: undefined });
    expect([status, headers]).toEqual([401, { 'www-authenticate': `Bearer ${METADATA}, scope="mcp files:write"` }]);
  });

  it('to a caller without scopes has everything that the operation needs', () => {
    const { status, headers } = auth[AUTH].challenge({
      ...denial,
      principal: { subject: 'ada', scopes: ['mcp', 'other'] },
    });
    expect([status, headers]).toEqual([
      403,
      {
        'www-authenticate': `Bearer error="insufficient_scope", scope="mcp files:write", ${METADATA}, error_description="The request needs scopes that the access token does not have."`,
      },
    ]);
  });

  it('in a session has those of the token too, but not those that they imply', async () => {
    const issuer = await openIssuer();
    const own = createAuth({ issuer: issuer.url, hierarchy: { other: ['implied'] } });
    const principal = (await own.enter(issuer.sign({ aud: AUDIENCE, scope: 'role other mcp' }))) as Principal;
    expect(principal.scopes).toContain('implied');
    const challenge = own.auth[AUTH].challenge({ ...denial, principal, inSession: true });
    expect(www(challenge)).toContain('scope="mcp files:write other"');
  });

  it('never asks for offline_access', async () => {
    const principal = { subject: 'ada', scopes: ['offline_access', 'x'] };
    const challenge = auth[AUTH].challenge({
      ...denial,
      scopes: ['offline_access', 'mcp'],
      principal,
      inSession: true,
    });
    expect(www(challenge)).toContain('scope="mcp x"');
  });

  it('in a session has those of the token that another operation needs, and none that only the token names (#23)', () => {
    const { auth: own } = createAuth({ issuer: 'https://id.example.com', scopes: ['mcp'] });
    const principal = { subject: 'ada', scopes: ['Directory.Read', 'mcp', 'files:read'] };
    const wanted = (scopes: string[]) => www(own[AUTH].challenge({ ...denial, scopes, principal, inSession: true }));
    expect(wanted(['mcp', 'files:write'])).toContain('scope="mcp files:write"');
    expect(wanted(['mcp', 'files:read'])).toContain('scope="mcp files:read"');
    expect(wanted(['mcp', 'files:write'])).toContain('scope="mcp files:write files:read"');
  });

  it('names scopes as clients request them from the issuer of the token (#23)', () => {
    const { auth: own } = createAuth({
      issuer: [
        { issuer: 'https://one.example', scopePrefix: 'api://files/' },
        { issuer: 'https://two.example', scopePrefix: 'files/' },
        'https://three.example',
      ],
      scopes: ['mcp', 'openid', 'urn:read'],
      offer: ['mcp', 'files:write'],
    });
    const all = (prefix: string) => `scope="${prefix}mcp openid urn:read ${prefix}files:write"`;
    const denied = (issuer: string | undefined) =>
      www(
        own[AUTH].challenge({
          ...denial,
          scopes: ['mcp', 'openid', 'urn:read', 'files:write'],
          principal: { subject: 'ada', issuer },
        }),
      );
    expect(denied('https://one.example')).toContain(all('api://files/'));
    expect(denied('https://two.example')).toContain(all('files/'));
    expect(denied('https://three.example')).toContain(all(''));
    // of an API key, or of the application
    expect(denied(undefined)).toContain(all('api://files/'));
    const anonymous = own[AUTH].challenge({ ...denial, reason: 'unauthorized', scopes: ['mcp'], principal: undefined });
    expect(www(anonymous)).toContain('scope="api://files/mcp api://files/files:write"');
    const [metadata] = own[AUTH].documents;
    const head = { method: 'GET', url: '', headers: {}, authorizations: [] };
    const { body } = metadata!.answer(head) as { body: string };
    expect(JSON.parse(body)).toMatchObject({
      scopes_supported: ['api://files/mcp', 'openid', 'urn:read', 'api://files/files:write'],
    });
  });

  it('in a session leaves out what the application calls a scope, but is none', async () => {
    const scopes = ['mcp', 'a b', 'a"b', 'ü', 'line\nbreak', 7] as string[];
    for (const granted of [scopes, 'mcp', 7, null, undefined]) {
      const { auth: own } = createAuth({
        audience: undefined as never,
        verify: () => ({ subject: 'ada', scopes: granted as string[] }),
        scopes: ['mcp'],
      });
      const principal = (await own[AUTH].authenticate(bearing('any'), undefined)) as Principal;
      const { headers } = own[AUTH].challenge({
        reason: 'insufficient-scope',
        scopes: ['admin'],
        principal,
        inSession: true,
      });
      const expected = granted === scopes ? 'admin mcp' : 'admin';
      expect(headers['www-authenticate']).toContain(
        `error="insufficient_scope", scope="${expected}", error_description`,
      );
    }
  });

  it('has at most 4 KiB of scopes, those of the operation first', () => {
    const many = Array.from({ length: 1000 }, (_, n) => `scope-${n}`);
    const { auth: own } = createAuth({ issuer: 'https://id.example.com', offer: many });
    const challenge = own[AUTH].challenge({ ...denial, principal: { subject: 'ada', scopes: many }, inSession: true });
    const [, scope = ''] = /scope="([^"]*)"/.exec(www(challenge) ?? '') ?? [];
    expect(scope).toMatch(/^mcp files:write scope-0 /);
    expect(scope.length).toBeLessThanOrEqual(4096);
    expect(scope.length).toBeGreaterThan(4000);
  });
});

describe('events', () => {
  it('tell why credentials were refused, what was found, and what to do', async () => {
    const issuer = await openIssuer();
    const { enter, events, logged } = createAuth({ issuer: issuer.url });
    await enter(issuer.sign({ aud: AUDIENCE }, { header: { typ: 'JWT' } }));
    const remedy = 'If it is an access token of this issuer, allow it by `tokenTypes`.';
    expect(events).toEqual([
      {
        type: 'denied',
        reason: 'token-type',
        found: 'typ is "JWT"',
        remedy,
        method: 'POST',
        remoteAddress: '127.0.0.1',
      },
    ]);
    expect(logged).toEqual([`Refused credentials: typ is "JWT". ${remedy}`]);
  });

  it('log each reason once a minute', async () => {
    const issuer = await openIssuer();
    const { enter, events, logged, clock } = createAuth({ issuer: issuer.url });
    for (const second of [0, 1, 59, 60, 61]) {
      clock.ahead = second * 1000;
      await enter(issuer.sign({ aud: AUDIENCE }, { header: { typ: 'JWT' } }));
      await enter(issuer.sign({ aud: 'other' }));
    }
    expect([events.length, logged.length]).toEqual([10, 4]);
  });

  it('escape what comes from a token, and never contain it', async () => {
    const issuer = await openIssuer();
    const { enter, events, logged } = createAuth({ issuer: issuer.url });
    const token = issuer.sign({
      aud: AUDIENCE,
      iss: `https://evil.example/\n\u001b[31merror\u202e${'x'.repeat(1000)}`,
    });
    await enter(token);
    await enter('opaque-secret');
    const text = JSON.stringify([events, logged]);
    for (const secret of [token.split('.')[2] as string, 'opaque-secret']) expect(text).not.toContain(secret);
    for (const line of [...logged, ...events.map(({ found }) => found ?? '')]) {
      expect(line).toMatch(/^[\x20-\x7e]{0,400}$/);
    }
  });

  it('tell of requests without a token and of steps up, without logging them', () => {
    const { auth, events, logged } = createAuth({ issuer: 'https://id.example.com' });
    const principal = { subject: 'ada' };
    auth[AUTH].challenge({ reason: 'unauthorized', scopes: ['mcp'], principal: undefined, inSession: false });
    auth[AUTH].challenge({ reason: 'insufficient-scope', scopes: ['admin'], principal, inSession: false });
    expect(events).toEqual([
      { type: 'denied', reason: 'no-token', scopes: ['mcp'] },
      { type: 'step-up', scopes: ['admin'], principal },
    ]);
    expect(logged).toEqual([]);
  });

  it('tell of valid credentials only if asked to', async () => {
    const issuer = await openIssuer();
    const token = issuer.sign({ aud: AUDIENCE });
    const [quiet, loud] = [false, true].map((reportGranted) => createAuth({ issuer: issuer.url, reportGranted }));
    for (const each of [quiet, loud, loud]) await each?.enter(token);
    expect(quiet?.events).toEqual([]);
    expect(loud?.events).toMatchObject([
      { type: 'granted', principal: { subject: 'ada' } },
      { type: 'granted', principal: { subject: 'ada' } },
    ]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('audit is down');
      },
    ],
    // what an async function is when it rejects, also from another copy of Promise
    // oxlint-disable-next-line unicorn/no-thenable
    ['rejects', () => ({ then: (_done: unknown, fail: (error: Error) => void) => fail(new Error('audit is down')) })],
  ])('go on if `onEvent` %s, which does not end the process, and the log says so', async (_how, onEvent) => {
    const { auth, logged } = createAuth({ issuer: 'https://id.example.com', onEvent });
    expect(auth[AUTH].authenticate(headWith({ authorization: 'Basic x' }), undefined)).toMatchObject({ status: 401 });
    await new Promise(setImmediate);
    expect(logged).toContain('`onEvent` failed: Error: audit is down');
  });
});

describe('principalOf', () => {
  const code = 'DECORUM_INVALID_OPTION';

  it('verifies a token for transports with one caller', async () => {
    const issuer = await openIssuer();
    const { auth } = createAuth({ issuer: issuer.url, hierarchy: { admin: ['read'] } });
    const token = issuer.sign({ aud: AUDIENCE, scope: 'admin' });
    const principal = await auth.principalOf(token);
    expect(principal).toMatchObject({ subject: 'ada', issuer: issuer.url, scopes: ['admin', 'read'] });
    expect(await auth.principalOf(token)).toBe(principal);
  });

  it('takes API keys, whichever header they have', async () => {
    const sha256 = '2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683'; // of "key"
    for (const apiKeyHeader of [undefined, 'x-key']) {
      const { auth } = createAuth({
        audience: undefined as never,
        apiKeys: { ci: { sha256 } },
        ...(apiKeyHeader && { apiKeyHeader }),
      });
      expect(await auth.principalOf('key')).toMatchObject({ subject: 'ci' });
      await expect(auth.principalOf('other')).rejects.toMatchObject({ code });
    }
  });

  it('rejects a token without the scopes that every request needs', async () => {
    const issuer = await openIssuer();
    const { auth } = createAuth({ issuer: issuer.url, scopes: ['mcp', 'files'], hierarchy: { admin: ['mcp'] } });
    await expect(auth.principalOf(issuer.sign({ aud: AUDIENCE, scope: 'mcp other' }))).rejects.toMatchObject({
      code,
      message: expect.stringContaining('principalOf: `token` lacks the scope "files", which every request needs.'),
    });
    expect(await auth.principalOf(issuer.sign({ aud: AUDIENCE, scope: 'admin files' }))).toMatchObject({
      subject: 'ada',
    });
  });

  it('rejects with the reason', async () => {
    const issuer = await openIssuer();
    const { auth } = createAuth({ issuer: issuer.url });
    await expect(auth.principalOf(undefined)).rejects.toMatchObject({
      code,
      message: expect.stringContaining('is missing'),
    });
    await expect(auth.principalOf('')).rejects.toMatchObject({ code });
    await expect(auth.principalOf('a b')).rejects.toMatchObject({ code });
    const refused = auth.principalOf(issuer.sign({ aud: AUDIENCE }, { header: { typ: 'JWT' } }));
    await expect(refused).rejects.toMatchObject({
      code,
      message: expect.stringContaining('principalOf: `token` is refused: typ is "JWT"'),
    });
  });
});
