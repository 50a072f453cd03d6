import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';

import { closed, listening } from './limit.js';

/** The audience of the tokens. */
export const AUDIENCE = 'https://bench.example.com/mcp';

/** An issuer of access tokens on this machine. */
export interface Issuer {
  readonly url: string;
  /** Different access tokens for `AUDIENCE`, valid for an hour. */
  readonly tokens: readonly string[];
  close(): Promise<unknown>;
}

const TOKENS = 64;

const KEYS = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
} as const;

/** Serves the metadata and the key of an issuer, and signs tokens. */
export async function openIssuer(alg: keyof typeof KEYS): Promise<Issuer> {
  const { publicKey, privateKey } = KEYS[alg]();
  const jwk = { ...publicKey.export({ format: 'jwk' }), alg, kid: alg, use: 'sig' };
  const server = createServer(({ url: path }, response) => {
    const document = path === '/keys' ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/keys` };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  });
  const issuer = new URL(await listening(server)).origin;
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    aud: AUDIENCE,
    sub: 'ada',
    client_id: 'bench',
    scope: 'mcp',
    iat: now,
    exp: now + 3600,
  };
  const header = { alg, kid: alg, typ: 'at+jwt' };
  const tokens = Array.from({ length: TOKENS }, (_, index) => signed(header, { ...claims, jti: index }, privateKey));
  return { url: issuer, tokens, close: () => closed(server) };
}

function signed(header: object, claims: object, key: KeyObject): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
