// Upstreams that try to wear out the server in front: by floods, drips, and streams and lists without an end.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { afterEach, expect, it } from '@jest/globals';
import {
  type Client,
  type ClientOptions,
  connectClient,
  contractDigest,
  proxy,
  type ProxyOptions,
} from '@decorum/client';
import { type JsonObject, McpServer } from '@decorum/core';

import { STATEFUL, STATELESS } from './front.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

interface Asked {
  readonly id: number | undefined;
  readonly method: string | undefined;
  readonly params: JsonObject;
}

type Act = (asked: Asked, response: ServerResponse) => unknown;

const GREETING = {
  supportedVersions: [STATELESS],
  protocolVersion: STATEFUL,
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'hostile', version: '1.0.0' },
};
const inputSchema = { type: 'object' };

/** An upstream over HTTP that introduces itself, and does what it likes with all other messages. */
async function hostile(act: Act) {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const asked = JSON.parse(body) as Asked;
      const isGreeting = asked.method === 'server/discover' || asked.method === 'initialize';
      if (isGreeting) return answer(asked, response, GREETING);
      return asked.method?.startsWith('notifications/') ? response.writeHead(202).end() : act(asked, response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  open.push({
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
  const sockets = async () =>
    await new Promise<number>((resolve, reject) => {
      server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, sockets };
}

function answer({ id }: Asked, response: ServerResponse, result: object): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } }));
}

const streaming = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

async function connected(url: string, options: ClientOptions = {}): Promise<Client> {
  const client = await connectClient(url, options);
  open.push(client);
  return client;
}

async function behind(url: string, options: ProxyOptions = {}, front: ClientOptions = {}): Promise<Client> {
  const server = new McpServer({
    name: 'front',
    version: '1.0.0',
    providers: [proxy(url, options)],
    logger: { warn() {}, error() {} },
  });
  open.push(server);
  const client = await connectClient(server, front);
  open.push(client);
  return client;
}

async function until(isSo: () => unknown): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}

it('reads an event that comes in very many pieces', async () => {
  const size = 1_000_000;
  const { url } = await hostile(({ id }, response) => {
    streaming(response).write(`data: {"jsonrpc":"2.0","id":${id},"result":{"content":[],"x":"`);
    let left = 3000;
    const drip = () => {
      if (left-- > 0) return void response.write(left === 2999 ? 'x'.repeat(size) : 'x', () => setImmediate(drip));
      response.end('"}}\r\n\r\n');
    };
    drip();
  });
  const client = await connected(url);
  // takes far too long if what has been read is read again with each piece
  expect(await client.callTool('x')).toMatchObject({ content: [] });
});

it.each([STATELESS, STATEFUL])('sends few answers at a time to an upstream that takes none (%s)', async (revision) => {
  let replies = 0;
  let end = () => {};
  const { url } = await hostile((asked, response) => {
    // leaves time for more of them
    if (asked.method === undefined && ++replies === 100) setTimeout(() => end(), 500);
    if (asked.method !== 'tools/call') return;
    const questions = Array.from({ length: 2000 }, (_, id) => event({ id: `q${id}`, method: 'ping' }));
    streaming(response).write(questions.join(''));
    end = () => void response.end(event({ id: asked.id, result: { content: [] } }));
  });
  const client = await connected(url, { revision });
  await client.callTool('x');
  expect(replies).toBe(100);
});

it('leaves no stream open once a call is answered or cancelled', async () => {
  const { url, sockets } = await hostile((asked, response) => {
    streaming(response).write(':\n\n');
    if (asked.params['name'] === 'answered') response.write(event({ id: asked.id, result: { content: [] } }));
  });
  const client = await connected(url, { revision: STATEFUL });
  for (let call = 0; call < 10; call += 1) {
    await client.callTool('answered');
    await expect(client.callTool('silent', {}, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'timeout' });
  }
  await until(async () => (await sockets()) <= 2);
});

it('reads lists one after another, however often an upstream announces changes', async () => {
  let lists = 0;
  let most = 0;
  let stream: ServerResponse | undefined;
  const { url } = await hostile((asked, response) => {
    if (asked.method === 'subscriptions/listen') {
      stream = streaming(response);
      const meta = { 'io.modelcontextprotocol/subscriptionId': asked.id };
      stream.write(
        event({ method: 'notifications/subscriptions/acknowledged', params: { _meta: meta, notifications: {} } }),
      );
      return;
    }
    lists += 1;
    most = Math.max(most, lists);
    const end = () => {
      lists -= 1;
      answer(asked, response, { tools: [{ name: 'x', inputSchema }] });
    };
    if (stream === undefined) return end();
    setTimeout(end, 1500);
  });
  const client = await behind(url);
  await until(() => stream);
  const storm = setInterval(() => stream?.write(event({ method: 'notifications/tools/list_changed' })), 1);
  await until(() => lists > 0);
  await until(() => lists === 0);
  await until(() => lists > 0);
  await until(() => lists === 0);
  clearInterval(storm);
  expect(most).toBe(1);
  expect(await client.listTools()).toHaveLength(1);
});

it('pins what it serves, if an upstream lists a name twice', async () => {
  const good = { name: 'x', description: 'Good', inputSchema };
  let tools: object[] = [good];
  const { url } = await hostile((asked, response) => answer(asked, response, { tools }));
  const pin = await contractDigest(url);
  tools = [{ ...good, description: 'Evil' }, good];
  expect(await (await behind(url, { pin })).listTools()).toEqual([]);
  tools = [good, { ...good, description: 'Evil' }];
  expect(await (await behind(url, { pin })).listTools()).toMatchObject([{ description: 'Good' }]);
});

it('sends nobody to URLs in an error', async () => {
  const data = { elicitations: [{ mode: 'url', url: 'javascript:alert(1)', message: 'Hi', elicitationId: '1' }] };
  const { url } = await hostile((asked, response) => {
    if (asked.method !== 'tools/call') return answer(asked, response, { tools: [{ name: 'x', inputSchema }] });
    const error = { code: -32042, message: 'Go there', data };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, error }));
  });
  const client = await behind(url, {}, { revision: STATEFUL });
  expect(await client.callTool('x')).toMatchObject({ isError: true });
});

it('gives up on lists whose cursors are huge', async () => {
  let pages = 0;
  const { url } = await hostile((asked, response) => {
    pages += 1;
    answer(asked, response, {
      tools: [{ name: `x${pages}`, inputSchema }],
      nextCursor: `${pages}${'c'.repeat(100_000)}`,
    });
  });
  await expect((await connected(url)).listTools()).rejects.toMatchObject({ code: 'too-large' });
  pages = 0;
  await (await behind(url)).listTools();
  expect(pages).toBeLessThan(3);
});
