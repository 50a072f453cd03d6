import { oauth } from '@decorum/auth';
import { listen } from '@decorum/http';

import { server } from './notes.js';

const { ISSUER, HOST, ALLOWED_HOSTS = '' } = process.env;
const port = Number(process.env['PORT'] || 3000);
const { AUDIENCE = `http://127.0.0.1:${port}/mcp` } = process.env;
if (!ISSUER) throw new Error('Set ISSUER to the URL of your authorization server: see .env.example.');

const auth = oauth({
  issuer: ISSUER,
  audience: AUDIENCE,
  // clients ask for it when they sign in: many issuers grant nothing to a client that asks for nothing
  offer: ['notes:write'],
  // only an issuer on this machine may use http
  allowLoopbackHttp: true,
});
const { url } = await listen(server, {
  auth,
  port,
  host: HOST || '127.0.0.1',
  allowedHosts: ALLOWED_HOSTS.split(',').filter(Boolean),
});
console.log(`Serving ${url}`);
