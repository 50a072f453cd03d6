import { authorizationServer, fileStore, usersFile } from '@decorum/auth-server';
import { listen } from '@decorum/http';

import { server } from './notes.js';

const { HOST, RESOURCE, TRUST_PROXY, DEMO_PASSWORD } = process.env;
const port = Number(process.env['PORT'] || 3000);

const auth = authorizationServer({
  resource: RESOURCE || `http://127.0.0.1:${port}/mcp`,
  scopes: ['mcp'],
  offer: ['notes:write'],
  consent: { mcp: 'Read your notes', 'notes:write': 'Add notes' },
  users: usersFile('data/users.json'),
  store: fileStore('data/auth'),
  trustProxy: TRUST_PROXY === 'true',
  // only a server on this machine may use http
  allowLoopbackHttp: true,
});
const { url } = await listen(server, { auth, port, host: HOST || '127.0.0.1' });
console.log(`Serving ${url}`);
if (DEMO_PASSWORD) console.log(`Sign in as alice, with the password ${DEMO_PASSWORD}`);
