// An authorization server with token exchange (RFC 8693), in its own process: oidc-provider has no such grant of its own, so
// this adds one. It prints its URL. `/token-of-alice?aud=…` returns a token as if Alice had signed in.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';

import { jwtVerify, SignJWT } from 'jose';
// @ts-expect-error -- it has no types
import { Provider } from 'oidc-provider';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
const issuer = `http://127.0.0.1:${port}`;

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256', kid: 'key-1' };

/** @param {string} id @param {string} method */
const client = (id, method) => ({
  client_id: id,
  client_secret: 'hush+hush/1~% and more',
  token_endpoint_auth_method: method,
  grant_types: [GRANT],
  redirect_uris: [],
  response_types: [],
});

const provider = new Provider(issuer, {
  jwks: { keys: [key] },
  clients: [client('files', 'client_secret_basic'), client('posting', 'client_secret_post')],
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
  clientAuthMethods: process.argv.includes('--post')
    ? ['client_secret_post']
    : ['client_secret_basic', 'client_secret_post'],
  scopes: ['openid', 'events:read'],
  features: { devInteractions: { enabled: false } },
});

/** @param {string} error @param {string} description */
const failed = (error, description) => Object.assign(new Error(error), { error, description });

provider.registerGrantType(
  GRANT,
  async (/** @type {any} */ ctx) => {
    const { params, client: asking } = ctx.oidc;
    try {
      if (params.subject_token_type !== ACCESS_TOKEN) throw failed('invalid_request', 'subject_token_type');
      const { payload } = await jwtVerify(params.subject_token, publicKey, { issuer, typ: 'at+jwt' }).catch(() => {
        throw failed('invalid_grant', 'the subject token is not valid');
      });
      if (!params.audience?.startsWith('https://calendar.')) throw failed('invalid_target', 'unknown audience');
      const token = new provider.AccessToken({ accountId: payload.sub, client: asking, scope: params.scope });
      token.resourceServer = new provider.ResourceServer(params.audience, {
        scope: 'events:read',
        audience: params.audience,
        accessTokenTTL: 120,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      });
      const text = await token.save();
      const details = { expires_in: token.expiration, token_type: token.tokenType, scope: params.scope };
      ctx.body = { access_token: text, issued_token_type: ACCESS_TOKEN, ...details };
    } catch (thrown) {
      const { error = 'server_error', description } = /** @type {{ error?: string, description?: string }} */ (thrown);
      ctx.status = 400;
      ctx.body = { error, error_description: description };
    }
  },
  ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'scope'],
);

/** @param {string} audience */
const tokenOfAlice = (audience) =>
  new SignJWT({ client_id: 'editor' })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'key-1' })
    .setIssuer(issuer)
    .setSubject('alice')
    .setAudience(audience)
    .setExpirationTime('5m')
    .sign(privateKey);

const answer = provider.callback();
server.on('request', (request, response) => {
  const url = new URL(request.url ?? '/', issuer);
  if (url.pathname !== '/token-of-alice') return answer(request, response);
  void tokenOfAlice(url.searchParams.get('aud') ?? '').then((token) => response.end(token));
});
process.stdout.write(`${issuer}\n`);
