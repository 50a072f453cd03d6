// Servers of the official SDK from the time of each revision: `node sdk-servers.js 1.13 http`.
import { randomUUID } from 'node:crypto';
import { createServer as createListener } from 'node:http';

const [version = '', via] = process.argv.slice(2);
const packageOf = version === '1.32' ? '@modelcontextprotocol/sdk' : `sdk-${version}`;

/** @type {(path: string) => Promise<any>} */
const load = (path) => import(`${packageOf}/${path}.js`);

const text = (/** @type {unknown} */ value) => ({ content: [{ type: 'text', text: String(value) }] });

const TOOLS = [
  { name: 'add', description: 'Adds', inputSchema: { type: 'object', properties: { a: { type: 'number' } } } },
  { name: 'count', description: 'Reports progress', inputSchema: { type: 'object' } },
  { name: 'ask', description: 'Asks the model', inputSchema: { type: 'object' } },
  { name: 'hang', description: 'Never ends', inputSchema: { type: 'object' } },
];

async function oldServer() {
  const { Server } = await load('server/index');
  const types = await load('types');
  const server = new Server(
    { name: `sdk-${version}`, version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler(types.ListToolsRequestSchema, async (/** @type {any} */ { params }) =>
    params?.cursor === undefined ? { tools: TOOLS.slice(0, 2), nextCursor: '2' } : { tools: TOOLS.slice(2) },
  );
  server.setRequestHandler(
    types.CallToolRequestSchema,
    async (/** @type {any} */ { params }, /** @type {any} */ extra) => {
      const { name, arguments: args = {}, _meta } = params;
      if (name === 'add') return text(args.a + args.b);
      if (name === 'hang') return new Promise(() => {});
      const related = { relatedRequestId: extra?.requestId };
      if (name === 'count') {
        const { progressToken } = _meta;
        const method = 'notifications/progress';
        await server.notification({ method, params: { progressToken, progress: 1, total: 1 } }, related);
        // old SDKs send both on the stream of the session, so the answer to the call could be faster
        await server.ping();
        return text('one');
      }
      const messages = [{ role: 'user', content: { type: 'text', text: 'Who?' } }];
      const request = { method: 'sampling/createMessage', params: { messages, maxTokens: 10 } };
      const { content } = await server.request(request, types.CreateMessageResultSchema, related);
      return text(content.text);
    },
  );
  return server;
}

async function newServer() {
  const { inputRequired, McpServer } = await import('@modelcontextprotocol/server');
  const { z } = await import('zod');
  const server = /** @type {any} */ (new McpServer({ name: 'sdk-2', version: '1.0.0' }));
  const addends = z.object({ a: z.number(), b: z.number() });
  const [add, count, ask, hang] = TOOLS;
  server.registerTool(
    'add',
    { description: add?.description, inputSchema: addends },
    async (/** @type {any} */ { a, b }) => text(a + b),
  );
  server.registerTool('count', { description: count?.description }, async (/** @type {any} */ ctx) => {
    const { progressToken } = ctx.mcpReq['_meta'];
    await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 1 } });
    return text('one');
  });
  server.registerTool('ask', { description: ask?.description }, async (/** @type {any} */ ctx) => {
    const answer = ctx.mcpReq.inputResponses?.who;
    if (answer !== undefined) return text(answer.content.text);
    const messages = [{ role: 'user', content: { type: 'text', text: 'Who?' } }];
    return /** @type {any} */ (
      inputRequired({
        inputRequests: { who: inputRequired.createMessage(/** @type {any} */ ({ messages, maxTokens: 10 })) },
      })
    );
  });
  server.registerTool('hang', { description: hang?.description }, async () => await new Promise(() => {}));
  return server;
}

/** @type {Map<string, any>} */
const transports = new Map();

/** @type {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => Promise<void>} */
async function handleHttp(request, response) {
  const { StreamableHTTPServerTransport } = await load('server/streamableHttp');
  let transport = transports.get(String(request.headers['mcp-session-id']));
  if (transport === undefined) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (/** @type {string} */ id) => void transports.set(id, transport),
    });
    await (await oldServer()).connect(transport);
  }
  await transport.handleRequest(request, response);
}

/** @type {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => Promise<void>} */
async function handleSse(request, response) {
  const { SSEServerTransport } = await load('server/sse');
  const { pathname, searchParams } = new URL(String(request.url), 'http://localhost');
  if (pathname === '/mcp' && request.method === 'GET') {
    const transport = new SSEServerTransport('/messages', response);
    transports.set(transport.sessionId, transport);
    return await (await oldServer()).connect(transport);
  }
  const transport = transports.get(String(searchParams.get('sessionId')));
  if (transport !== undefined) return await transport.handlePostMessage(request, response);
  response.writeHead(404).end();
}

/** @type {() => Promise<(request: any, response: any) => unknown>} */
async function handlerOf() {
  if (via === 'sse') return handleSse;
  if (version !== '2') return handleHttp;
  const { toNodeHandler } = await import('@modelcontextprotocol/node');
  const { createMcpHandler } = await import('@modelcontextprotocol/server');
  return toNodeHandler(createMcpHandler(newServer));
}

if (via === 'stdio' && version === '2') {
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  serveStdio(newServer);
} else if (via === 'stdio') {
  const { StdioServerTransport } = await load('server/stdio');
  await (await oldServer()).connect(new StdioServerTransport());
} else {
  const handle = await handlerOf();
  const listener = createListener((request, response) => void handle(request, response));
  listener.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (listener.address());
    process.stdout.write(`Serving http://127.0.0.1:${port}/mcp\n`);
  });
}
