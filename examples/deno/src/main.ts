import { McpServer, serveStdio } from '@decorum/core';
import { Weather } from '@decorum/example-weather/weather';
import { WeatherApi } from '@decorum/example-weather/weather-api';
import { fetchHandler } from '@decorum/http/fetch';

const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [new Weather(new WeatherApi())] });

if (Deno.args.includes('--stdio')) await serveStdio(server);
else {
  const handler = fetchHandler(server, { path: '/mcp' });
  await handler.ready;
  const options = { port: Number(Deno.env.get('PORT') || 3000), hostname: '127.0.0.1' };
  const onListen = ({ port }: { port: number }) => console.log(`Serving http://127.0.0.1:${port}/mcp`);
  const listener = Deno.serve({ ...options, onListen }, handler);

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    Deno.addSignalListener(signal, async () => {
      await handler.close(); // requests in flight finish
      await server.close();
      await listener.shutdown();
      Deno.exit();
    });
  }
}
