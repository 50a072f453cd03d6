import { oauth } from '@decorum/auth';
import { McpServer, serveStdio } from '@decorum/core';
import { listen } from '@decorum/http';

import { Files } from './files.js';

const { ISSUER: issuer = 'http://127.0.0.1:4000', FILES_TOKEN } = process.env;
const port = Number(process.env['PORT'] || 3000);
const { AUDIENCE: audience = `http://127.0.0.1:${port}/mcp` } = process.env;

const auth = oauth({
  issuer,
  audience,
  scopes: ['mcp'],
  offer: ['files:write'],
  hierarchy: { 'files:admin': ['files:write'] },
  // allows an issuer on this machine, for the example
  allowLoopbackHttp: true,
  onEvent: (event) => console.error(JSON.stringify(event)),
});
const server = new McpServer({ name: 'secured', version: '1.0.0', providers: [Files] });

if (process.argv.includes('--stdio')) await serveStdio(server, { principal: await auth.principalOf(FILES_TOKEN) });
else console.log(`Serving ${(await listen(server, { auth, port })).url}`);
