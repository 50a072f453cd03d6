import { createServer } from 'node:net';

import { FastMCP } from 'fastmcp';

import { report } from './report.js';
import { TOOLS } from './tools.js';

const silent = () => {};
const logger = { debug: silent, error: silent, info: silent, log: silent, warn: silent };
const server = new FastMCP({ name: 'bench', version: '1.0.0', logger });
for (const { name, description, schema, run } of TOOLS) {
  server.addTool({ name, description, parameters: schema, execute: async (args) => run(args) });
}

// FastMCP doesn't report its port, so choose a free one
const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port: free } = /** @type {import('node:net').AddressInfo} */ (probe.address());
    probe.close(() => resolve(free));
  });
});
await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1', enableJsonResponse: true } });
report(`http://127.0.0.1:${port}/mcp`);
