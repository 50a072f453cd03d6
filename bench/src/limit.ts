import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable, Writable } from 'node:stream';

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { fastify } from 'fastify';

import { FOLLOWED, META, PROGRESS_STEPS } from './calls.js';

// The baseline: it parses the body, validates the arguments and writes the response, without the protocol.

/** The result of `tools/list` of the measured server. */
export interface ToolList {
  readonly tools: readonly { readonly name: string; readonly inputSchema: object }[];
}

interface Body {
  readonly id: unknown;
  readonly params: { readonly name: string; readonly arguments: Record<string, unknown> };
}

type Run = (args: Record<string, unknown>) => object;

/** Returns the JSON text of the response to a parsed request, or undefined if the arguments are invalid. */
export type Work = (body: unknown) => string | undefined;

const textResult = (text: string) => ({ content: [{ type: 'text', text }] });

const RUNS: readonly (readonly [name: string, run: Run])[] = [
  [
    'add',
    ({ a, b }) => {
      const sum = Number(a) + Number(b);
      return { ...textResult(String(sum)), structuredContent: { sum } };
    },
  ],
  ['echo', (order) => textResult(JSON.stringify(order))],
  ['blob', ({ data }) => textResult(String((data as string).length))],
];

/**
 * Creates the baseline's request handler. It validates arguments with the schemas that the server publishes, so the
 * baseline and the server do the same checks.
 */
export function createWork({ tools }: ToolList): Work {
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  formats.default(ajv);
  const known = new Map<string, { readonly check: ValidateFunction; readonly run: Run }>();
  for (const [name, run] of RUNS) {
    const schema = tools.find((tool) => tool.name === name)?.inputSchema;
    if (schema) known.set(name, { check: ajv.compile(schema), run });
  }
  return (body) => {
    const { id, params } = body as Body;
    const tool = known.get(params.name);
    if (tool === undefined || !tool.check(params.arguments)) return undefined;
    return JSON.stringify({ jsonrpc: '2.0', id, result: tool.run(params.arguments) });
  };
}

/** A listening bare route. */
export interface BareRoute {
  readonly url: string;
  /** Writes the same event to every open stream. */
  tell(): void;
  close(): Promise<unknown>;
}

const STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
const eventOf = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const ACKNOWLEDGED = eventOf({ method: 'notifications/subscriptions/acknowledged', params: {} });
const UPDATED = eventOf({
  method: 'notifications/resources/updated',
  params: { uri: FOLLOWED, _meta: { 'io.modelcontextprotocol/subscriptionId': 1000 } },
});

/** Bare Fastify with its own JSON parser and without a logger. */
export async function serveFastify(list: ToolList): Promise<BareRoute> {
  const work = createWork(list);
  const open = new Set<ServerResponse>();
  const app = fastify({ logger: false, bodyLimit: 4 * 1024 * 1024, forceCloseConnections: true });
  app.post('/mcp', (request, reply) => {
    const answer = work(request.body);
    if (answer === undefined) return reply.code(400).send();
    return reply.type('application/json').send(answer);
  });
  app.post('/list', (request, reply) => {
    const { id } = request.body as Body;
    return reply.type('application/json').send(JSON.stringify({ jsonrpc: '2.0', id, result: list }));
  });
  app.post('/progress', (request, reply) => {
    reply.hijack();
    writeSteps(reply.raw.writeHead(200, STREAM), (request.body as Body).id);
  });
  app.post('/events', (_request, reply) => {
    reply.hijack();
    const { raw } = reply;
    open.add(raw.writeHead(200, STREAM));
    raw.once('close', () => open.delete(raw));
    raw.write(ACKNOWLEDGED);
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const tell = () => {
    for (const response of open) response.write(UPDATED);
  };
  return { url: `${url}/mcp`, tell, close: () => app.close() };
}

function writeSteps(response: ServerResponse, id: unknown): void {
  for (let progress = 1; progress <= PROGRESS_STEPS; progress += 1) {
    const params = { progressToken: 7, progress, total: PROGRESS_STEPS };
    response.write(eventOf({ method: 'notifications/progress', params }));
  }
  response.end(eventOf({ id, result: textResult('done') }));
}

/** The same handler without Fastify, to measure `node:http` alone. */
export async function serveNode(list: ToolList): Promise<Omit<BareRoute, 'tell'>> {
  const work = createWork(list);
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = work(JSON.parse(Buffer.concat(chunks).toString())) ?? '';
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) };
      response.writeHead(answer === '' ? 400 : 200, headers);
      response.end(answer);
    });
  });
  return { url: await listening(server), close: () => closed(server) };
}

/** Listens on a free port and returns the URL. */
export async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** Stops listening and closes all connections. */
export async function closed(server: ReturnType<typeof createServer>): Promise<void> {
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
}

/** The same handler for web `Request` and `Response`. */
export function createFetch(list: ToolList): (request: Request) => Promise<Response> {
  const work = createWork(list);
  return async (request) => {
    const answer = work(await request.json());
    const init = { status: answer === undefined ? 400 : 200, headers: { 'content-type': 'application/json' } };
    return new Response(answer, init);
  };
}

/** The same handler for lines of JSON. Writes all responses to one chunk at once. */
export function serveLines(input: Readable, output: Writable, list: ToolList): void {
  const work = createWork(list);
  let rest = '';
  input.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    let answers = '';
    for (const line of lines) answers += `${work(JSON.parse(line)) ?? '{}'}\n`;
    if (answers !== '') output.write(answers);
  });
}

/** A stateless `tools/list` request. */
export const LIST_REQUEST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } } as const;
