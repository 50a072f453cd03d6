// Servers that misbehave, over HTTP and stdio.
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { afterEach, describe, expect, it } from '@jest/globals';
import { type Client, type ClientOptions, connectClient, type ConnectTarget } from '@decorum/client';
import { revisions } from '@decorum/testing';

const [SESSION, STATELESS] = revisions.slice(-2) as [string, string];

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function clientOf(target: ConnectTarget, options: ClientOptions = {}): Promise<Client> {
  const client = await connectClient(target, options);
  open.push(client);
  return client;
}

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly params: Record<string, unknown>;
}

type Answer = (asked: Asked, response: ServerResponse, path: string) => void;

const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

async function serve(answer: Answer, withoutStream = 405): Promise<string> {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') return void response.writeHead(withoutStream).end();
    const asked = { ...(JSON.parse(await text(request)) as Asked), headers: request.headers };
    if (asked.id === undefined) return void response.writeHead(202).end();
    answer(asked, response, String(request.url));
  };
  return await listening(createHttpServer((request, response) => void handle(request, response)));
}

async function listening(listener: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  open.push({
    async close() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  });
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`;
}

/** Answers `server/discover` as a server should. */
const discovering =
  (answer: Answer): Answer =>
  (asked, response, path) => {
    if (asked.method !== 'server/discover') return answer(asked, response, path);
    json(response, { jsonrpc: '2.0', id: asked.id, result: { supportedVersions: [STATELESS], capabilities: {} } });
  };

describe('a client of a server that misbehaves', () => {
  it('ignores what a program prints between its messages', async () => {
    const program = `process.stdin.on('data', (chunk) => {
      for (const line of String(chunk).trim().split('\\n')) {
        const { id } = JSON.parse(line);
        console.log('Starting up … 100%');
        console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { supportedVersions: ['${STATELESS}'], capabilities: {} } }));
      }
    })`;
    const problems: string[] = [];
    const target = { command: process.execPath, args: ['-e', program] };
    const client = await clientOf(target, { onError: ({ message }) => void problems.push(message) });
    await client.ping();
    expect(problems[0]).toContain('Starting up');
  });

  it('refuses messages over the cap, as a body, an event and a line', async () => {
    const long = 'x'.repeat(5000);
    for (const type of ['application/json', 'text/event-stream']) {
      const url = await serve(
        discovering((_asked, response) => response.writeHead(200, { 'content-type': type }).end(`data: ${long}`)),
      );
      const client = await clientOf(url, { maxMessageBytes: 2000 });
      await expect(client.callTool('x')).rejects.toMatchObject({ code: 'too-large' });
      await client.close();
    }
    const program = { command: process.execPath, args: ['-e', `console.log('${long}'); process.stdin.resume()`] };
    await expect(connectClient(program, { maxMessageBytes: 2000, revision: SESSION })).rejects.toMatchObject({
      code: 'too-large',
    });
  });

  it('follows redirects on the same origin, and never takes credentials to another', async () => {
    const seen: (string | undefined)[] = [];
    const other = await serve(({ headers }) => void seen.push(headers.authorization));
    let location = '/mcp/';
    const url = await serve((asked, response, path) => {
      if (path === '/mcp') return void response.writeHead(307, { location }).end();
      seen.push(asked.headers.authorization);
      discovering(() => {})(asked, response, path);
    });
    const options = { headers: { authorization: 'Bearer secret' } };
    await clientOf(url, options);
    expect(seen).toEqual(['Bearer secret']);
    location = other;
    await expect(connectClient(url, options)).rejects.toThrow('redirects to');
    expect(seen).toHaveLength(1);
  });

  it('gives up on lists that go round in circles or never end', async () => {
    let next = (_cursor: unknown): string => 'a';
    const url = await serve(
      discovering(({ id, params }, response) => {
        json(response, { jsonrpc: '2.0', id, result: { tools: [{ name: 'x' }], nextCursor: next(params['cursor']) } });
      }),
    );
    const client = await clientOf(url);
    await expect(client.listTools()).rejects.toMatchObject({ code: 'protocol' });
    next = (cursor) => String(Number(cursor ?? 0) + 1);
    await expect(client.listTools()).rejects.toMatchObject({ code: 'too-large' });
    for await (const tool of client.tools()) {
      expect(tool.name).toBe('x');
      break;
    }
  });
});

describe('a client whose server forgets the session', () => {
  const denial = {
    jsonrpc: '2.0',
    error: { code: -32000, message: 'Bad Request: No valid session ID provided' },
    id: null,
  };

  it.each([
    ['HTTP 404', 404, ''],
    ['HTTP 400, as older examples of the official SDK do', 400, JSON.stringify(denial)],
  ])('with %s starts another, sends the refused call again, and tells the others', async (_, status, body) => {
    let session = 1;
    const hanging: ServerResponse[] = [];
    const methods: string[] = [];
    const url = await serve(({ id, method, headers, params }, response) => {
      methods.push(method);
      const result = { protocolVersion: SESSION, capabilities: {}, serverInfo: { name: 's', version: '1' } };
      if (method === 'initialize')
        return json(response, { jsonrpc: '2.0', id, result }, { 'mcp-session-id': String(session) });
      if (headers['mcp-session-id'] !== String(session)) return response.writeHead(status).end(body);
      if (params['name'] === 'hang') return void hanging.push(response);
      json(response, { jsonrpc: '2.0', id, result: { content: [] } });
    });
    const client = await clientOf(url, { revision: SESSION });
    const hung = client.callTool('hang').catch((error: unknown) => error);
    while (hanging.length === 0) await client.ping();
    session = 2;
    methods.length = 0;
    expect(await client.callTool('add')).toEqual({ content: [] });
    expect(await hung).toMatchObject({ name: 'ConnectionError', code: 'session-lost' });
    expect(methods).toEqual(['tools/call', 'initialize', 'tools/call']);
  });

  it('is not taken for one if it answers GET with 404, as it has no stream', async () => {
    const methods: string[] = [];
    const url = await serve(({ id, method }, response) => {
      methods.push(method);
      const result = { protocolVersion: SESSION, capabilities: {}, serverInfo: { name: 's', version: '1' } };
      json(response, { jsonrpc: '2.0', id, result }, method === 'initialize' ? { 'mcp-session-id': '1' } : {});
    }, 404);
    const client = await clientOf(url, { revision: SESSION });
    for (let left = 5; left > 0; left -= 1) await client.ping();
    expect(methods).toEqual(['initialize', 'ping', 'ping', 'ping', 'ping', 'ping']);
  });
});

describe('a client over HTTP+SSE whose stream breaks', () => {
  it('rejects the calls under way, and says that it has to connect again', async () => {
    let stream: ServerResponse | undefined;
    const handle = async (request: IncomingMessage, response: ServerResponse) => {
      if (request.method === 'GET') {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
        return void stream.write('event: endpoint\ndata: /messages\n\n');
      }
      if (request.url !== '/messages') return void response.writeHead(405).end();
      const { id, method } = JSON.parse(await text(request)) as Asked;
      response.writeHead(202).end();
      const result = { protocolVersion: SESSION, capabilities: {}, serverInfo: { name: 's', version: '1' } };
      if (method === 'initialize') stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
      if (method === 'tools/call') stream?.destroy();
    };
    const url = await listening(createHttpServer((request, response) => void handle(request, response)));
    const client = await clientOf(url);
    const lost = { name: 'ConnectionError', code: 'closed', message: expect.stringContaining('Connect again.') };
    await expect(client.callTool('x')).rejects.toMatchObject(lost);
    await expect(client.ping()).rejects.toMatchObject(lost);
    expect(await client.closed).toMatchObject(lost);
    await (await clientOf(url)).close();
  });
});
