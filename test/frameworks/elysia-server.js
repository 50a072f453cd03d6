// Run with Bun: Elysia at /mcp, and Bun's own server. Prints both URLs.
import { McpServer } from '@decorum/core';
import { Weather } from '@decorum/example-weather/weather';
import { WeatherApi } from '@decorum/example-weather/weather-api';
import { fetchHandler } from '@decorum/http/fetch';
import { Elysia } from 'elysia';

const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [new Weather(new WeatherApi())] });
const handler = fetchHandler(server, { limits: { bodyLimit: 1_500_000 } });
await handler.ready;

const app = new Elysia();
app.all('/mcp', ({ request, server: host }) => handler(request, { remoteAddress: host?.requestIP(request)?.address }), {
  parse: 'none',
});
app.listen({ port: 0, hostname: '127.0.0.1' });

// @ts-expect-error -- the types of Bun are not installed
const plain = Bun.serve({ fetch: handler, port: 0, hostname: '127.0.0.1' });

process.stdout.write(`http://127.0.0.1:${app.server?.port}/mcp http://127.0.0.1:${plain.port}/mcp\n`);
