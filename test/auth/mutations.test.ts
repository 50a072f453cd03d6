// Tokens that are almost valid, against a server on a port: none is accepted, and none makes the server do anything.
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { createKey, HostileIssuer } from './hostile-issuer.js';
import { type Served, serve } from './processes.js';

const SEED = 20_261_122;

let issuer: HostileIssuer;
let server: Served;

beforeAll(async () => {
  issuer = await HostileIssuer.open([createKey('ES256', 'one'), createKey('RS256', 'two')]);
  server = await serve(() => ({ issuer: issuer.url }));
});

afterAll(async () => {
  await server.close();
  await issuer.stop();
});

/** Sends the head of a call, and never its body. Resolves with everything that the server sends. */
async function sendHead(token: string): Promise<string> {
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.write(
    Buffer.from(
      [
        'POST /mcp HTTP/1.1',
        `Host: 127.0.0.1:${port}`,
        'Content-Type: application/json',
        'Accept: application/json, text/event-stream',
        'Content-Length: 1000',
        `Authorization: Bearer ${token}`,
        '',
        '',
      ].join('\r\n'),
      'latin1',
    ),
  );
  await once(socket, 'close');
  return text;
}

const parts = (token: string) => token.split('.') as [string, string, string];
const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** JSON values that confuse careless code. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, '', [], {}, 1e21, 'none', 'HS256', 'at+jwt', '__proto__', '../../etc'),
  fc.jsonValue({ maxDepth: 1 }),
);

const HEADER = ['alg', 'typ', 'kid', 'crit', 'jku', 'jwk', 'x5u', 'x5c', 'b64', 'enc', 'zip'];
const CLAIMS = ['iss', 'aud', 'sub', 'exp', 'nbf', 'scope', 'cnf', 'client_id', '__proto__'];

/** A change of a token. */
type Change = (token: string) => string;

const at = fc.nat(2000);

/** Changes of the token as text. */
const textual: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(at, fc.constantFrom(...'ABCabc019-_.=+/~ ,"\u00e9')).map(
    ([position, letter]): Change =>
      (token) =>
        token.slice(0, position % token.length) + letter + token.slice((position % token.length) + 1),
  ),
  at.map(
    (position): Change =>
      (token) =>
        token.slice(0, position % token.length) + token.slice((position % token.length) + 1),
  ),
  at.map(
    (position): Change =>
      (token) =>
        token.slice(0, position % token.length),
  ),
  fc.constantFrom('.', '=', '==', '.a', 'A', 'AA', '%00', '.e30', ' a').map(
    (end): Change =>
      (token) =>
        token + end,
  ),
  fc.constantFrom('a', '.', 'e30.', 'Bearer').map(
    (start): Change =>
      (token) =>
        start + token,
  ),
  fc.shuffledSubarray([0, 1, 2], { minLength: 1 }).map(
    (order): Change =>
      (token) =>
        order.map((part) => parts(token)[part]).join('.'),
  ),
);

/** Changes of the header or the claims that keep the signature. */
const structural: fc.Arbitrary<Change> = fc
  .record({ inHeader: fc.boolean(), name: fc.constantFrom(...HEADER, ...CLAIMS), value: odd })
  .map(({ inHeader, name, value }): Change => (token) => {
    const [header, claims, signature] = parts(token);
    const changed = encode({ ...decode(inHeader ? header : claims), [name]: value });
    return inHeader ? [changed, claims, signature].join('.') : [header, changed, signature].join('.');
  });

/** Claims that the issuer itself signs, but that no token for this server has. */
const signed: fc.Arbitrary<Change> = fc
  .record({ name: fc.constantFrom('iss', 'aud', 'exp', 'sub'), value: odd })
  // any other text is a subject, and a large number a time
  .filter(({ name, value }) => !(name === 'sub' && typeof value === 'string' && value !== ''))
  .filter(({ name, value }) => !(name === 'exp' && typeof value === 'number' && value > 1e9))
  .map(
    ({ name, value }): Change =>
      () =>
        issuer.sign({ aud: server.url, scope: 'mcp', [name]: value }),
  );

const CHANGES = { 'changed letters': textual, 'changed members': structural, 'wrong claims that are signed': signed };

describe.each([
  ['changed letters', 500],
  ['changed members', 500],
  ['wrong claims that are signed', 150],
] as const)('tokens with %s', (kind, count) => {
  it(`are all refused before their body is read, without running anything: ${count}`, async () => {
    const valid = issuer.keys.map((key) => issuer.sign({ aud: server.url, scope: 'mcp' }, { key }));
    const source = fc.record({ of: fc.constantFrom(...valid), change: CHANGES[kind] });
    const samples = fc.sample(source, { numRuns: 3 * count, seed: SEED });
    const mutated = new Set(
      samples.map(({ of, change }) => change(of)).filter((token) => !valid.includes(token.trim())),
    );
    const queue = [...mutated].slice(0, count);
    expect(queue).toHaveLength(count);
    const statuses = new Set<string>();
    const worker = async () => {
      for (let token = queue.pop(); token !== undefined; token = queue.pop()) {
        const text = await sendHead(token);
        statuses.add(text.slice(9, 12));
        // nothing of what verifying found
        expect(text).toMatch(
          /Authentication is required\.|The credentials are malformed\.|Authorization is required\./,
        );
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    expect([...statuses].filter((status) => status !== '400')).toEqual(['401']);
    expect(server.ran).toEqual([]);
    // the tokens that they were made of are valid
    for (const token of valid) expect(await server.auth.principalOf(token)).toMatchObject({ subject: 'ada' });
    const [metadata, ...keys] = issuer.requests;
    expect([metadata, ...new Set(keys)]).toEqual(['/.well-known/oauth-authorization-server', '/jwks']);
    // an unknown `kid` may be a new key, so keys are fetched again from time to time: on a busy machine, during this test
    expect(keys.length).toBeLessThan(12);
  });
});

describe('tokens whose values are nested as deep as fits', () => {
  const deep = (text: string, name: string) => {
    const nested = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    const members = { ...decode(text), [name]: '?' };
    return Buffer.from(JSON.stringify(members).replace('"?"', nested)).toString('base64url');
  };

  it('are refused, in the header and in the claims', async () => {
    const [header, claims, signature] = parts(issuer.sign({ aud: server.url, scope: 'mcp' }));
    for (const name of HEADER.slice(0, 4)) {
      expect(await sendHead([deep(header, name), claims, signature].join('.'))).toMatch(/^HTTP\/1\.1 401 /);
    }
    for (const name of CLAIMS.slice(0, 5)) {
      expect(await sendHead([header, deep(claims, name), signature].join('.'))).toMatch(/^HTTP\/1\.1 401 /);
    }
  });
});
