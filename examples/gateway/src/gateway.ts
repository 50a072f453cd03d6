import { proxy } from '@decorum/client';
import { McpServer, mount } from '@decorum/core';
import { openapi } from '@decorum/openapi';

import { billing } from './billing.js';
import { support } from './support.js';

/** What the gateway stands in front of, and its own keys for it. */
export interface Behind {
  readonly geoUrl: string;
  readonly geoKey: string;
  readonly stockUrl: string;
  readonly stockKey: string;
}

/** One server, made of two of this process, one of somebody else, and an HTTP API. */
export async function createGateway({ geoUrl, geoKey, stockUrl, stockKey }: Behind): Promise<McpServer> {
  return new McpServer({
    name: 'gateway',
    version: '1.0.0',
    instructions: 'Invoices, customers, stock and places of one company.',
    providers: [
      mount(billing, { prefix: 'billing' }),
      mount(support, { prefix: 'support' }),
      proxy(geoUrl, {
        prefix: 'geo',
        filter: { tools: ['locate'] },
        // the token of the caller is for this server alone, so the upstream gets a key and a name
        headers: (ctx) => ({
          'x-geo-key': geoKey,
          ...(ctx?.principal && { 'x-geo-user': ctx.principal.subject }),
        }),
      }),
      await openapi(new URL('/openapi.json', stockUrl), {
        prefix: 'stock',
        baseUrl: stockUrl,
        headers: { 'x-api-key': stockKey },
        exclude: ['remove'],
      }),
    ],
    hiddenTags: ['admin'],
  });
}
