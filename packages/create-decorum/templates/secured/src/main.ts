import { existsSync } from 'node:fs';

import { oauth } from '@decorum/auth';
import { listen } from '@decorum/http';

import { createServer } from './notes.js';

// variables that are already set win
const env = new URL('../.env', import.meta.url);
if (existsSync(env)) process.loadEnvFile(env);

const { ISSUER, PORT = '3000', HOST = '127.0.0.1', ALLOWED_HOSTS = '' } = process.env;
const { AUDIENCE = `http://127.0.0.1:${PORT}/mcp` } = process.env;
if (!ISSUER)
  throw new Error('Set ISSUER to the URL of your authorization server, for example in .env (see .env.example).');

const auth = oauth({
  issuer: ISSUER,
  audience: AUDIENCE,
  // only an issuer on this machine may use http
  allowLoopbackHttp: true,
});
const { url } = await listen(createServer(), {
  auth,
  port: Number(PORT),
  host: HOST,
  allowedHosts: ALLOWED_HOSTS.split(',').filter(Boolean),
});
console.log(`Serving ${url}`);
