import { oauth } from '@decorum/auth';
import { Context, McpServer, NoInput, Tool } from '@decorum/core';
import { listen } from '@decorum/http';

class Whoami {
  @Tool({ description: 'Returns the caller as JSON', scopes: ['mcp'], annotations: { readOnlyHint: true } })
  whoami(_input: NoInput, { principal }: Context) {
    return JSON.stringify(principal);
  }

  @Tool({ name: 'admin_only', description: 'Needs the scope admin', scopes: ['admin'] })
  adminOnly(_input: NoInput, { principal }: Context) {
    return `${principal?.subject} may.`;
  }
}

const { ISSUER, AUDIENCE } = process.env;
const port = Number(process.env['PORT'] || 3000);
const url = `http://127.0.0.1:${port}/mcp`;
// an identifier that isn't a URL doesn't tell clients where the server is
const isUrl =
  AUDIENCE === undefined || /^https:\/\/|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$)/.test(AUDIENCE);

const auth = oauth({
  issuer: ISSUER ?? 'http://127.0.0.1:4000',
  audience: AUDIENCE ?? url,
  ...(!isUrl && { resource: url }),
  scopes: ['mcp'],
  allowLoopbackHttp: true,
});
const server = new McpServer({ name: 'secured-external', version: '1.0.0', providers: [Whoami] });
const { url: served } = await listen(server, { auth, port, legacySse: true });
console.log(`Serving ${served}`);
