import { serveStdio } from '@decorum/core';
import { listen } from '@decorum/http';

import { createMounted } from './mounted.js';
import { createServer } from './server.js';

const server = process.env['MOUNTED'] === undefined ? createServer() : createMounted();

if (process.argv.includes('--stdio')) await serveStdio(server);
else
  console.log(`Serving ${(await listen(server, { port: Number(process.env['PORT'] || 3000), legacySse: true })).url}`);
