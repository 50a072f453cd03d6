// An authorization server for tests, in its own process: `node test/auth/issuer.js`. It registers every client, logs
// all users in as Alice, and gives consent automatically. It prints its URL.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

// @ts-expect-error -- it has no types
import { Provider } from 'oidc-provider';

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    // the resource for clients that don't ask for one
    resource: { type: 'string', default: 'https://mcp.example.com/mcp' },
    scopes: { type: 'string', default: 'mcp admin files:read files:write' },
    alg: { type: 'string', default: 'ES256' },
    // tokens that only the issuer can read
    opaque: { type: 'boolean', default: false },
    refresh: { type: 'boolean', default: false },
    // as Entra ID does, knows scopes under this prefix, and puts them in `scp` without it
    prefix: { type: 'string', default: '' },
  },
});
const { resource: defaultResource, alg, opaque, refresh, prefix } = options;
const scopes = options.scopes
  .split(' ')
  .map((scope) => prefix + scope)
  .join(' ');
const SECONDS = 300;

const server = createServer();
await new Promise((resolve) => server.listen(Number(options.port), '127.0.0.1', () => resolve(undefined)));
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
const issuer = `http://127.0.0.1:${port}`;

const { privateKey } = alg.startsWith('ES')
  ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
  : generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg, kid: 'key-1' };

/** @param {string} audience */
const resourceServer = (audience) => ({
  scope: scopes,
  audience,
  accessTokenTTL: SECONDS,
  accessTokenFormat: opaque ? 'opaque' : 'jwt',
  ...(!opaque && { jwt: { sign: { alg } } }),
});

const provider = new Provider(issuer, {
  jwks: { keys: [key] },
  // the server under test introspects tokens as this client, which can also get its own tokens
  clients: [
    {
      client_id: 'mcp-server',
      client_secret: 'mcp-secret',
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
  ],
  scopes: ['openid', 'offline_access', ...scopes.split(' ')],
  cookies: { keys: ['for tests only'] },
  pkce: { required: () => true },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    introspection: { enabled: true },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => defaultResource,
      useGrantedResource: () => true,
      getResourceServerInfo: (/** @type {unknown} */ _context, /** @type {string} */ audience) =>
        resourceServer(audience),
    },
  },
  formats: {
    customizers: {
      jwt: (
        /** @type {unknown} */ _context,
        /** @type {unknown} */ _token,
        /** @type {{ payload: { scope?: string, scp?: string } }} */ { payload },
      ) => {
        if (prefix === '') return;
        payload.scp = payload.scope?.replaceAll(prefix, '') ?? '';
        delete payload.scope;
      },
    },
  },
  clientDefaults: { id_token_signed_response_alg: alg, token_endpoint_auth_method: 'none' },
  enabledJWA: { idTokenSigningAlgValues: [alg] },
  issueRefreshToken: () => refresh,
  ttl: { AccessToken: SECONDS, AuthorizationCode: 60, Grant: 3600, IdToken: 300, Interaction: 600, Session: 600 },
  interactions: { url: (/** @type {unknown} */ _context, /** @type {{ uid: string }} */ { uid }) => `/login/${uid}` },
  findAccount: (/** @type {unknown} */ _context, /** @type {string} */ id) => ({
    accountId: id,
    claims: () => ({ sub: id }),
  }),
});

/**
 * Does what the user would do on the issuer's pages.
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function interact(request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    const accountId = String(params['login_hint'] ?? 'alice');
    await provider.interactionFinished(request, response, { login: { accountId } });
    return;
  }
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant =
    known ?? new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params['client_id']) });
  const { missingOIDCScope, missingResourceScopes } = /** @type {{
    missingOIDCScope?: string[];
    missingResourceScopes?: Record<string, string[]>;
  }} */ (prompt.details);
  if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(' '));
  for (const [resource, missing] of Object.entries(missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, missing.join(' '));
  }
  await provider.interactionFinished(
    request,
    response,
    { consent: { grantId: await grant.save() } },
    { mergeWithLastSubmission: true },
  );
}

const answer = provider.callback();
server.on('request', (request, response) => {
  const { url = '' } = request;
  if (!url.startsWith('/login/')) return answer(request, response);
  interact(request, response).catch((error) => {
    response.writeHead(500).end(String(error));
  });
});
process.stdout.write(`${issuer}\n`);
