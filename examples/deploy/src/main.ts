import { health, McpServer } from '@decorum/core';
import { Weather } from '@decorum/example-weather/weather';
import { WeatherApi } from '@decorum/example-weather/weather-api';
import { listen } from '@decorum/http';
import { redis } from '@decorum/redis';

const { PORT, HOST, ALLOWED_HOSTS = '', REDIS_URL } = process.env;

const server = new McpServer({
  name: 'weather',
  version: '1.0.0',
  providers: [new Weather(new WeatherApi())],
  plugins: [health()],
  // several processes share sessions over Redis; one process needs none
  ...(REDIS_URL && { cluster: redis(REDIS_URL) }),
});

const { url } = await listen(server, {
  port: Number(PORT || 3000),
  host: HOST || '127.0.0.1',
  allowedHosts: ALLOWED_HOSTS.split(',').filter(Boolean),
  // how long calls may take after SIGTERM: what stops the process has to wait longer
  closeDeadlineMs: 20_000,
});
console.log(`Serving ${url}`);
