import { AUTH } from '@decorum/http';
import type { Principal } from '@decorum/core';
import { describe, expect, it } from '@jest/globals';

import { auth0, cognito, entra, keycloak, oauth, okta } from '../src/index.js';
import { OAuth } from '../src/oauth.js';
import type { IssuerOptions } from '../src/options.js';
import { bearing, createKey, openIssuer, sendJson, statusOf } from './fixture.js';

const TENANT = '11111111-2222-3333-4444-555555555555';
const AUDIENCE = 'https://mcp.example.com/mcp';
const KEY = createKey('RS256', 'key-1');

/** Verifies tokens of a provider that an issuer of this machine imitates: it answers for the provider's host. */
async function imitate(preset: IssuerOptions, audience = AUDIENCE) {
  const issuer = await openIssuer([KEY]);
  const { origin, pathname } = new URL(preset.issuer);
  const path = pathname.replace(/\/$/, '');
  // none of them has metadata at the place of RFC 8414
  issuer.handlers.clear();
  const metadata = { issuer: preset.issuer, jwks_uri: `${origin}${path}/keys` };
  issuer.handlers.set(`${path}/.well-known/openid-configuration`, (_request, response) => sendJson(response, metadata));
  issuer.handlers.set(`${path}/keys`, (_request, response) => sendJson(response, { keys: [KEY.jwk] }));
  const redirected = (url: string) => url.replace(origin, issuer.url);
  const auth = new OAuth(
    { issuer: preset, audience, resource: AUDIENCE },
    { now: () => Date.now(), fetch: (url, init) => fetch(redirected(url), init) },
  );
  return {
    enter: async (claims: object, header: object = {}) => {
      const token = issuer.sign({ iss: preset.issuer, client_id: undefined, ...claims }, { header: { ...header } });
      return (await auth[AUTH].authenticate(bearing(token), undefined)) as Principal;
    },
  };
}

describe('presets, with imitations of the providers', () => {
  it('auth0: an issuer with a slash, tokens of type JWT, permissions, clients of their own', async () => {
    const preset = auth0({ domain: 'tenant.eu.auth0.com' });
    expect(preset.issuer).toBe('https://tenant.eu.auth0.com/');
    const { enter } = await imitate(preset);
    const aud = [AUDIENCE, 'https://tenant.eu.auth0.com/userinfo'];
    const user = { aud, sub: 'auth0|1', azp: 'app', scope: 'openid mcp', permissions: ['files:write'] };
    expect(await enter(user, { typ: 'JWT' })).toMatchObject({
      subject: 'auth0|1',
      clientId: 'app',
      kind: 'user',
      scopes: ['openid', 'mcp', 'files:write'],
    });
    const machine = { aud, sub: 'app@clients', azp: 'app', gty: 'client-credentials' };
    expect(await enter(machine, { typ: 'JWT' })).toMatchObject({ kind: 'client' });
    expect(statusOf(await enter({ ...user, nonce: 'n' }, { typ: 'JWT' }))).toBe(401);
  });

  it('entra: version 2 with scopes in `scp` and roles; its ID tokens have the same audience', async () => {
    const preset = entra({ tenant: TENANT, applicationIdUri: 'api://files' });
    expect(preset.issuer).toBe(`https://login.microsoftonline.com/${TENANT}/v2.0`);
    const { enter } = await imitate(preset, 'api-client-id');
    const common = { aud: 'api-client-id', ver: '2.0', tid: TENANT, sub: 'pairwise' };
    const user = { ...common, azp: 'app', scp: 'mcp files:write' };
    expect(await enter(user, { typ: 'JWT', x5t: 'x' })).toMatchObject({
      clientId: 'app',
      kind: 'user',
      scopes: ['mcp', 'files:write'],
    });
    const machine = { ...common, azp: 'app', idtyp: 'app', roles: ['mcp'] };
    expect(await enter(machine, { typ: 'JWT' })).toMatchObject({ kind: 'client', scopes: ['mcp'] });
    const refused = [common, { ...user, tid: 'other' }, { ...user, ver: '1.0' }, { ...user, nonce: 'n' }];
    for (const claims of refused) expect(statusOf(await enter(claims, { typ: 'JWT' }))).toBe(401);
  });

  it('entra: version 1 has another issuer and names the client in `appid`', async () => {
    const preset = entra({ tenant: TENANT, applicationIdUri: 'api://files', version: 1 });
    expect(preset.issuer).toBe(`https://sts.windows.net/${TENANT}/`);
    const { enter } = await imitate(preset, 'api://files');
    const claims = { aud: 'api://files', ver: '1.0', tid: TENANT, sub: 's', appid: 'app', scp: 'mcp' };
    expect(await enter(claims, { typ: 'JWT' })).toMatchObject({ clientId: 'app', scopes: ['mcp'] });
  });

  it('keycloak: its refresh and ID tokens have the same `typ` in the header, but not in the claims', async () => {
    const preset = keycloak({ url: 'https://id.example.com/', realm: 'staff' });
    expect(preset.issuer).toBe('https://id.example.com/realms/staff');
    const { enter } = await imitate(preset);
    const claims = { aud: [AUDIENCE, 'account'], typ: 'Bearer', azp: 'app', scope: 'mcp', sub: 'uuid' };
    expect(await enter(claims, { typ: 'JWT' })).toMatchObject({ clientId: 'app', scopes: ['mcp'] });
    expect(statusOf(await enter({ ...claims, aud: 'account' }, { typ: 'JWT' }))).toBe(401);
    for (const typ of ['ID', 'Refresh', 'Logout', undefined]) {
      expect(statusOf(await enter({ ...claims, typ }, { typ: 'JWT' }))).toBe(401);
    }
  });

  it('okta: no `typ`, the client in `cid`, scopes in a list', async () => {
    const preset = okta({ domain: 'example.okta.com' });
    expect(preset.issuer).toBe('https://example.okta.com/oauth2/default');
    const { enter } = await imitate(preset);
    const claims = { aud: AUDIENCE, cid: 'app', uid: 'u', scp: ['mcp', 'files:write'], sub: 'ada@example.com', ver: 1 };
    expect(await enter(claims, { typ: undefined })).toMatchObject({
      subject: 'ada@example.com',
      clientId: 'app',
      scopes: ['mcp', 'files:write'],
    });
    expect(await enter({ ...claims, sub: 'app' }, { typ: undefined })).toMatchObject({ kind: 'client' });
    expect(statusOf(await enter({ ...claims, cid: undefined }, { typ: undefined }))).toBe(401);
  });

  it('cognito: no `typ` and no audience, but a list of clients', async () => {
    const preset = cognito({ region: 'eu-north-1', userPoolId: 'eu-north-1_Abc', clientIds: ['app'] });
    expect(preset.issuer).toBe('https://cognito-idp.eu-north-1.amazonaws.com/eu-north-1_Abc');
    const { enter } = await imitate(preset);
    const claims = { token_use: 'access', client_id: 'app', scope: 'mcp', sub: 'uuid', username: 'ada' };
    expect(await enter(claims, { typ: undefined })).toMatchObject({ clientId: 'app', scopes: ['mcp'] });
    // since it knows resources, tokens may have an audience
    expect(statusOf(await enter({ ...claims, aud: AUDIENCE }, { typ: undefined }))).toBe(200);
    for (const change of [{ aud: 'https://other.example' }, { client_id: 'other' }, { token_use: 'id' }]) {
      expect(statusOf(await enter({ ...claims, ...change }, { typ: undefined }))).toBe(401);
    }
  });

  it.each([
    () => auth0({ domain: 'https://tenant.eu.auth0.com/' }),
    () => entra({ tenant: 'common', applicationIdUri: 'api://files' }),
    () => oauth({ ...entra({ tenant: TENANT }), audience: 'https://mcp.example.com/mcp' }),
    () => entra({ tenant: TENANT, applicationIdUri: 'api://files', version: 3 as never }),
    () => entra({ tenant: TENANT, applicationIdUri: 'api://files/' }),
    () => entra({ tenant: TENANT, applicationIdUri: 'files' }),
    () => keycloak({ url: 'id.example.com', realm: 'staff' }),
    () => keycloak({ url: 'https://id.example.com', realm: '../master' }),
    () => okta({ domain: undefined as never }),
    () => cognito({ region: 'eu-north-1', userPoolId: 'a/b', clientIds: ['app'] }),
  ])('fail at startup for wrong options (%#)', (create) => {
    expect(create).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }));
  });

  it.each([
    () => auth0({ domain: 'tenant.eu.auth0.com', audience: 'files' } as never),
    () => entra({ tenant: TENANT, applicationIdUri: 'api://files', versions: 1 } as never),
    () => keycloak({ url: 'https://id.example.com', realm: 'staff', client: 'a' } as never),
    () => okta({ domain: 'example.okta.com', authorisationServer: 'a' } as never),
    () => cognito({ region: 'eu-north-1', userPoolId: 'eu-north-1_Abc', clientIds: ['app'], clientId: 'b' } as never),
    () => auth0(undefined as never),
  ])('fail at startup for unknown options (%#) (#22)', (create) => {
    expect(create).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }));
  });

  it('are options of an issuer, so that they can be combined with others', () => {
    const preset = { ...keycloak({ url: 'https://id.example.com', realm: 'staff' }), audience: 'files' };
    const issuer = [preset, 'https://id.example.com'];
    const { documents } = new OAuth({ issuer, audience: AUDIENCE }, { now: Date.now, fetch })[AUTH];
    expect(documents).toHaveLength(3);
  });
});
