// Run with Deno. Prints its URL.
import { McpServer } from '@decorum/core';
import { Weather } from '@decorum/example-weather/weather';
import { WeatherApi } from '@decorum/example-weather/weather-api';
import { fetchHandler } from '@decorum/http/fetch';

const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [new Weather(new WeatherApi())] });
const handler = fetchHandler(server, { limits: { bodyLimit: 1_500_000 } });
await handler.ready;

/** @param {{ port: number }} address */
function onListen({ port }) {
  process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
}

// @ts-expect-error -- the types of Deno are not installed
Deno.serve({ port: 0, hostname: '127.0.0.1', onListen }, handler);
