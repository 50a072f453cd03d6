import { EventEmitter, once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  request as httpRequest,
  type RequestListener,
  type ServerOptions,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';

import { afterEach } from '@jest/globals';
import {
  Context,
  type JsonObject,
  McpServer,
  type McpServerOptions,
  NoInput,
  Prompt,
  type ReachedLimit,
  Resource,
  Tool,
} from '@decorum/core';
import { HOST, type Kernel } from '@decorum/core/transport';
import { listen, type Listening, type ListenOptions } from '@decorum/http';

const NUMBERS = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] };

/** Tools controlled by a test. `wait` and similar tools emit an event when they start, and end on an event. */
export class Probe extends EventEmitter {
  contexts: Context[] = [];
  aborted = 0;

  @Tool({ description: 'Adds', input: NUMBERS })
  add({ a, b }: { a: number; b: number }) {
    return String(a + b);
  }

  @Tool({ description: 'Reports progress' })
  async steps(_input: NoInput, ctx: Context) {
    for (const step of [1, 2, 3]) {
      ctx.progress(step, 3);
      await new Promise(setImmediate);
    }
    return 'done';
  }

  @Tool({ description: 'Answers when it is let' })
  async wait(_input: NoInput, ctx: Context) {
    this.contexts.push(ctx);
    ctx.signal.addEventListener('abort', () => {
      this.aborted += 1;
      this.emit('aborted');
    });
    const ended = once(this, 'go');
    this.emit('began');
    await ended;
    return 'let go';
  }

  @Tool({ description: 'Ends when it is cancelled' })
  async obey(_input: NoInput, ctx: Context) {
    const aborted = once(ctx.signal, 'abort');
    this.emit('began');
    await aborted;
    throw ctx.signal.reason;
  }

  @Tool({ description: 'Begins a stream, then answers when it is let' })
  async stream(input: NoInput, ctx: Context) {
    ctx.progress(1);
    return await this.wait(input, ctx);
  }

  @Tool({ description: 'Lets the client poll' })
  async poll(input: NoInput, ctx: Context) {
    ctx.closeStream({ retryMs: 25 });
    return await this.wait(input, ctx);
  }

  @Tool({ description: 'Asks the user' })
  async ask(_input: NoInput, ctx: Context) {
    const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const answer = await ctx.elicit(schema, { message: 'Your name?' });
    return answer.action === 'accept' ? `Hello, ${(answer.content as { name: string }).name}` : answer.action;
  }

  @Tool({ description: 'Sends a lot', input: { type: 'object', properties: { count: { type: 'number' } } } })
  async flood({ count }: { count: number }, ctx: Context) {
    for (let n = 1; n <= count; n++) {
      ctx.progress(n, count, 'x'.repeat(10_000));
      if (n % 50 === 0) await new Promise(setImmediate);
    }
    this.emit('flooded');
    return 'flooded';
  }

  @Tool({ description: 'Fails' })
  fail() {
    throw new Error('a secret at /etc/passwd');
  }

  @Resource('docs://guide', { name: 'guide' })
  guide() {
    return 'large';
  }

  @Prompt({ name: 'greet', description: 'Greets' })
  greet() {
    return 'Hello';
  }
}

const toClose: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});

/** Runs a cleanup at the end of the test. */
export function afterwards(close: () => unknown): void {
  toClose.push(close);
}

export interface Served extends Listening {
  readonly probe: Probe;
  readonly server: McpServer;
  readonly errors: unknown[];
  /** The limits that clients have reached. */
  readonly hits: ReachedLimit[];
}

export function createServer(probe: Probe, options: Partial<McpServerOptions> = {}) {
  const errors: unknown[] = [];
  const hits: ReachedLimit[] = [];
  const server = new McpServer({
    name: 'test',
    version: '1.0.0',
    providers: [probe],
    logger: { warn: () => {}, error: () => {} },
    onError: (error) => void errors.push(error),
    onLimit: (hit) => void hits.push(hit),
    ...options,
  });
  return { server, errors, hits };
}

/** The kernel of a server. */
export async function kernelOf(server: McpServer): Promise<Kernel> {
  const opened = await server[HOST].open((kernel) => ({ kernel, stop() {}, close() {} }));
  return opened.kernel;
}

interface Insides {
  readonly parts: { readonly events: { readonly listeners: { readonly size: number } } };
}

/** The number of sessions and subscriptions that the kernel of a server tells of changes. */
export const listenersOf = async (server: McpServer): Promise<number> =>
  ((await kernelOf(server)) as unknown as Insides).parts.events.listeners.size;

/** Serves a listener of Node.js on a free port until the end of the test. Resolves to its URL, without a path. */
export async function serveNode(listener: RequestListener, options: ServerOptions = {}): Promise<string> {
  const http = createHttpServer(options, listener).listen(0, '127.0.0.1');
  await once(http, 'listening');
  afterwards(() => {
    http.close();
    http.closeAllConnections();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

/** Serves a probe, and other providers, on a free port until the end of the test. */
export async function serve(options: ListenOptions = {}, more: Partial<McpServerOptions> = {}): Promise<Served> {
  const probe = new Probe();
  const created = createServer(probe, { ...more, providers: [probe, ...(more.providers ?? [])] });
  const listening = await listen(created.server, { port: 0, closeDeadlineMs: 1000, ...options });
  afterwards(async () => {
    probe.emit('go');
    await listening.close();
    await created.server.close();
  });
  return { ...listening, ...created, probe };
}

/** Two servers that share only the stores, like two processes. */
export async function serveTwice(options: ListenOptions, providers: readonly object[] = []) {
  const more = { secret: 'the same for all processes, 32 bytes', providers };
  return [await serve(options, more), await serve(options, more)] as const;
}

export type Fields = Record<string, string>;

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/**
 * Posts a body in parts, once the server has received the headers.
 * @param begun resolves when that has happened
 * @returns the text of the response
 */
export async function postParts(
  url: string,
  { headers, begun }: { readonly headers: Fields; readonly begun: Promise<unknown> },
  parts: readonly string[],
): Promise<string> {
  const sent = httpRequest(url, { method: 'POST', headers: { ...JSON_HEADERS, ...headers } });
  sent.flushHeaders();
  await begun;
  for (const part of parts) sent.write(part);
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return String(Buffer.concat((await answer.toArray()) as Buffer[]));
}

/** A POST for a fetch handler. */
export function posted(message: unknown, headers: Fields = {}, init: RequestInit = {}): Request {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return new Request('http://localhost:3000/mcp', {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body,
    ...init,
  });
}

/** Trusts the caller's claim about its identity. */
export const byUser = ({
  headers: { 'x-user': subject },
}: {
  headers: Record<string, string | string[] | undefined>;
}) => (typeof subject === 'string' ? { subject } : undefined);

/** The status of the answer to a message, by default a ping. */
export const statusOf = async (url: string, headers: Fields = {}, message: unknown = request('ping', 'ping')) =>
  (await post(url, message, headers)).status;

/** The status of the answer to a GET for a stream. */
export async function statusOfGet(url: string, headers: Fields): Promise<number> {
  const answer = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
  await answer.body?.cancel();
  return answer.status;
}

/** Posts a message like the official clients. */
export async function post(
  url: string,
  message: unknown,
  headers: Fields = {},
  signal?: AbortSignal,
): Promise<Response> {
  const body = typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message);
  return await fetch(url, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body: body as string,
    ...(signal && { signal }),
  });
}

export const request = (id: number | string, method: string, params?: JsonObject) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params && { params }),
});

export const call = (id: number | string, name: string, args: JsonObject = {}, meta?: JsonObject) =>
  request(id, 'tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });

/** Cancels a request of a session. */
export const cancelOf = (requestId: number | string) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

export const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };

const initialize = (protocolVersion: string) =>
  request(0, 'initialize', {
    protocolVersion,
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '1.0.0' },
  });

export const INITIALIZE = initialize('2025-11-25');

/** Initializes a session. Resolves with the headers for later requests of the session. */
export async function openSession(url: string, headers: Fields = {}, version = '2025-11-25'): Promise<Fields> {
  const response = await post(url, initialize(version), headers);
  const id = response.headers.get('mcp-session-id');
  if (response.status !== 200 || id === null) throw new Error(`${response.status} ${await response.text()}`);
  await response.text();
  const session = { ...headers, 'mcp-session-id': id, 'mcp-protocol-version': version };
  const ready = await post(url, INITIALIZED, session);
  if (ready.status !== 202) throw new Error(`${ready.status} ${await ready.text()}`);
  return session;
}

/** Serves a probe, and initializes a session. */
export async function serveSession(options: ListenOptions = {}, headers: Fields = {}, version = '2025-11-25') {
  const served = await serve(options);
  return { ...served, session: await openSession(served.url, headers, version) };
}

/** Resolves when the call that was sent has begun. Its response comes in an array, so that nothing waits for it. */
export async function whenBegun<T>(probe: Probe, sent: Promise<T>): Promise<[response: Promise<T>]> {
  await once(probe, 'began');
  return [sent];
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Requests progress notifications. */
export const TOKEN = { progressToken: 1 };

/** Arguments of the tool `add`, whose result is `3`. */
export const SUM = { a: 1, b: 2 };

/** A stateless request. */
export function modern(id: number | string, method: string, params: JsonObject = {}, meta: JsonObject = {}) {
  return request(id, method, { ...params, _meta: { ...META, ...meta } });
}

export const modernCall = (id: number | string, name: string, args: JsonObject = {}, meta: JsonObject = {}) =>
  modern(id, 'tools/call', { name, arguments: args }, meta);

/** The headers of a stateless request. */
export function modernHeaders(method: string, name?: string): Fields {
  const version = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method };
  return name === undefined ? version : { ...version, 'mcp-name': name };
}

/** A stateless call, and its headers. */
export const calling = (name: string, args: JsonObject = {}, meta: JsonObject = {}) =>
  [modernCall(1, name, args, meta), modernHeaders('tools/call', name)] as const;

export const ADD = calling('add', SUM);
export const WAIT = calling('wait');

export interface JsonAnswer {
  readonly id?: unknown;
  readonly result?: Record<string, unknown> & { content?: { text: string }[]; isError?: boolean };
  readonly error?: { code: number; message: string; data?: Record<string, unknown> };
}

export async function json(response: Response): Promise<JsonAnswer> {
  return (await response.json()) as JsonAnswer;
}

/** Sends a request with arbitrary headers, which `fetch` doesn't allow. */
export async function raw(url: string, method: string, headers: Fields, body = ''): Promise<[IncomingMessage, string]> {
  const sent = httpRequest(url, { method, headers, agent: false });
  // with a string, Node would also write the headers as UTF-8
  sent.end(body === '' ? body : Buffer.from(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return [response, Buffer.concat(chunks).toString()];
}

/**
 * Sends requests without a body in one packet. Resolves to the status lines when the connection has closed.
 * @param line HTTP method and path
 */
export async function pipelined(line: string, url: string, count: number): Promise<readonly string[]> {
  const { host, port } = new URL(url);
  const client = connect(Number(port), '127.0.0.1');
  afterwards(() => client.destroy());
  let text = '';
  client.on('error', () => {}).on('data', (chunk: Buffer) => void (text += String(chunk)));
  const head = `${line} HTTP/1.1\r\nhost: ${host}\r\n`;
  client.write(`${`${head}\r\n`.repeat(count - 1)}${head}connection: close\r\n\r\n`);
  await once(client, 'close');
  return text.match(/HTTP\/1\.1 \d+/g) ?? [];
}
