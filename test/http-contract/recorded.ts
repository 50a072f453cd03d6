// An endpoint that shows what it writes to responses, even when nobody reads them.
import type { McpServer } from '@decorum/core';
import { mcp } from '@decorum/http';
import fastify from 'fastify';

import { afterwards } from '../../packages/http/test/fixture.js';

/** Serves until the end of the test. Everything that is written to a response is added to `written`. */
export async function recorded(server: McpServer): Promise<{ readonly url: string; readonly written: string[] }> {
  // clients keep idle connections open, and Node would wait for them
  const app = fastify({ forceCloseConnections: true });
  const written: string[] = [];
  app.addHook('onRequest', async (_request, { raw }) => {
    for (const name of ['write', 'end'] as const) {
      const original = raw[name].bind(raw) as (...all: unknown[]) => never;
      raw[name] = (...all: unknown[]) => {
        if (typeof all[0] === 'string' || Buffer.isBuffer(all[0])) written.push(String(all[0]));
        return original(...all);
      };
    }
  });
  await app.register(mcp, { server });
  afterwards(async () => {
    await app.close();
    await server.close();
  });
  return { url: `${await app.listen({ port: 0 })}/mcp`, written };
}
