import { generateKeyPairSync } from 'node:crypto';

import { Provider } from 'oidc-provider';

import type { ClientMetadata } from '../../src/clients/client-metadata.js';

/** A client as oidc-provider sees it. */
interface SeenClient {
  redirectUriAllowed(uri: string): boolean;
  grantTypeAllowed(type: string): boolean;
  metadata(): Record<string, unknown>;
}

/** The library that has the last word about clients. */
export const provider = new Provider('https://mcp.example.com', {
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
  features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true } },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  jwks: { keys: [generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })] },
  scopes: ['openid', 'offline_access', 'mcp'],
});

/** What the real oidc-provider makes of a client. It throws if it doesn't accept the metadata. */
export function seenByProvider(metadata: ClientMetadata): SeenClient {
  const Client = provider.Client as unknown as new (metadata: unknown) => SeenClient;
  // it must not change metadata that is used again
  for (const value of Object.values(metadata)) Object.freeze(value);
  return new Client(Object.freeze(metadata));
}

/** A client with some redirect URIs, as this server would describe it. */
export const clientWith = (fields: Omit<ClientMetadata, 'client_id'>): ClientMetadata => ({
  client_id: 'client',
  ...fields,
});
