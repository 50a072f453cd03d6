// What callers try who have no token of their own, or one for something else: the OAuth threats on a server that issues
// its tokens itself.
import { createHmac, createPublicKey, type JsonWebKey, randomBytes } from 'node:crypto';

import { beforeAll, describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { MemoryStore } from '../../src/store/memory-store.js';
import type { User } from '../../src/users/user-directory.js';
import { openOrigin } from '../clients/origin.js';
import { Client, partsOf, type Tokens } from './client.js';
import { directory, serve, type Site, stopClock } from './site.js';

stopClock();

const users: User[] = [];
let site: Site;
let client: Client;
beforeAll(async () => {
  site = await serve({ users: directory(users) });
  client = await Client.register(site);
});
/** Who there is. */
const people = (...subjects: readonly (string | User)[]) =>
  void users.splice(0, users.length, ...subjects.map((each) => (typeof each === 'string' ? { subject: each } : each)));

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const connect = async (replaced = {}): Promise<Tokens> => {
  people('alice');
  return await client.connect(replaced);
};

describe('a token that this server has not issued', () => {
  it('is refused, whatever its header says, and nothing is fetched because of it', async () => {
    const { access_token: token } = await connect();
    const [header, claims] = partsOf(token) as [Record<string, string>, Record<string, string>];
    const { keys } = (await (await fetch(`${site.issuer}/jwks`)).json()) as { keys: JsonWebKey[] };
    const pem = createPublicKey({ key: keys[0] as JsonWebKey, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig' };
    const origin = await openOrigin();
    origin.sends({ keys: [jwk] });
    const sign = async (more: object) =>
      await new SignJWT(claims).setProtectedHeader({ ...header, alg: 'ES256', ...more }).sign(privateKey);
    const hmac = (secret: string | Buffer) => {
      const input = `${encoded({ ...header, alg: 'HS256' })}.${encoded(claims)}`;
      return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
    };
    const [ownHeader, , signature] = token.split('.') as [string, string, string];
    const forged = {
      'alg none': `${encoded({ ...header, alg: 'none' })}.${encoded(claims)}.`,
      'alg none with the signature': `${encoded({ ...header, alg: 'none' })}.${encoded(claims)}.${signature}`,
      'HS256 with the public key': hmac(pem),
      'HS256 with nothing': hmac(''),
      'another key with our kid': await sign({}),
      'another key': await sign({ kid: 'other' }),
      jwk: await sign({ jwk, kid: undefined }),
      jku: await sign({ jku: origin.url('/jwks'), kid: 'other' }),
      x5u: await sign({ x5u: origin.url('/chain') }),
      'another scope': `${ownHeader}.${encoded({ ...claims, scope: 'mcp admin' })}.${signature}`,
      'another subject': `${ownHeader}.${encoded({ ...claims, sub: 'bob' })}.${signature}`,
    };
    for (const [what, each] of Object.entries(forged)) expect([what, await client.call(each)]).toEqual([what, 401]);
    expect(origin.connections()).toBe(0);
    expect(await client.call(token)).toBe(200);
  });

  it('is refused for other things than calls, too: a refresh token, a code, a registration', async () => {
    const { refresh_token: next } = await connect();
    const { code = '' } = (await client.authorize()).answer;
    const { client_secret: secret } = (await Client.register(site)) as unknown as { client_secret?: string };
    for (const token of [next, code, client.id, secret ?? randomBytes(32).toString('base64url')])
      expect(await client.call(token)).toBe(401);
    expect((await client.exchange(next)).body['error']).toBe('invalid_grant');
    expect((await client.refresh(code)).body['error']).toBe('invalid_grant');
    // looking at them has not used them up
    expect((await client.exchange(code)).status).toBe(200);
    expect((await client.refresh(next)).status).toBe(200);
  });

  it('is refused by another server over the same store, for whose resource it is not', async () => {
    class SharedStore extends MemoryStore {
      override readonly isPersistent = true as never;
    }
    const store = new SharedStore({}, { now: () => Date.now(), wait: async () => {} });
    const platform = { env: { DECORUM_SECRET: 'x'.repeat(40) } };
    const [one, other] = [await serve({ store, platform }), await serve({ store, platform })];
    const { access_token: token } = await (await Client.register(one)).connect();
    expect([(await one.call(token)).status, (await other.call(token)).status]).toEqual([200, 401]);
  });

  it('is refused in the query, and the challenge tells where to get one', async () => {
    const { access_token: token } = await connect();
    const { status, headers } = await fetch(`${site.resource}?access_token=${token}`, { method: 'POST' });
    expect(status).toBe(401);
    const challenge = String(headers.get('www-authenticate'));
    expect(challenge).toMatch(/^Bearer .*resource_metadata="[^"]+\/\.well-known\/oauth-protected-resource\/mcp"/);
    expect(challenge).toContain('scope="mcp"');
    expect(challenge).not.toContain('error=');
  });
});

describe('a grant', () => {
  it('gives no new tokens once its user is gone', async () => {
    const { refresh_token: next } = await connect();
    people('bob');
    const { status, body } = await client.refresh(next);
    expect([status, body['error']]).toEqual([400, 'invalid_grant']);
    people('alice');
    expect((await client.refresh(next)).status).toBe(200);
  });

  it('loses the scopes that its user loses', async () => {
    const { refresh_token: next } = await connect({ scope: 'mcp notes:write' });
    people({ subject: 'alice', scopes: ['mcp'] });
    const { body } = await client.refresh(next);
    expect(body['scope']).toBe('mcp');
    expect(partsOf(body['access_token'] as string)[1]).toMatchObject({ scope: 'mcp' });
  });

  it('gets more scopes only from the user, in another token', async () => {
    const { access_token: narrow } = await connect();
    const write = async (token: string) => await site.call(token, 'notes_write');
    const { status, headers } = await write(narrow);
    expect([status, headers.get('www-authenticate')]).toEqual([403, expect.stringContaining('insufficient_scope')]);
    expect(headers.get('www-authenticate')).toContain('notes:write');
    const { access_token: wide } = await connect({ scope: 'mcp notes:write' });
    expect((await write(wide)).status).toBe(200);
    expect((await write(narrow)).status).toBe(403);
  });
});
