import { McpServer } from '@decorum/core';
import { Weather } from '@decorum/example-weather/weather';
import { WeatherApi } from '@decorum/example-weather/weather-api';
import { fetchHandler } from '@decorum/http/fetch';
import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono } from 'hono';

const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [new Weather(new WeatherApi())] });
const mcp = fetchHandler(server);

const app = new Hono();
app.get('/', (c) => c.text('The MCP endpoint is /mcp.'));
app.all('/mcp', (c) => mcp(c.req.raw, { remoteAddress: getConnInfo(c).remote.address }));

await mcp.ready;
const options = { port: Number(process.env['PORT'] || 3000), hostname: '127.0.0.1' };
const listener = serve({ fetch: app.fetch, ...options }, ({ port }) => {
  console.log(`Serving http://127.0.0.1:${port}/mcp`);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await mcp.close(); // requests in flight finish
    await server.close();
    listener.close();
  });
}
