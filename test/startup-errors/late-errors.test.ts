// Mistakes that startup can't see are named in the log, or in the error of the first request that meets them.
import { type Class, type McpServer, Resource, Tool } from '@decorum/core';
import { listen } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { connect } from '@decorum/testing';
import { expect, it } from '@jest/globals';

import { serverOf, untyped } from './table.js';

class Clock {
  @Tool() now() {
    return 'noon';
  }

  @Resource('clock://now') face() {
    return 'noon';
  }
}

/** What a server with these options logs while something happens. */
async function logged(happen: (server: McpServer) => Promise<unknown>, options: object = {}): Promise<string[]> {
  const messages: string[] = [];
  const logger = {
    warn: (_details: object, message: string) => void messages.push(message),
    error: ({ err }: { readonly err?: Error }) => void messages.push(err?.message ?? ''),
  };
  await happen(serverOf([Clock], { ...options, logger }));
  return messages;
}

it('logs a refused Host once, with the value to allow', async () => {
  const warnings = await logged(async (server) => {
    const handle = fetchHandler(server);
    await handle.ready;
    for (const host of ['mcp.example.com:8080', 'mcp.example.com:8080', 'localhost:8080']) {
      const request = new Request(`http://${host}/mcp`, { method: 'POST', headers: { host } });
      await handle(request, { localPort: 3000 });
    }
  });
  expect(warnings).toEqual([
    expect.stringContaining("add it: `allowedHosts: ['mcp.example.com']`"),
    // the port that a container maps
    expect.stringContaining("add it: `allowedHosts: ['localhost:8080']`"),
  ]);
});

it('names a port that is taken, with what to pass instead', async () => {
  // the digits of an environment variable
  const { port, close } = await listen(serverOf([]), { port: '0' as unknown as number });
  const message = `port ${port}. Pass another \`port\` to listen, or 0 for any that is free`;
  const again = listen(serverOf([]), { port });
  await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE', message: expect.stringContaining(message) });
  await close();
});

it('rejects a request that is not one of the web, with what to pass in Hono', async () => {
  const handle = untyped<Promise<unknown>>(fetchHandler(serverOf([])));
  await expect(handle({ req: { raw: {} } })).rejects.toThrow('In Hono, pass `c.req.raw`.');
});

it('admits nobody if `access` returns a reason, and logs what to return', async () => {
  const errors = await logged(async (server) => {
    server.addTool({ name: 'buy', access: (() => 'members only') as never }, () => '');
    const tools = await (await connect(server)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(['now']);
  });
  expect(errors).toEqual([expect.stringContaining('`access` must return true or false')]);
});

it('logs what to write if `principal` returns a promise', async () => {
  const errors = await logged(async (server) => {
    const handle = fetchHandler(server, { principal: (() => Promise.resolve({ subject: 'ada' })) as never });
    await handle.ready;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    await handle(new Request('http://localhost:3000/mcp', { method: 'POST', headers, body }));
  });
  expect(errors).toEqual([expect.stringContaining('Use `auth` for promises.')]);
});

it('serves a class of another realm', async () => {
  const { runInNewContext } = await import('node:vm');
  const Foreign = runInNewContext('(class Foreign { now() { return "noon"; } })') as Class;
  const { prototype } = Foreign;
  untyped<(...place: unknown[]) => void>(Tool)()(prototype, 'now', Object.getOwnPropertyDescriptor(prototype, 'now'));
  expect(await (await connect(serverOf([Foreign]))).callTool('now')).toMatchObject({ content: [{ text: 'noon' }] });
});
