// What attackers try with tokens and API keys. Each attempt goes to every entry point of a server on a
// port; forged tokens go to each host.
/* oxlint-disable jest/no-standalone-expect -- inEveryRevision registers a test */
import { Buffer } from 'node:buffer';
import { createHash, createHmac, createPublicKey } from 'node:crypto';

import { expect } from '@jest/globals';

import { stopClock } from '../../packages/http/test/clock.js';
import type { Fields } from '../../packages/http/test/fixture.js';
import { inEveryRevision, overEveryHost } from '../http-contract/contract.js';
import { HOSTS, type HttpHost } from '../http-contract/hosts.js';
import { type Door, doorsOf, enter, HttpClient } from '../support/http-client.js';
import type { Revision } from '../support/requirements.js';
import type { Key } from './hostile-issuer.js';
import { AUDIENCE, bearer, Issuers } from './threats.js';

const METADATA = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"';
const INVALID = 'error="invalid_token", error_description="The access token is not valid or has expired."';

const [LISTEN] = HOSTS as [HttpHost];

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
  ['opaque', () => 'opaque'],
  ['that has expired', () => sign({ exp: 1 })],
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
});

inEveryRevision('a token for another server is refused at every entry point', async (revision) => {
  const { url } = await issuers.serve(LISTEN);
  const doors = await closedDoors(url, revision);
  for (const aud of FOREIGN_AUDIENCES) {
    expect([aud, await knock(doors, bearer(sign({ aud })))]).toEqual([aud, REFUSED]);
  }
});

inEveryRevision('a token of another kind is refused, even where access tokens are of type JWT', async (revision) => {
  for (const tokenTypes of [[], ['JWT', '']]) {
    const { url } = await issuers.serve(LISTEN, { issuer: { issuer: issuers.trusted.url, tokenTypes } });
    const doors = await closedDoors(url, revision);
    for (const [kind, typ, claims] of OTHER_KINDS) {
      expect([kind, await knock(doors, bearer(sign(claims, { header: { typ } })))]).toEqual([kind, REFUSED]);
    }
  }
});

inEveryRevision('a token is asked for with its scope and the metadata, and without an error', async (revision) => {
  const { url } = await issuers.serve(LISTEN);
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

inEveryRevision('a token with more scopes than another leaves that one as it was', async (revision) => {
  const { url, files } = await issuers.serve(LISTEN);
  const client = await HttpClient.open(url, revision, bearer(sign()));
  expect((await client.call(1, 'write')).status).toBe(403);
  expect((await client.call(2, 'write', { headers: bearer(sign({ scope: 'mcp files:write' })) })).status).toBe(200);
  expect((await client.call(3, 'write')).status).toBe(403);
  expect(files.ran).toEqual(['write']);
});

const KEY = 'a-long-random-key';
const DIGEST = createHash('sha256').update(KEY).digest('hex');

/** The headers that keys are sent in, and other places where a key is found in vain. */
const PLACES = [
  { apiKeyHeader: undefined, send: bearer, elsewhere: [{ 'x-key': KEY }, { 'x-api-key': KEY }] },
  { apiKeyHeader: 'x-key', send: (key: string): Fields => ({ 'x-key': key }), elsewhere: [bearer(KEY)] },
] as const;

inEveryRevision('an API key counts only as a whole, and only in its header', async (revision) => {
  for (const { apiKeyHeader, send, elsewhere } of PLACES) {
    const apiKeys = { other: { sha256: 'ab'.repeat(32) }, ci: { sha256: DIGEST, scopes: ['mcp'] } };
    const { url } = await issuers.serve(LISTEN, { apiKeys, ...(apiKeyHeader && { apiKeyHeader }) });
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
