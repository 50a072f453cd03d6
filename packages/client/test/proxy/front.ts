// Servers in front of an upstream in another process, and their clients.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { type Client, type ClientOptions, connectClient, type ConnectTarget } from '@decorum/client';
import { type CallToolResult, type Context, type JsonObject, McpServer, type McpServerOptions } from '@decorum/core';
import { listen, type ListenOptions } from '@decorum/http';
import { revisions } from '@decorum/testing';

import { type UpstreamEvent, Upstreams } from '../../src/proxy/upstream/upstreams.js';
import type { UpstreamOptions } from '../../src/proxy/upstream/upstream-options.js';

/** The newest revision without sessions, and the newest with them. */
export const STATELESS = revisions.at(-1) as string;
export const STATEFUL = revisions.at(-2) as string;

const PROGRAM = fileURLToPath(new URL('asking-server.js', import.meta.url));

/** The upstream as a program over stdio. */
export const program = { command: process.execPath, args: [PROGRAM, '--stdio'] };

const TOOLS = 'add ask twice both sample visit paid required script wait steps state seen refuse large die'.split(' ');

const open: (() => Promise<unknown>)[] = [];

/** Closes everything that a test has opened. */
export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

/** The upstream as a process that listens. */
export class Listener {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(port = '0'): Promise<Listener> {
    const child = spawn(process.execPath, [PROGRAM], {
      env: { ...process.env, PORT: port },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const listener = new Listener(child, line);
      open.push(async () => await listener.kill());
      return listener;
    }
    throw new Error('The upstream has ended.');
  }

  get port(): string {
    return new URL(this.url).port;
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

/** Trusts whoever says who calls. */
const auth: NonNullable<ListenOptions['auth']> = {
  authenticate({ headers }) {
    const user = headers['x-user'];
    return typeof user === 'string' ? { subject: user } : undefined;
  },
};

/** A server whose tools are those of an upstream, with their names. */
export class Front {
  readonly server: McpServer;
  readonly upstreams: Upstreams;
  /** Whether anonymous callers are let in over HTTP. */
  isOpen = false;
  readonly events: UpstreamEvent[] = [];

  constructor(target: ConnectTarget, options: Partial<UpstreamOptions> = {}, more: Partial<McpServerOptions> = {}) {
    this.server = new McpServer({ name: 'front', version: '1.0.0', ...more });
    this.upstreams = new Upstreams({ target, name: 'geo', ...options });
    this.upstreams.onEvent((event) => this.events.push(event));
    open.push(async () => await this.upstreams.close());
    const relay = (name: string) => async (args: JsonObject, ctx: Context) =>
      await this.upstreams.request(ctx, { method: 'tools/call', params: { name, arguments: args } });
    const inputSchema = { type: 'object' } as const;
    this.server.addMembers(
      TOOLS.map((name) => ({ kind: 'tool', key: name, entry: { name, description: name, inputSchema } })),
      Object.fromEntries(TOOLS.map((name) => [name, relay(name)])),
    );
    this.server.addMembers(
      [{ kind: 'resource', key: 'note', entry: { name: 'note', description: 'Note', uri: 'note://1' } }],
      {
        note: async (uri: string, ctx: Context) =>
          await this.upstreams.request(ctx, { method: 'resources/read', params: { uri } }),
      },
    );
  }

  /** A client in this process. */
  async client(options: ClientOptions = {}): Promise<Client> {
    return await this.opened(this.server, options);
  }

  /** A client over HTTP. The subject of its principal is its `x-user` header. */
  async overHttp(options: ClientOptions = {}): Promise<Client> {
    this.listening ??= listen(this.server, { port: 0, signals: false, ...(this.isOpen ? {} : { auth }) });
    const { url, close } = await this.listening;
    open.push(close);
    return await this.opened(url, options);
  }

  private listening: ReturnType<typeof listen> | undefined;

  private async opened(target: ConnectTarget, options: ClientOptions): Promise<Client> {
    const client = await connectClient(target, options);
    open.push(async () => await client.close());
    return client;
  }
}

/** The text of a result. */
export const textOf = ({ content }: CallToolResult): string =>
  (content[0] as { readonly text?: string } | undefined)?.text ?? '';

/** The JSON in a result. */
export const jsonOf = (result: CallToolResult): JsonObject => JSON.parse(textOf(result)) as JsonObject;

/** Tries until an expectation holds. */
export async function eventually(check: () => Promise<void>): Promise<void> {
  for (let left = 200; ; left -= 1) {
    try {
      return await check();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
