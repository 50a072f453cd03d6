import { EventEmitter, once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type ServerOptions } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

import { afterEach } from '@jest/globals';
import {
  Context,
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

import type { Fields } from './messages.js';
import { openSession } from './sending.js';

export * from './messages.js';
export * from './sending.js';

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

/** Trusts the caller's claim about its identity. */
export const byUser = ({ headers }: { readonly headers: Readonly<Record<string, string | string[] | undefined>> }) =>
  typeof headers['x-user'] === 'string' ? { subject: headers['x-user'] } : undefined;

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
