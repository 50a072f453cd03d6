import { createServer } from 'node:http';

import { createRequestListener } from '@remix-run/node-fetch-server';
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod';
import { HttpTransport } from '@tmcp/transport-http';
import { McpServer } from 'tmcp';

import { listen } from './report.js';
import { TOOLS } from './tools.js';

const server = new McpServer(
  { name: 'bench', version: '1.0.0', description: 'bench' },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } },
);
for (const { name, description, schema, run } of TOOLS)
  server.tool({ name, description, schema }, async (args) => run(args));

const transport = new HttpTransport(server, { path: '/mcp' });
listen(
  createServer(
    createRequestListener(async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 })),
  ),
);
