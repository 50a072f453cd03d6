import { describe, expect, it } from '@jest/globals';

import { type ConfiguredClient, configuredClients, requireSchemes } from '../../src/clients/configured-clients.js';
import { ClientSource } from '../../src/clients/client-source.js';
import { seenByProvider } from './provider.js';

const REDIRECT = 'https://client.example/cb';
const KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
};

const metadataOf = (client: ConfiguredClient, schemes: string[] = []) => {
  const metadata = configuredClients([client], schemes).get(client.clientId);
  if (metadata === undefined) throw new Error('no client');
  return metadata;
};

describe('clients in the options', () => {
  it.each<[string, ConfiguredClient, object]>([
    ['a public client', { clientId: 'app', redirectUris: [REDIRECT] }, { token_endpoint_auth_method: 'none' }],
    [
      'a client with a secret',
      { clientId: 'app', clientSecret: 's', redirectUris: [REDIRECT] },
      { token_endpoint_auth_method: 'client_secret_basic', client_secret: 's' },
    ],
    [
      'a client that posts its secret',
      { clientId: 'app', clientSecret: 's', authMethod: 'client_secret_post', redirectUris: [REDIRECT] },
      { token_endpoint_auth_method: 'client_secret_post' },
    ],
    [
      'a native client',
      { clientId: 'app', name: 'The app', redirectUris: ['http://127.0.0.1/cb'] },
      { application_type: 'native', client_name: 'The app' },
    ],
    [
      'a machine with a secret',
      { clientId: 'job', clientSecret: 's', grantTypes: ['client_credentials'] },
      { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] },
    ],
    [
      'a machine with keys',
      { clientId: 'job', jwks: { keys: [KEY] }, grantTypes: ['client_credentials'] },
      { token_endpoint_auth_method: 'private_key_jwt' },
    ],
  ])('describe %s as oidc-provider accepts it', (_name, client, fields) => {
    const metadata = metadataOf(client);
    expect(metadata).toMatchObject({ client_id: client.clientId, client_name: client.clientId, ...fields });
    expect(seenByProvider(metadata).grantTypeAllowed('client_credentials')).toBe(client.clientId === 'job');
  });

  it.each<[unknown, string]>([
    [7, '`clients[0]` must be an object'],
    [{ redirectUris: [REDIRECT] }, '`clients[0].clientId` is missing'],
    [{ clientId: '', redirectUris: [REDIRECT] }, '`clients[0].clientId` is empty'],
    [{ clientId: 'ä', redirectUris: [REDIRECT] }, '`clients[0].clientId` must be printable'],
    [{ clientId: 'a', secret: 'b', redirectUris: [REDIRECT] }, 'secret'],
    [{ clientId: 'a', clientSecret: undefined, redirectUris: [REDIRECT] }, '`clients[0].clientSecret` is missing'],
    [{ clientId: 'a', clientSecret: '', redirectUris: [REDIRECT] }, '`clients[0].clientSecret` is empty'],
    [
      { clientId: 'a', clientSecret: 's', jwks: { keys: [KEY] }, redirectUris: [REDIRECT] },
      '`clients[0].jwks` must not',
    ],
    [{ clientId: 'a', jwks: { keys: [] }, redirectUris: [REDIRECT] }, '`clients[0].jwks` must be'],
    [
      { clientId: 'a', jwks: { keys: [KEY, { ...KEY, d: 'x' }] }, redirectUris: [REDIRECT] },
      '`clients[0].jwks.keys[1]` is',
    ],
    [{ clientId: 'a', authMethod: 'client_secret_post', redirectUris: [REDIRECT] }, '`clients[0].authMethod` has no'],
    [
      { clientId: 'a', clientSecret: 's', authMethod: 'none', redirectUris: [REDIRECT] },
      '`clients[0].authMethod` must',
    ],
    [{ clientId: 'a' }, '`clients[0].redirectUris` is missing'],
    [{ clientId: 'a', redirectUris: [] }, '`clients[0].redirectUris` must be a list'],
    [{ clientId: 'a', redirectUris: [REDIRECT, 'http://a.example/'] }, '`clients[0].redirectUris[1]` must use https'],
    [{ clientId: 'a', redirectUris: ['cursor://a/b'] }, "add 'cursor' to `redirectSchemes`"],
    [
      { clientId: 'a', redirectUris: [REDIRECT], grantTypes: ['implicit'] },
      '`clients[0].grantTypes` contains "implicit"',
    ],
    [
      { clientId: 'a', redirectUris: [REDIRECT], grantTypes: ['refresh_token'] },
      '`clients[0].grantTypes` must contain',
    ],
    [{ clientId: 'a', grantTypes: ['client_credentials'] }, 'needs a secret or keys'],
    [
      { clientId: 'a', clientSecret: 's', redirectUris: [REDIRECT], grantTypes: ['client_credentials'] },
      '`clients[0].redirectUris` has no effect',
    ],
  ])('are checked at startup: %j', (client, problem) => {
    expect(() => configuredClients([client as ConfiguredClient], [])).toThrow(
      expect.objectContaining({ code: 'DECORUM_INVALID_OPTION', message: expect.stringContaining(problem) }),
    );
  });

  it('have different ids', () => {
    const client = { clientId: 'a', redirectUris: [REDIRECT] };
    expect(() => configuredClients([client, { ...client }])).toThrow(/clients\[1\].clientId/);
  });

  it('may use schemes of apps that are allowed', () => {
    const uri = 'cursor://anysphere.cursor-mcp/oauth/callback';
    const metadata = metadataOf({ clientId: 'cursor', redirectUris: [uri] }, ['cursor']);
    expect(seenByProvider(metadata).redirectUriAllowed(uri)).toBe(true);
    expect(requireSchemes(['cursor', 'com.example.app'])).toEqual(['cursor', 'com.example.app']);
    for (const wrong of ['https', 'javascript', 'Cursor', 'cursor://', '', 7]) {
      expect(() => requireSchemes(['vscode', wrong as string])).toThrow(/redirectSchemes\[1\]/);
    }
  });
});

describe('the source of clients', () => {
  const DOCUMENT = 'https://client.example/c.json';
  const base = metadataOf({ clientId: 'app', name: 'The app', redirectUris: [REDIRECT] });
  const source = new ClientSource({
    configured: new Map([
      ['app', base],
      ['https://known.example/c', { ...base, client_id: 'https://known.example/c' }],
    ]),
    documents: { find: async (id) => ({ ...base, client_id: id }) },
    registered: { find: async (id) => (id === 'dynamic' ? { ...base, client_id: id } : undefined) },
  });

  it('asks the options first, then the document that the id names, then the registrations', async () => {
    for (const id of ['app', 'https://known.example/c', DOCUMENT, 'dynamic']) {
      expect((await source.find(id))?.client_id).toBe(id);
    }
    expect(await source.find('other')).toBeUndefined();
    expect(await source.find('http://client.example/c.json')).toBeUndefined();
  });

  it('tells pages the name, the host of a document, and where the answer goes [AUTHAS-09]', () => {
    expect(source.describe({ ...base, client_id: DOCUMENT }, REDIRECT)).toEqual({
      name: 'The app',
      host: 'client.example',
      isListed: false,
      redirectHost: 'client.example',
      redirectUri: REDIRECT,
      isLoopbackOnly: false,
      isLoopbackRedirect: false,
    });
    expect(source.describe({ ...base, client_id: 'app' }, REDIRECT)).toMatchObject({ isListed: true });
    const { client_name: _, ...unnamed } = base;
    expect(source.describe({ ...unnamed, client_id: DOCUMENT }, REDIRECT).name).toBe('client.example');
    expect(source.describe(unnamed, 'https://app.example:8443/cb')).toMatchObject({
      name: 'app',
      redirectHost: 'app.example:8443',
    });
    // nobody has checked that the client is from the host of an id in the options
    expect(source.describe({ ...base, client_id: 'https://known.example/c' }, REDIRECT)).not.toHaveProperty('host');
  });

  it('tells apart clients that are nothing but loopback [AUTHAS-09]', () => {
    const local = {
      ...base,
      redirect_uris: ['http://127.0.0.1/', 'http://localhost/', 'http://[::1]/', 'https://localhost/'],
    };
    expect(source.describe(local, 'http://127.0.0.1:5000/')).toMatchObject({
      redirectHost: '127.0.0.1:5000',
      isLoopbackOnly: true,
      isLoopbackRedirect: true,
    });
    const mixed = { ...base, redirect_uris: ['https://vscode.dev/redirect', 'http://127.0.0.1/'] };
    expect(source.describe(mixed, 'http://127.0.0.1:5000/')).toMatchObject({
      isLoopbackOnly: false,
      isLoopbackRedirect: true,
    });
    const app = { ...base, redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'] };
    expect(source.describe(app, app.redirect_uris[0] as string)).toMatchObject({
      redirectHost: 'cursor://',
      isLoopbackOnly: false,
      isLoopbackRedirect: false,
    });
  });
});
