import { McpServer, serveStdio } from '@decorum/core';
import { Weather } from '@decorum/example-weather/weather';
import { WeatherApi } from '@decorum/example-weather/weather-api';
import { fetchHandler } from '@decorum/http/fetch';

const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [new Weather(new WeatherApi())] });

if (process.argv.includes('--stdio')) await serveStdio(server);
else {
  const handler = fetchHandler(server, { path: '/mcp' });
  await handler.ready;
  const options = { port: Number(process.env['PORT'] || 3000), hostname: '127.0.0.1', idleTimeout: 0 };
  const listener = Bun.serve({ ...options, fetch: handler });
  console.log(`Serving http://127.0.0.1:${listener.port}/mcp`);

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await handler.close(); // requests in flight finish
      await server.close();
      await listener.stop();
      process.exit();
    });
  }
}
