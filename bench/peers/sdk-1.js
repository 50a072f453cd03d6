import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

import { bodyOf } from './body.js';
import { listen } from './report.js';
import { TOOLS } from './tools.js';

function mcpServer() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  for (const { name, description, schema, run } of TOOLS) {
    server.registerTool(name, { description, inputSchema: schema }, run);
  }
  return server;
}

/** @type {Map<string, StreamableHTTPServerTransport>} */
const transports = new Map();

async function begin() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void transports.set(id, transport),
  });
  await mcpServer().connect(transport);
  return transport;
}

listen(
  createServer(async (request, response) => {
    const transport = transports.get(String(request.headers['mcp-session-id'])) ?? (await begin());
    await transport.handleRequest(request, response, await bodyOf(request));
  }),
);
