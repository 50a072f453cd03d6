// What strangers can make the server keep.
import { describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { SYSTEM_CLOCK } from '../src/platform.js';
import { MemoryStore } from '../src/store/memory-store.js';
import { pass, serve, stopClock } from './flows/site.js';

stopClock();

const REDIRECT = 'https://app.example/callback';

const clients = [{ clientId: 'app', redirectUris: [REDIRECT] }];

/** Begins a sign-in that nobody finishes. Returns the status. */
async function begin(issuer: string, { from = '192.0.2.1', state = 'state' } = {}): Promise<number> {
  const query = new URLSearchParams({
    client_id: 'app',
    redirect_uri: REDIRECT,
    response_type: 'code',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    state,
  });
  const headers = { 'x-forwarded-for': from };
  const response = await fetch(`${issuer}/authorize?${query}`, { redirect: 'manual', headers });
  await response.text();
  return response.status;
}

describe('sign-ins that nobody finishes', () => {
  it('are kept up to a cap, the latest ones, and cost others no grant', async () => {
    const store = new MemoryStore({}, SYSTEM_CLOCK);
    const expiresAt = Date.now() + 600_000;
    await store.write([{ key: 'grant:first', value: 'kept', expiresAt: expiresAt - 1000 }]);
    const write = async (id: string) => await store.write([{ key: `interaction:${id}`, value: 'x', expiresAt }]);
    await write('in use');
    for (let n = 0; n < 10_000; n++) {
      await write(String(n));
      // its user goes from page to page
      if (n % 5000 === 0) await write('in use');
    }
    expect(await store.list('interaction')).toHaveLength(10_000);
    for (const id of ['in use', '9999']) expect(await store.get(`interaction:${id}`)).toBe('x');
    expect(await store.get('interaction:0')).toBeUndefined();
    expect(await store.get('grant:first')).toBe('kept');
  });

  it('are refused if they are long, before anything is kept', async () => {
    const store = new MemoryStore({}, SYSTEM_CLOCK);
    const { issuer } = await serve({ clients, store });
    expect(await begin(issuer, { state: 'x'.repeat(8192) })).toBe(414);
    expect(await store.list('interaction')).toEqual([]);
    expect(await begin(issuer, { state: 'x'.repeat(7000) })).toBe(303);
  });

  it.each([
    ['an address', () => '192.0.2.1'],
    ['an IPv6 network', (n: number) => `2001:db8::${n.toString(16)}`],
  ])('of %s are limited to 120 a minute, and all others can sign in', async (_what, from) => {
    const { issuer } = await serve({ clients, trustProxy: true });
    for (let n = 0; n < 120; n++) expect(await begin(issuer, { from: from(n) })).toBe(303);
    expect(await begin(issuer, { from: from(120) })).toBe(429);
    expect(await begin(issuer, { from: '198.51.100.1' })).toBe(303);
    pass(60_000);
    expect(await begin(issuer, { from: from(121) })).toBe(303);
  });
});

describe('what clients sign to prove who they are', () => {
  it.each([
    ['for two hours is refused, and not kept', 7200, 401, 0],
    // the refresh token is wrong
    ['for five minutes is kept, so that it works once', 300, 400, 1],
  ])('%s', async (_what, seconds, status, kept) => {
    const store = new MemoryStore({}, SYSTEM_CLOCK);
    const { issuer } = await serve({ store });
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const registered = await fetch(`${issuer}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: [REDIRECT],
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig' }] },
      }),
    });
    const { client_id: id } = (await registered.json()) as { client_id: string };
    const now = Math.floor(Date.now() / 1000);
    const assertion = await new SignJWT({ iss: id, sub: id, aud: issuer, jti: 'one', iat: now, exp: now + seconds })
      .setProtectedHeader({ alg: 'ES256' })
      .sign(privateKey);
    const body = new URLSearchParams({
      client_id: id,
      grant_type: 'refresh_token',
      refresh_token: 'wrong',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    });
    const answer = await fetch(`${issuer}/token`, { method: 'POST', body });
    expect([answer.status, (await store.list('replay')).length]).toEqual([status, kept]);
  });
});
