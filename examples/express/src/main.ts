import type { AddressInfo } from 'node:net';

import { McpServer } from '@decorum/core';
import { Weather } from '@decorum/example-weather/weather';
import { WeatherApi } from '@decorum/example-weather/weather-api';
import { nodeHandler } from '@decorum/http/node';
import express from 'express';

const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [new Weather(new WeatherApi())] });
const mcp = nodeHandler(server);

const app = express();
app.use('/mcp', mcp); // before body parsers, so that it applies its own limits
app.use(express.json());
app.get('/', (_request, response) => void response.send('The MCP endpoint is /mcp.'));

await mcp.ready;
const listener = app.listen(Number(process.env['PORT'] || 3000), '127.0.0.1', (error) => {
  if (error) throw error;
  const { port } = listener.address() as AddressInfo;
  console.log(`Serving http://127.0.0.1:${port}/mcp`);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await mcp.close(); // requests in flight finish
    await server.close();
    listener.close();
    listener.closeIdleConnections();
  });
}
