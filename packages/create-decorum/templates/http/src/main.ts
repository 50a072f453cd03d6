import { existsSync } from 'node:fs';

import { listen } from '@decorum/http';

import { createServer } from './weather.js';

// variables that are already set win
const env = new URL('../.env', import.meta.url);
if (existsSync(env)) process.loadEnvFile(env);

const { PORT = '3000', HOST = '127.0.0.1', ALLOWED_HOSTS = '' } = process.env;
const { url } = await listen(createServer(), {
  port: Number(PORT),
  host: HOST,
  allowedHosts: ALLOWED_HOSTS.split(',').filter(Boolean),
});
console.log(`Serving ${url}`);
