// oidc-provider as it comes from npm: its own pages, memory adapter and defaults, and only the configuration that a
// deployer has to write. It prints its URL. Keys come from a file, newest first, because rotation needs a restart. With
// `--redirect`, no client can register: there is only one, a server that signs in its users here.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

// @ts-expect-error -- it has no types
import { Provider } from 'oidc-provider';

const { values: options } = parseArgs({
  options: { port: { type: 'string' }, keys: { type: 'string' }, redirect: { type: 'string' } },
});
const { port = '', keys, redirect } = options;
const issuer = `http://127.0.0.1:${port}`;
const scope = 'mcp files:write';

const provider = new Provider(issuer, {
  ...(keys !== undefined && { jwks: { keys: JSON.parse(readFileSync(keys, 'utf8')) } }),
  ...(redirect !== undefined && {
    clients: [
      {
        client_id: 'mcp-server',
        client_secret: 'mcp-secret',
        redirect_uris: [redirect],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
  }),
  scopes: ['openid', 'offline_access', ...scope.split(' ')],
  features: {
    registration: { enabled: redirect === undefined },
    resourceIndicators: { enabled: true, getResourceServerInfo: () => ({ scope, accessTokenFormat: 'jwt' }) },
  },
});
provider.listen(Number(port), '127.0.0.1', () => process.stdout.write(`${issuer}\n`));
