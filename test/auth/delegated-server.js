// The server of `examples/secured` with one difference: users sign in at `UPSTREAM`, an oidc-provider, for whose API a tool
// has a token. It prints its URL.
import { authorizationServer } from '@decorum/auth-server';
import { McpServer, NoInput } from '@decorum/core';
import { listen } from '@decorum/http';

const { PORT, UPSTREAM = '' } = process.env;
const port = Number(PORT);

const auth = authorizationServer({
  resource: `http://127.0.0.1:${port}/mcp`,
  scopes: ['mcp'],
  consent: { mcp: 'Use this server', 'notes:write': 'Change your notes' },
  allowLoopbackHttp: true,
  upstream: {
    issuer: UPSTREAM,
    name: 'staff',
    clientId: 'mcp-server',
    clientSecret: 'mcp-secret',
    scopes: ['offline_access'],
    parameters: { prompt: 'consent' },
  },
});
const server = new McpServer({ name: 'delegated', version: '1.0.0' });
server.addTool({ name: 'about', description: 'About this server', public: true }, () => 'how to sign in');
server.addTool({ name: 'whoami', description: 'Returns the caller', input: NoInput }, (_input, { principal }) =>
  JSON.stringify(principal),
);
server.addTool(
  { name: 'notes_write', description: 'Writes', input: NoInput, scopes: ['notes:write'] },
  (_input, { principal }) => `${principal?.subject} may write notes.`,
);
server.addTool({ name: 'profile', description: 'Asks the upstream', input: NoInput }, async (_input, { principal }) => {
  const { accessToken } = await auth.upstream(principal);
  const answer = await fetch(`${UPSTREAM}/me`, { headers: { authorization: `Bearer ${accessToken}` } });
  return await answer.text();
});
const { url } = await listen(server, { auth, port });
process.stdout.write(`${url}\n`);
