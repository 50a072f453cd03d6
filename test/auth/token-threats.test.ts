// What attackers try with tokens and API keys. Each attempt goes to every entry point of a server on a port.
/* oxlint-disable jest/no-standalone-expect -- inEveryRevision registers a test */
import { Buffer } from 'node:buffer';
import { createHash, createHmac, createPublicKey } from 'node:crypto';

import { expect } from '@jest/globals';

import { stopClock } from '../../packages/http/test/clock.js';
import { afterwards, call, type Fields, json } from '../../packages/http/test/fixture.js';
import { inEveryRevision, inTheFirstRevision, overEveryHost } from '../http-contract/contract.js';
import { type Door, doorsOf, enter, HttpClient, SseClient } from '../revisions/http-client.js';
import type { Revision } from '../support/requirements.js';
import { createKey, HostileIssuer, type Key } from './hostile-issuer.js';
import { AUDIENCE, bearer, Issuers } from './threats.js';

const METADATA = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"';
const INVALID = 'error="invalid_token", error_description="The access token is not valid or has expired."';

const issuers = new Issuers();
const sign = issuers.sign.bind(issuers);

/** All entry points that need a token, without one. The server has seen a valid one. */
async function closedDoors(url: string, revision: Revision, valid: Fields = bearer(sign())): Promise<Door[]> {
  const doors = await doorsOf(url, revision, valid);
  const [first] = doors as [Door];
  expect((await enter(first)).status).toBe(first.served);
  return doors
    .filter(({ name }) => name !== 'OPTIONS')
    .map(({ headers: { authorization: _valid, 'x-key': _key, ...headers }, ...door }) => ({ ...door, headers }));
}

/** Tries headers at every door. Returns the different answers. */
async function knock(doors: readonly Door[], headers: Fields): Promise<string[]> {
  const answers = [];
  for (const door of doors) {
    const { status, challenge, text } = await enter(door, headers);
    answers.push(`${status} ${challenge} ${text}`);
  }
  return [...new Set(answers)];
}

/** The same doors with a parameter in their URLs. */
const withQuery = (doors: readonly Door[], parameter: string): Door[] =>
  doors.map((door) => ({ ...door, url: `${door.url}${door.url.includes('?') ? '&' : '?'}${parameter}` }));

const REFUSAL = '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Authentication is required."}}';
const REFUSED = [`401 Bearer ${METADATA}, scope="mcp", ${INVALID} ${REFUSAL}`];

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');
const pemOf = ([key]: readonly Key[]): string =>
  createPublicKey(key?.privateKey as never).export({ type: 'spki', format: 'pem' }) as string;

/** A token whose header and signature are the attacker's. */
function forged(header: object, signature: (data: string) => Buffer | string): string {
  const [, claims] = sign().split('.');
  const data = `${encode({ typ: 'at+jwt', kid: 'key-1', ...header })}.${claims}`;
  return `${data}.${Buffer.from(signature(data)).toString('base64url')}`;
}

/** Signs with a secret that everybody can know. */
const bySecret = (secret: string, header: object = {}) =>
  forged({ alg: 'HS256', ...header }, (data) => createHmac('sha256', secret).update(data).digest());

/** Signs with a key of the attacker. */
const byEvil = (header: Readonly<Record<string, unknown>>) => sign({}, { key: issuers.evil.keys[0] as Key, header });

const FORGED: readonly (readonly [string, () => string])[] = [
  ['unsigned', () => forged({ alg: 'none' }, () => '')],
  ['unsigned, with its algorithm in another case', () => forged({ alg: 'nOnE' }, () => '')],
  ['with its signature cut off', () => forged({ alg: 'ES256' }, () => '')],
  ['with a signature of zeros', () => forged({ alg: 'ES256' }, () => Buffer.alloc(64))],
  ['signed with the public key as a secret', () => bySecret(JSON.stringify(issuers.trusted.keys[0]?.jwk))],
  ['signed with the text of the public key as a secret', () => bySecret(pemOf(issuers.trusted.keys))],
  ['signed with an empty file as a secret', () => bySecret('', { kid: '../../../dev/null' })],
  ['whose `kid` is a URL', () => byEvil({ kid: `${issuers.evil.url}/jwks` })],
  ['whose `kid` is a query', () => byEvil({ kid: "' UNION SELECT 'key" })],
  ['signed with a key of the same name', () => byEvil({})],
  ['that names a URL of its keys', () => byEvil({ jku: `${issuers.evil.url}/jwks` })],
  ['that names a URL of its certificate', () => byEvil({ x5u: `${issuers.evil.url}/jwks` })],
  ['that brings its key', () => byEvil({ jwk: issuers.evil.keys[0]?.jwk })],
  ['that brings its certificate', () => byEvil({ x5c: [Buffer.from(pemOf(issuers.evil.keys)).toString('base64')] })],
  ['of another issuer', () => issuers.evil.sign({ aud: AUDIENCE, scope: 'mcp' })],
  ['with an extension that must be understood', () => sign({}, { header: { crit: ['x'], x: true } })],
  ['with a payload that is not encoded', () => sign({}, { header: { crit: ['b64'], b64: false } })],
];

const FOREIGN_AUDIENCES = [
  undefined,
  'https://other.example.com/mcp',
  ['https://other.example.com/mcp', 'https://mcp.example.com'],
  `${AUDIENCE}/`,
  `${AUDIENCE}2`,
  `${AUDIENCE}/admin`,
  `${AUDIENCE}?x`,
  'https://mcp.example.com.evil.example/mcp',
  'https://mcp.example.com@evil.example/mcp',
  'https://evil.example/https://mcp.example.com/mcp',
  '*',
  { 0: AUDIENCE },
];

const EVENTS = { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } };
const CLIENT = { iss: 'editor', sub: 'editor' };

/** Other tokens that carry the issuer's signature, or the client's, and where they differ from access tokens. */
const OTHER_KINDS: readonly (readonly [string, string, object])[] = [
  ['an ID token', 'JWT', { nonce: 'n' }],
  ['an ID token of the token endpoint', 'JWT', { at_hash: 'h' }],
  ['an ID token for the client', 'JWT', { aud: 'editor' }],
  ['a logout token', 'logout+jwt', EVENTS],
  ['a logout token of type JWT', 'JWT', EVENTS],
  ['a security event', 'secevent+jwt', EVENTS],
  ['a proof of possession', 'dpop+jwt', { htm: 'POST', htu: AUDIENCE }],
  ['the assertion of a client', 'client-authentication+jwt', CLIENT],
  ['the assertion of a client, of type JWT', 'JWT', CLIENT],
  ['an authorization request', 'oauth-authz-req+jwt', CLIENT],
  ['an answer about a token', 'token-introspection+jwt', {}],
];

overEveryHost('a token', (host) => {
  inEveryRevision('that is forged is refused at every entry point, and nothing is fetched', async (revision) => {
    stopClock();
    const { url, files } = await issuers.serve(host);
    const doors = await closedDoors(url, revision);
    // the keys are known by now
    const [fetched, ran] = [issuers.trusted.requests.length, files.ran.length];
    for (const [what, forge] of FORGED) {
      expect([what, await knock(doors, bearer(forge()))]).toEqual([what, REFUSED]);
    }
    expect([issuers.trusted.requests.length, issuers.evil.requests, files.ran.length]).toEqual([fetched, [], ran]);
  });

  inEveryRevision('for another server is refused at every entry point', async (revision) => {
    const { url } = await issuers.serve(host);
    const doors = await closedDoors(url, revision);
    for (const aud of FOREIGN_AUDIENCES) {
      expect([aud, await knock(doors, bearer(sign({ aud })))]).toEqual([aud, REFUSED]);
    }
  });

  inEveryRevision('of another kind is refused, even where access tokens are of type JWT', async (revision) => {
    for (const tokenTypes of [[], ['JWT', '']]) {
      const { url } = await issuers.serve(host, { issuer: { issuer: issuers.trusted.url, tokenTypes } });
      const doors = await closedDoors(url, revision);
      for (const [kind, typ, claims] of OTHER_KINDS) {
        expect([kind, await knock(doors, bearer(sign(claims, { header: { typ } })))]).toEqual([kind, REFUSED]);
      }
    }
  });

  inEveryRevision('is asked for with its scope and the metadata, and without an error', async (revision) => {
    const { url } = await issuers.serve(host);
    const doors = await closedDoors(url, revision);
    const unauthorized = '"code":-32600,"message":"Authorization is required.","data":{"scopes":["mcp"]}';
    const asked = [`401 Bearer ${METADATA}, scope="mcp" {"jsonrpc":"2.0","error":{${unauthorized}}}`];
    const token = sign();
    expect(await knock(doors, {})).toEqual(asked);
    expect(await knock(withQuery(doors, `access_token=${token}`), {})).toEqual(asked);
    expect(await knock(doors, { cookie: `access_token=${token}` })).toEqual(asked);
    // another scheme counts as none, and only the body differs
    for (const authorization of [`Basic ${token}`, `DPoP ${token}`, token]) {
      expect(await knock(doors, { authorization })).toEqual([`401 Bearer ${METADATA}, scope="mcp" ${REFUSAL}`]);
    }
    const metadata = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url));
    expect(await metadata.json()).toMatchObject({ resource: AUDIENCE, authorization_servers: [issuers.trusted.url] });
  });

  inEveryRevision('with too few scopes is refused for each operation that needs more', async (revision) => {
    const { url, files } = await issuers.serve(host);
    const client = await HttpClient.open(url, revision, bearer(sign()));
    const denied = (scope: string) => [
      403,
      `Bearer error="insufficient_scope", scope="${scope}", ${METADATA}, error_description="The request needs scopes that the access token does not have."`,
    ];
    for (const [name, scope] of [
      ['write', 'mcp files:write'],
      ['purge', 'mcp files:write files:admin'],
    ] as const) {
      const answer = await client.call(1, name);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual(denied(scope));
      expect(await json(answer)).toMatchObject({ id: 1, error: { code: -32600, data: { scopes: scope.split(' ') } } });
    }
    if (revision === '2025-03-26') {
      const answer = await client.post([call(1, 'list'), call(2, 'write'), call(3, 'purge')]);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual(denied('mcp files:write files:admin'));
    }
    expect(files.ran).toEqual([]);
    const wider = bearer(sign({ scope: 'mcp files:write' }));
    expect((await client.call(2, 'write', { headers: wider })).status).toBe(200);
    expect((await client.call(3, 'purge', { headers: wider })).status).toBe(403);
    // a token is no more than it was before
    expect((await client.call(4, 'write')).status).toBe(403);
    expect(files.ran).toEqual(['write']);
  });

  inTheFirstRevision('with too few scopes is refused on the POST of HTTP+SSE', async () => {
    const { url, files } = await issuers.serve(host);
    const client = await SseClient.open(new URL('/sse', url).href, bearer(sign()));
    const answer = await client.send(call(1, 'write'));
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('scope="mcp files:write"'),
    ]);
    expect((await client.send(call(2, 'write'), bearer(sign({ scope: 'mcp files:write' })))).status).toBe(202);
    expect((await client.reader.message()).message).toMatchObject({ id: 2, result: {} });
    expect(files.ran).toEqual(['write']);
  });

  inEveryRevision('with an unknown key id makes the issuer send its keys once in 5 seconds', async (revision) => {
    const wind = stopClock();
    const issuer = await HostileIssuer.open();
    afterwards(() => issuer.stop());
    const { url, files } = await issuers.serve(host, { issuer: issuer.url });
    const signed = (key?: Key) => bearer(issuer.sign({ aud: AUDIENCE, scope: 'mcp' }, { ...(key && { key }) }));
    const client = await HttpClient.open(url, revision, signed());
    const unknown = createKey('ES256', 'unknown');
    const flood = async (round: number) => {
      const statuses = Array.from({ length: 20 }, async (_, n) => {
        const headers = signed({ ...unknown, kid: `${round}-${n}` });
        return (await client.call(n, 'list', { headers })).status;
      });
      expect(new Set(await Promise.all(statuses))).toEqual(new Set([401]));
    };
    const counts = [];
    for (const ms of [0, 4999, 1, 4999]) {
      wind(ms);
      await flood(ms);
      counts.push(issuer.count('/jwks'));
    }
    expect([counts, files.ran]).toEqual([[1, 1, 2, 2], []]);
    expect((await client.call('known', 'list')).status).toBe(200);
  });

  inEveryRevision('is served while the issuer is away, if its key is known', async (revision) => {
    const wind = stopClock();
    const issuer = await HostileIssuer.open();
    afterwards(() => issuer.stop());
    const { url, files } = await issuers.serve(host, { issuer: issuer.url, cacheMs: 0 });
    const signed = (key?: Key) =>
      bearer(issuer.sign({ aud: AUDIENCE, scope: 'mcp', exp: 4_000_000_000 }, { ...(key && { key }) }));
    await issuer.stop();
    const cold = await fetch(url, { method: 'POST', headers: signed() });
    expect([cold.status, cold.headers.get('retry-after')]).toEqual([503, '5']);
    await issuer.start();
    wind(30_000);
    const client = await HttpClient.open(url, revision, signed());
    expect(await client.status()).toBe(200);
    await issuer.stop();
    for (const ms of [0, 10 * 60_000, 23 * 3_600_000]) {
      wind(ms);
      expect((await client.call(ms, 'list')).status).toBe(200);
      const headers = signed(createKey('ES256', 'new'));
      expect((await client.call(ms, 'list', { headers })).status).toBe(401);
    }
    // nobody knows any more whether the key is valid
    wind(2 * 3_600_000);
    expect((await client.call('late', 'list')).status).toBe(503);
    expect(files.ran).toEqual(['list', 'list', 'list']);
  });
});

const KEY = 'a-long-random-key';
const DIGEST = createHash('sha256').update(KEY).digest('hex');

/** The headers that keys are sent in, and other places where a key is found in vain. */
const PLACES = [
  { apiKeyHeader: undefined, send: bearer, elsewhere: [{ 'x-key': KEY }, { 'x-api-key': KEY }] },
  { apiKeyHeader: 'x-key', send: (key: string): Fields => ({ 'x-key': key }), elsewhere: [bearer(KEY)] },
] as const;

overEveryHost('an API key', (host) => {
  inEveryRevision('counts only as a whole, and only in its header', async (revision) => {
    for (const { apiKeyHeader, send, elsewhere } of PLACES) {
      const apiKeys = { other: { sha256: 'ab'.repeat(32) }, ci: { sha256: DIGEST, scopes: ['mcp'] } };
      const { url } = await issuers.serve(host, { apiKeys, ...(apiKeyHeader && { apiKeyHeader }) });
      const doors = await closedDoors(url, revision, send(KEY));
      const wrong = [KEY.slice(1), KEY.slice(0, -1), `${KEY}x`, KEY.toUpperCase(), DIGEST, 'ci', 'ab'.repeat(32)];
      for (const key of wrong) expect([key, await knock(doors, send(key))]).toEqual([key, REFUSED]);
      for (const name of ['access_token', 'api_key', 'x-key', 'authorization']) {
        const [status] = await knock(withQuery(doors, `${name}=${KEY}`), { cookie: `${name}=${KEY}` });
        expect([name, status?.slice(0, 3)]).toEqual([name, '401']);
      }
      for (const headers of elsewhere)
        expect((await knock(doors, headers)).map((each) => each.slice(0, 3))).toEqual(['401']);
      for (const door of doors)
        expect([door.name, (await enter(door, send(KEY))).status]).toEqual([door.name, door.served]);
    }
  });
});
