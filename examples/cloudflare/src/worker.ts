import { McpServer } from '@decorum/core';
import { Weather } from '@decorum/example-weather/weather';
import { WeatherApi } from '@decorum/example-weather/weather-api';
import { type FetchHandler, fetchHandler } from '@decorum/http/fetch';

interface Variables {
  /** Names of hosts, separated by commas. Without any, the Worker serves only this machine. */
  readonly ALLOWED_HOSTS?: string;
  /** Seals what clients bring back, so that all isolates can read it. Set it with `wrangler secret put`. */
  readonly DECORUM_SECRET?: string;
}

let handler: FetchHandler | undefined;

function createHandler({ ALLOWED_HOSTS, DECORUM_SECRET }: Variables): FetchHandler {
  const server = new McpServer({
    name: 'weather',
    version: '1.0.0',
    providers: [new Weather(new WeatherApi())],
    ...(DECORUM_SECRET !== undefined && { secret: DECORUM_SECRET }),
  });
  return fetchHandler(server, {
    path: '/mcp',
    sessions: false,
    allowedHosts: ALLOWED_HOSTS?.split(',').filter(Boolean) ?? [],
  });
}

// oxlint-disable-next-line import/no-default-export -- Workers look for it
export default {
  fetch(request: Request, variables: Variables): Promise<Response> {
    // Workers draw no random numbers before the first request
    handler ??= createHandler(variables);
    return handler(request, { remoteAddress: request.headers.get('cf-connecting-ip') ?? undefined });
  },
};
