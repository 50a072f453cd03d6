import { McpServer, serveStdio } from '@decorum/core';

import { Weather } from './weather.js';
import { WeatherApi } from './weather-api.js';

const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [new Weather(new WeatherApi())] });

if (process.argv.includes('--stdio')) await serveStdio(server);
else {
  const { listen } = await import('@decorum/http');
  console.log(`Serving ${(await listen(server, { port: Number(process.env['PORT'] || 3000) })).url}`);
}
