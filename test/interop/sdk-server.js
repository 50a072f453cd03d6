// A stdio server with the official SDK.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

export function createServer() {
  const server = new McpServer({ name: 'official', version: '1.0.0' });
  server.registerTool(
    'add',
    { description: 'Adds', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool('seat', { description: 'Asks for a seat', inputSchema: {} }, async () => {
    const requestedSchema = {
      type: /** @type {const} */ ('object'),
      properties: { seat: { type: /** @type {const} */ ('string') } },
    };
    const { action, content } = await server.server.elicitInput({ message: 'Which seat?', requestedSchema });
    return { content: [{ type: 'text', text: `${action} ${String(content?.seat)}` }] };
  });
  server.registerResource('readme', 'docs://readme', { mimeType: 'text/plain' }, async ({ href }) => ({
    contents: [{ uri: href, text: 'Read me' }],
  }));
  return server;
}

if (process.argv.includes('--stdio')) {
  await createServer().connect(new StdioServerTransport());
  // many servers have a timer or a connection that keeps them alive when stdin ends
  setInterval(() => {}, 60_000);
}
