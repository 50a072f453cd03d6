import { createHash } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';

import { oauth } from '../src/index.js';

const ISSUER = 'https://id.example.com';
const AUDIENCE = 'https://mcp.example.com/mcp';
const DIGEST = createHash('sha256').update('key').digest('hex');
const valid = { issuer: ISSUER, audience: AUDIENCE };

/** The message of the startup error. */
function mistake(options: unknown): string {
  try {
    oauth(options as never);
  } catch (error) {
    expect(error).toMatchObject({ code: 'DECORUM_INVALID_OPTION' });
    return (error as Error).message.replace(' [DECORUM_INVALID_OPTION]', '');
  }
  return 'none';
}

describe('oauth fails at startup', () => {
  it.each([
    [undefined, '`options` must be an object'],
    [{}, '`issuer` is missing. Pass the URL of your authorization server, or `apiKeys`, or `verify`'],
    [{ ...valid, isuer: ISSUER }, '`isuer` is not an option. Write `issuer`'],
    [{ ...valid, authenticate: () => {} }, '`authenticate` is not an option'],
    [{ ...valid, issuer: Promise.resolve(ISSUER) }, 'promise. Await it'],
    [{ ...valid, issuer: '' }, '`issuer` is empty'],
    [{ ...valid, issuer: 7 }, '`issuer` must be a string'],
    [{ ...valid, issuer: [] }, '`issuer` is empty. List at least one issuer'],
    [{ ...valid, issuer: 'id.example.com' }, 'must be a URL, such as "https://id.example.com"'],
    [{ ...valid, issuer: 'https://' }, 'must be a URL'],
    [{ ...valid, issuer: ' https://id.example.com' }, 'must be a URL'],
    [{ ...valid, issuer: 'https://id.exämple.com' }, 'must be a URL'],
    [{ ...valid, issuer: 'http://id.example.com' }, 'must use https'],
    [{ ...valid, issuer: 'http://id.example.com', allowLoopbackHttp: true }, 'must use https'],
    [{ ...valid, issuer: 'http://127.0.0.1.example.com', allowLoopbackHttp: true }, 'must use https'],
    [{ ...valid, issuer: 'http://127.0.0.1:9000' }, 'For tests on this machine, pass `allowLoopbackHttp: true`'],
    [{ ...valid, issuer: 'https://ann:secret@id.example.com' }, 'must not contain a user name or password'],
    [{ ...valid, issuer: 'https://id.example.com?a=b' }, 'must not have a query'],
    [{ ...valid, issuer: 'https://id.example.com#a' }, 'must be a URL'],
    [{ ...valid, issuer: [ISSUER, ISSUER] }, '`issuer[1]` repeats "https://id.example.com"'],
    [{ ...valid, issuer: [ISSUER, 'http://two.example'] }, '`issuer[1]` is "http://two.example", but must use https'],
    [{ ...valid, issuer: { url: ISSUER } }, 'oauth.issuer: `url` is not an option'],
    [{ ...valid, issuer: {} }, '`issuer.issuer` is missing'],
    [{ ...valid, issuer: { issuer: ISSUER, tokenTypes: 'JWT' } }, '`tokenTypes` is "JWT", but must be an array'],
    [{ ...valid, issuer: { issuer: ISSUER, tokenTypes: [7] } }, '`issuer.tokenTypes` must be an array of strings'],
    [
      { ...valid, issuer: { issuer: ISSUER, claims: { typ: 'Bearer' } } },
      '`issuer.claims.typ` must be an array of strings',
    ],
    [{ ...valid, issuer: { issuer: ISSUER, claims: { typ: [] } } }, '`issuer.claims.typ` is empty'],
    [{ ...valid, issuer: { issuer: ISSUER, withoutAudience: true } }, 'accepts the tokens of all clients'],
    [
      { ...valid, issuer: { issuer: ISSUER, introspection: { clientId: 'a' } } },
      '`issuer.introspection.clientSecret` is missing',
    ],
    [{ ...valid, issuer: { issuer: ISSUER, introspection: true } }, '`introspection` is true, but must be an object'],
    [
      { ...valid, issuer: { issuer: ISSUER, introspection: { clientId: 'a', clientSecret: '' } } },
      'is empty. If it comes from an environment variable',
    ],
    [{ issuer: ISSUER }, '`audience` is missing'],
    [{ issuer: ISSUER, audience: '' }, '`audience` is empty'],
    [{ issuer: ISSUER, audience: 'mcp' }, '`resource` is missing, and `audience` is no URL'],
    [{ issuer: ISSUER, audience: 'api://mcp' }, '`resource` is missing, and `audience` is no URL'],
    [
      { issuer: ISSUER, audience: 'http://mcp.example.com/mcp' },
      '`audience` is "http://mcp.example.com/mcp", but must use https',
    ],
    [
      { issuer: ISSUER, audience: 'mcp', resource: 'mcp.example.com' },
      '`resource` is "mcp.example.com", but must be a URL',
    ],
    [{ ...valid, resource: 'https://mcp.example.com/mcp?a' }, 'must not have a query'],
    [
      { ...valid, resource: 'https://mcp.example.com/a/../mcp' },
      '`resource` is "https://mcp.example.com/a/../mcp", but clients would send "https://mcp.example.com/mcp"',
    ],
    [{ issuer: ISSUER, audience: 'https://mcp%2eexample.com' }, 'clients would send "https://mcp.example.com/"'],
    [{ issuer: ISSUER, audience: 'https://mcp.example.com:0443' }, 'clients would send "https://mcp.example.com/"'],
    [{ ...valid, resource: 'https://mcp.example.com\\mcp' }, 'must be a URL'],
    [{ ...valid, issuer: 'https://id.example.com\\evil' }, 'must be a URL'],
    [{ ...valid, clockToleranceMs: -1 }, '`clockToleranceMs` is -1'],
    [{ ...valid, clockToleranceMs: 300_001 }, '`clockToleranceMs` is 300001'],
    [{ ...valid, clockToleranceMs: Number.NaN }, '`clockToleranceMs` is NaN'],
    [
      { apiKeys: { ci: { sha256: DIGEST } }, clockToleranceMs: 1000 },
      '`clockToleranceMs` has no effect without `issuer`',
    ],
    [{ ...valid, resource: 'https://mcp.example.com/mcp#a' }, 'must be a URL'],
    [{ ...valid, scopes: 'mcp' }, '`scopes` is "mcp", but must be an array'],
    [
      { ...valid, scopes: ['mcp files'] },
      'contains "mcp files", which is not a scope (RFC 6749, section 3.3). Write ["mcp","files"]',
    ],
    [{ ...valid, scopes: ['a"b'] }, 'which is not a scope'],
    [{ ...valid, scopes: [''] }, 'which is not a scope'],
    [{ ...valid, scopes: [7] }, '`scopes` must be an array of strings'],
    [{ ...valid, scopes: ['offline_access'] }, 'contains "offline_access", which no request needs'],
    [{ ...valid, offer: ['files write'] }, '`offer` contains "files write", which is not a scope'],
    [{ ...valid, offer: ['offline_access'] }, '`offer` contains "offline_access", which no request needs'],
    [{ apiKeys: {}, offer: ['files:write'] }, '`offer` has no effect without `issuer`'],
    [
      { ...valid, issuer: { issuer: 'https://id.example.com', scopePrefix: 'api ' } },
      '`issuer.scopePrefix` is "api ", which no scope can begin with',
    ],
    [
      { ...valid, issuer: { issuer: ISSUER, scopePrefix: 'api://files/' }, scopes: ['api://files/mcp'] },
      `\`scopes\` contains "api://files/mcp", but tokens of ${ISSUER} contain "mcp". Write "mcp"`,
    ],
    [
      { ...valid, issuer: { issuer: ISSUER, scopePrefix: 'api://files/' }, offer: ['api://files/write'] },
      '`offer` contains "api://files/write", but tokens',
    ],
    [{ ...valid, hierarchy: { a: 'b' } }, '`hierarchy.a` must be an array of strings'],
    [{ ...valid, hierarchy: { a: ['b c'] } }, '`hierarchy.a` contains "b c"'],
    [{ ...valid, hierarchy: { 'a b': [] } }, '`hierarchy` contains "a b", which is not a scope'],
    [{ ...valid, hierarchy: { a: ['a'] } }, '`hierarchy` is a cycle: a → a'],
    [{ ...valid, hierarchy: { x: ['a'], a: ['b'], b: ['c', 'd'], d: ['a'] } }, 'is a cycle: a → b → d → a. Remove one'],
    [{ ...valid, apiKeys: {}, apiKeyHeader: 'x y' }, '`apiKeyHeader` is "x y", but must be a header name'],
    [
      { ...valid, apiKeys: {}, apiKeyHeader: 'Authorization' },
      'Leave it out: keys are then sent as `Authorization: Bearer`',
    ],
    [{ ...valid, apiKeyHeader: 'x-key' }, '`apiKeyHeader` has no effect without `apiKeys`'],
    [{ apiKeys: { ci: 'secret' } }, '`apiKeys.ci` must be an object with `sha256` and `scopes`'],
    [{ apiKeys: { ci: {} } }, '`apiKeys.ci.sha256` is missing'],
    [{ apiKeys: { ci: { sha256: 'secret' } } }, 'must be the SHA-256 of the key as 64 hexadecimal digits, not the key'],
    [{ apiKeys: { ci: { sha256: createHash('sha256').digest('hex') } } }, 'is the digest of an empty key'],
    [{ apiKeys: { ci: { sha256: DIGEST, scope: [] } } }, '`scope` is not an option. Write `scopes`'],
    [{ apiKeys: { ci: { sha256: DIGEST, scopes: ['a b'] } } }, '`apiKeys.ci.scopes` contains "a b"'],
    [
      { apiKeys: { ci: { sha256: DIGEST }, cd: { sha256: DIGEST.toUpperCase() } } },
      '`apiKeys.cd` has the same digest as `ci`',
    ],
    [{ apiKeys: { '': { sha256: DIGEST } } }, 'has an empty name'],
    [{ apiKeys: { ci: { sha256: DIGEST } }, audience: AUDIENCE }, '`audience` has no effect without `issuer`'],
    [{ verify: () => undefined, cacheMs: 0 }, '`cacheMs` has no effect without `issuer`'],
    [{ verify: 'x' }, '`verify` is "x", but must be a function'],
    [{ ...valid, cacheMs: 60_001 }, '`cacheMs` is 60001, but must be a whole number from 0 to 60000'],
    [{ ...valid, legacyEndpoints: 'yes' }, '`legacyEndpoints` is "yes", but must be true or false'],
    [{ ...valid, onEvent: console }, '`onEvent` is an object, but must be a function'],
  ])('with %j: %s', (options, message) => {
    expect(mistake(options)).toContain(message);
  });

  it('and never shows a secret', () => {
    expect(mistake({ apiKeys: { ci: { sha256: 'my-secret-key' } } })).not.toContain('my-secret-key');
    const introspection = { clientId: 7, clientSecret: 'my-secret' };
    expect(mistake({ ...valid, issuer: { issuer: ISSUER, introspection } })).not.toContain('my-secret');
  });
});

it('oauth accepts what is right', () => {
  for (const options of [
    valid,
    { ...valid, issuer: 'https://id.example.com/' },
    { ...valid, issuer: [ISSUER, { issuer: 'https://two.example.com/tenant', tokenTypes: ['JWT'] }] },
    { ...valid, issuer: 'http://localhost:9000', allowLoopbackHttp: true },
    { ...valid, issuer: 'http://[::1]:9000', allowLoopbackHttp: true },
    { issuer: ISSUER, audience: 'api://mcp', resource: AUDIENCE },
    { issuer: ISSUER, audience: 'http://127.0.0.1:3000/mcp', allowLoopbackHttp: true },
    { issuer: { issuer: ISSUER, audience: 'mcp' }, resource: AUDIENCE },
    { ...valid, hierarchy: { a: ['b', 'c'], b: ['c'] } },
    { apiKeys: { ci: { sha256: DIGEST.toUpperCase() } } },
    { verify: () => ({ subject: 'ada' }) },
    { ...valid, scopes: undefined, cacheMs: 0 },
  ]) {
    expect([options, mistake(options)]).toEqual([options, 'none']);
  }
});
