import { apps } from '@decorum/apps';
import { McpServer, serveStdio } from '@decorum/core';

import { Weather } from './weather.js';

const server = new McpServer({ name: 'weather-card', version: '1.0.0', providers: [Weather], plugins: [apps()] });

if (process.argv.includes('--stdio')) await serveStdio(server);
else {
  const { listen } = await import('@decorum/http');
  console.log(`Serving ${(await listen(server, { port: Number(process.env['PORT'] || 3000) })).url}`);
}
