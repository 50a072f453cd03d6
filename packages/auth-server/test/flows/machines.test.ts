// Clients that get tokens for themselves.
import { describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { eachRevision } from '../../../../test/support/requirements.js';
import { Client, partsOf, sendForm } from './client.js';
import { serve, stopClock } from './site.js';

stopClock();

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});

const FOR_ITSELF = { grant_type: 'client_credentials' };

describe('A client of the options', () => {
  eachRevision('AUTH25-07', 'gets a token for itself with its secret, and only for its own scopes', async () => {
    const machine = { clientId: 'nightly', clientSecret: 'a secret', grantTypes: ['client_credentials'] } as const;
    const { issuer, resource, call } = await serve({ clients: [{ ...machine, scopes: ['mcp', 'notes:write'] }] });
    const url = `${issuer}/token`;
    const { status, body } = await sendForm(url, FOR_ITSELF, basic('nightly', 'a secret'));
    expect([status, body]).toEqual([
      200,
      { access_token: expect.any(String), expires_in: 300, scope: 'mcp notes:write', token_type: 'Bearer' },
    ]);
    const token = body['access_token'] as string;
    const [header, claims] = partsOf(token);
    expect(header).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    expect(claims).toMatchObject({ sub: 'nightly', client_id: 'nightly', aud: resource, iss: issuer });
    const { status: called, text } = await call(token);
    expect([called, text]).toEqual([200, expect.stringMatching(/\\"kind\\":\\"client\\"/)]);
    const more = await sendForm(url, { ...FOR_ITSELF, scope: 'mcp admin' }, basic('nightly', 'a secret'));
    expect(more.body['scope']).toBe('mcp');
    const nothing = await sendForm(url, { ...FOR_ITSELF, scope: 'admin unknown' }, basic('nightly', 'a secret'));
    expect(nothing).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
    for (const wrong of [basic('nightly', 'another'), basic('unknown', 'a secret')]) {
      expect(await sendForm(url, FOR_ITSELF, wrong)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    }
    const other = await sendForm(
      url,
      { ...FOR_ITSELF, resource: 'https://other.example/mcp' },
      basic('nightly', 'a secret'),
    );
    expect(other).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
  });

  it('gets one with a signed assertion, which is good once [AUTHX-02]', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] };
    const { issuer, call } = await serve({
      clients: [{ clientId: 'signed', jwks, grantTypes: ['client_credentials'] }],
    });
    const sign = async (audience: string) =>
      await new SignJWT({ jti: crypto.randomUUID() })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer('signed')
        .setSubject('signed')
        .setAudience(audience)
        .setIssuedAt(Math.floor(Date.now() / 1000))
        .setExpirationTime(Math.floor(Date.now() / 1000) + 60)
        .sign(privateKey);
    const ask = async (assertion: string) => {
      const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
      return await sendForm(`${issuer}/token`, {
        ...FOR_ITSELF,
        client_assertion: assertion,
        client_assertion_type: type,
      });
    };
    const assertion = await sign(issuer);
    const { body } = await ask(assertion);
    expect(body).toMatchObject({ scope: 'mcp' });
    expect((await call(body['access_token'] as string)).status).toBe(200);
    expect((await ask(assertion)).body).toMatchObject({ error: 'invalid_client' });
    expect((await ask(await sign('https://other.example'))).body).toMatchObject({ error: 'invalid_client' });
  });

  eachRevision(
    ['AUTHX-01', 'AUTHX-05'],
    'changes nothing for clients with users: both get what is theirs',
    async () => {
      const machine = { clientId: 'nightly', clientSecret: 'a secret', grantTypes: ['client_credentials'] } as const;
      const site = await serve({ clients: [{ ...machine, scopes: ['mcp'] }] });
      const app = await Client.register(site);
      const { access_token: token, refresh_token: next, scope } = await app.connect({ scope: 'mcp notes:write' });
      expect(scope).toBe('mcp notes:write');
      expect((await app.refresh(next)).status).toBe(200);
      const { body } = await sendForm(`${site.issuer}/token`, FOR_ITSELF, basic('nightly', 'a secret'));
      for (const each of [token, body['access_token'] as string]) expect((await site.call(each)).status).toBe(200);
      expect((await sendForm(`${site.issuer}/token`, { ...FOR_ITSELF, client_id: app.id })).status).toBe(400);
      expect((await app.revoke(next)).status).toBe(200);
      expect(await app.call(token)).toBe(401);
      expect((await site.call(body['access_token'] as string)).status).toBe(200);
    },
  );

  it('hears that its token can not be revoked, which it might believe otherwise (RFC 7009)', async () => {
    const machine = { clientId: 'nightly', clientSecret: 'a secret', grantTypes: ['client_credentials'] } as const;
    const { issuer, call } = await serve({ clients: [machine, { ...machine, clientId: 'other' }] });
    const { body } = await sendForm(`${issuer}/token`, FOR_ITSELF, basic('nightly', 'a secret'));
    const token = body['access_token'] as string;
    const revoke = async (id: string) => await sendForm(`${issuer}/revoke`, { token }, basic(id, 'a secret'));
    expect(await revoke('nightly')).toMatchObject({ status: 400, body: { error: 'unsupported_token_type' } });
    expect((await revoke('other')).status).toBe(200);
    expect((await call(token)).status).toBe(200);
  });

  it('gets none unless the options say so, however it was registered', async () => {
    const { issuer } = await serve({
      clients: [{ clientId: 'app', clientSecret: 'a secret', redirectUris: ['https://app.example/cb'] }],
    });
    const refused = await sendForm(`${issuer}/token`, FOR_ITSELF, basic('app', 'a secret'));
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    const metadata = await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json();
    expect(metadata).toMatchObject({ grant_types_supported: ['authorization_code', 'refresh_token'] });
  });
});
