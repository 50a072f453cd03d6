import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { createInterface } from 'node:readline';

import { type McpServer, serveStdio } from '@decorum/core';
import { listen } from '@decorum/http';

import { Client, type Json } from './client.js';

/** Serves over in-process pipes, one message per line. */
export async function overStdio(server: McpServer): Promise<Client> {
  const input = new PassThrough();
  const output = new PassThrough();
  await serveStdio(server, { input, output });
  const client = new Client(
    async (message) => void input.write(`${JSON.stringify(message)}\n`),
    async () => await server.close(),
  );
  createInterface({ input: output }).on('line', (line) => client.receive(JSON.parse(line) as Json));
  await client.begin();
  return client;
}

/** Serves over a real socket. Each message is a POST, and one GET stream has the messages that belong to no request. */
export async function overHttp(server: McpServer): Promise<Client> {
  const { url } = await listen(server, { port: 0 });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const client = new Client(
    async (message) => {
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) });
      const session = response.headers.get('mcp-session-id');
      if (session) headers['mcp-session-id'] = session;
      await deliver(response, client);
    },
    async () => await server.close(),
  );
  await client.begin();
  const stream = await fetch(url, { headers: { ...headers, accept: 'text/event-stream' } });
  // the stream ends with the server
  void deliver(stream, client);
  return client;
}

async function deliver(response: Response, client: Client): Promise<void> {
  const kind = response.headers.get('content-type') ?? '';
  if (kind.startsWith('text/event-stream')) return await deliverEvents(response, client);
  const body = await response.text();
  if (body) client.receive(JSON.parse(body) as Json);
}

async function deliverEvents({ body }: Response, client: Client): Promise<void> {
  const lines = createInterface({ input: Readable.fromWeb(body as ReadableStream) });
  lines.on('line', (line) => {
    const data = /^data: *(\S.*)$/.exec(line)?.[1];
    if (data) client.receive(JSON.parse(data) as Json);
  });
  await once(lines, 'close');
}
