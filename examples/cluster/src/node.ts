// One node. It needs DECORUM_SECRET and Redis, and a proxy in front of it.
import { health, McpServer } from '@decorum/core';
import { mcp } from '@decorum/http';
import { metrics } from '@decorum/prometheus';
import { redis } from '@decorum/redis';
import Fastify from 'fastify';
import { Redis } from 'ioredis';

import { Notes } from './notes.js';

const { HOST = '127.0.0.1', PORT = '3000', REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
// the names that clients use for the proxy
const { ALLOWED_HOSTS = 'localhost,127.0.0.1' } = process.env;

const client = new Redis(REDIS_URL);
client.on('error', (error) => console.error(`Redis: ${error.message}`));

const server = new McpServer({
  name: 'notes',
  version: '1.0.0',
  providers: [new Notes(client)],
  cluster: redis(client),
  plugins: [health(), metrics()],
});

// only the proxy can reach a node, from an address of this machine or of the private network
const app = Fastify({ trustProxy: ['loopback', 'uniquelocal'], forceCloseConnections: true });
await app.register(mcp, { server, allowedHosts: ALLOWED_HOSTS.split(',') });
const address = await app.listen({ host: HOST, port: Number(PORT) });
if (process.send === undefined) console.log(`Serving ${address}/mcp`);
else process.send(app.server.address());

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    // no new connections: the proxy sends new requests to another node
    app.server.close();
    await server.close({ deadlineMs: 10_000 });
    await app.close();
    client.disconnect();
    process.disconnect?.();
  });
}
