// Stands in for the server of somebody else.
import { type Context, Describe, McpServer, Tool } from '@decorum/core';
import { listen } from '@decorum/http';
import { IsString } from 'class-validator';

class Place {
  @Describe('City, such as "Oslo"') @IsString() city!: string;
}

const PLACES: Readonly<Record<string, string>> = { Oslo: '59.9° N, 10.8° E', Lima: '12.0° S, 77.0° W' };

class Geo {
  @Tool({ description: 'Tells where a city is', annotations: { readOnlyHint: true } })
  locate({ city }: Place, { principal }: Context) {
    return `${city}: ${PLACES[city] ?? 'unknown'} (asked by ${principal?.subject})`;
  }

  @Tool({ description: 'Draws a map, which nobody behind the gateway needs' })
  map() {
    return 'a map';
  }
}

/**
 * Serves it on a free port, for callers with a key.
 * @returns the URL
 */
export async function startGeo(key: string): Promise<string> {
  const server = new McpServer({ name: 'geo', version: '4.2.0', providers: [Geo] });
  const { url } = await listen(server, {
    port: 0,
    principal: ({ headers }) =>
      headers['x-geo-key'] === key ? { subject: `gateway for ${headers['x-geo-user'] ?? 'itself'}` } : undefined,
  });
  return url;
}
