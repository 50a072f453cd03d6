import { existsSync } from 'node:fs';

import { serveStdio } from '@decorum/core';

import { createServer } from './server.js';

// variables that are already set win
const env = new URL('../.env', import.meta.url);
if (existsSync(env)) process.loadEnvFile(env);

await serveStdio(createServer());
