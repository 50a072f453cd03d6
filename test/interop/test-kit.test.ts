// The client of @decorum/testing, with servers on the official SDK.
import '@decorum/testing/jest';

import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

import { connect, elicits, revisions, type TestClient } from '@decorum/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

import { createServer } from './sdk-server.js';

let listener: Server | undefined;
afterEach(() => {
  listener?.closeAllConnections();
  listener?.close();
  listener = undefined;
});

/** One session of the official server. */
async function overHttp(): Promise<string> {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  await createServer().connect(transport as Transport);
  const http = createHttpServer((request, response) => void transport.handleRequest(request, response));
  listener = http;
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

const PROGRAM = {
  command: process.execPath,
  args: [fileURLToPath(new URL('sdk-server.js', import.meta.url)), '--stdio'],
};

const TARGETS = { 'a URL': overHttp, 'a program': async () => PROGRAM };

/** The official server speaks these. */
const SESSIONS = revisions.slice(0, -1);

describe.each(SESSIONS)('a client of %s and an official server', (revision) => {
  it.each(Object.keys(TARGETS) as (keyof typeof TARGETS)[])('understand each other over %s', async (name) => {
    const asks = SESSIONS.indexOf(revision) >= 2;
    const client: TestClient = await connect(await TARGETS[name](), {
      revision,
      ...(asks && { onElicit: elicits({ seat: '3A' }) }),
    });
    expect(client.revision).toBe(revision);
    await expect(client).toHaveTool('add', { description: 'Adds' });
    await expect(client).toHaveResource('docs://readme');
    const result = await client.callTool('add', { a: 1, b: 2 });
    expect(result).toReturnText('3');
    expect(result).toReturnStructured({ sum: 3 });
    await expect(result).toMatchOutputSchema();
    await expect(client.callTool('add', { a: 'x' })).toBeToolError();
    await expect(client.readResource('docs://nothing')).toBeMcpError();
    if (asks) await expect(client.callTool('seat')).toReturnText('accept 3A');
    await client.close();
  });
});
