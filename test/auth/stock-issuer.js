// oidc-provider as it comes from npm: its own pages, memory adapter and defaults, and only the configuration that a
// deployer has to write. It prints its URL. Keys come from a file, newest first, because rotation needs a restart.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

// @ts-expect-error -- it has no types
import { Provider } from 'oidc-provider';

const { values: options } = parseArgs({ options: { port: { type: 'string' }, keys: { type: 'string' } } });
const { port = '', keys = '' } = options;
const issuer = `http://127.0.0.1:${port}`;
const scope = 'mcp files:write';

const provider = new Provider(issuer, {
  jwks: { keys: JSON.parse(readFileSync(keys, 'utf8')) },
  scopes: ['openid', 'offline_access', ...scope.split(' ')],
  features: {
    registration: { enabled: true },
    resourceIndicators: { enabled: true, getResourceServerInfo: () => ({ scope, accessTokenFormat: 'jwt' }) },
  },
});
provider.listen(Number(port), '127.0.0.1', () => process.stdout.write(`${issuer}\n`));
