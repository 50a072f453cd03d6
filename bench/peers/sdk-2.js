import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';

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

const stateless = toNodeHandler(createMcpHandler(mcpServer));
/** @type {Map<string, NodeStreamableHTTPServerTransport>} */
const transports = new Map();

async function begin() {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => void transports.set(id, transport),
  });
  await mcpServer().connect(transport);
  return transport;
}

listen(
  createServer(async (request, response) => {
    if (request.headers['mcp-method'] !== undefined) return stateless(request, response);
    const transport = transports.get(String(request.headers['mcp-session-id'])) ?? (await begin());
    return transport.handleRequest(request, response, await bodyOf(request));
  }),
);
