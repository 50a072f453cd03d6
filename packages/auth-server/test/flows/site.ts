import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';

import { afterAll, afterEach, beforeEach, jest } from '@jest/globals';
import type { AuthEvent } from '@decorum/auth';
import { McpServer, NoInput } from '@decorum/core';
import { nodeHandler } from '@decorum/http/node';

import { AuthorizationServer } from '../../src/authorization-server.js';
import type { AuthorizationServerOptions } from '../../src/options.js';
import { PLATFORM, type ServerPlatform } from '../../src/server-platform.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { User, UserDirectory } from '../../src/users/user-directory.js';
import { PASSWORD } from './client.js';

const NOT_FAKED = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

const HOUR = 3_600_000;

/**
 * Makes the clock stand, also that of oidc-provider. Sockets and timers are those of the system. Each test begins an hour
 * after the one before it, so that quotas are free again.
 */
export function stopClock(): void {
  let start = Date.now();
  beforeEach(() => void jest.useFakeTimers({ doNotFake: [...NOT_FAKED], now: (start += HOUR) }));
  afterEach(() => void jest.useRealTimers());
}

/** Moves the clock forward. */
export const pass = (ms: number): void => void jest.setSystemTime(Date.now() + ms);

/** People with the password of the tests. */
export function directory(users: readonly User[] = [{ subject: 'alice' }, { subject: 'bob' }]): UserDirectory {
  const find = async (subject: string) => users.find((user) => user.subject === subject);
  return { find, verify: async (name, password) => (password === PASSWORD ? await find(name) : undefined) };
}

/** A server under test. */
export interface Site {
  /** Without a slash at its end. */
  readonly issuer: string;
  readonly origin: string;
  readonly resource: string;
  readonly events: AuthEvent[];
  readonly logged: string[];
  readonly auth: AuthorizationServer;
  /** Calls a tool, `whoami` by default. */
  call(
    token: string,
    tool?: string,
  ): Promise<{ readonly status: number; readonly text: string; readonly headers: Headers }>;
  close(): Promise<void>;
}

/** Options of a `Site`. */
export interface SiteOptions extends Partial<AuthorizationServerOptions> {
  /** The path of the issuer. */
  readonly path?: string;
  readonly platform?: Partial<ServerPlatform>;
  /** Puts something in front of the handler. */
  readonly wrap?: (handler: RequestListener) => RequestListener;
}

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
});

/** Closes something after all tests of the file. */
export const closeAfterwards = (close: () => Promise<void>): void => void closing.push(close);

/** Listens on a free port, and closes afterwards. */
export async function listenOn<S extends Server>(server: S): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closeAfterwards(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A server with the tools `whoami` and `notes_write`, which collects its warnings. */
export function mcpServer(logged: string[]): McpServer {
  const log = (...parts: unknown[]) => void logged.push(inspect(parts));
  const logger = { debug: log, info: log, warn: log, error: log };
  const server = new McpServer({ name: 'flows', version: '1.0.0', logger });
  server.addTool({ name: 'whoami', input: NoInput }, (_input, { principal }) => JSON.stringify(principal));
  server.addTool({ name: 'notes_write', input: NoInput, scopes: ['notes:write'] }, () => 'written');
  return server;
}

/** An authorization server at an origin, with the usual options. */
export function createAuth(origin: string, { path = '', platform, ...options }: Omit<SiteOptions, 'wrap'>) {
  const events: AuthEvent[] = [];
  const whole: AuthorizationServerOptions = {
    resource: `${origin}/mcp`,
    ...(path !== '' && { issuer: origin + path }),
    scopes: ['mcp'],
    consent: { mcp: 'Use this server', 'notes:write': 'Change your notes', admin: 'Administer this server' },
    allowLoopbackHttp: true,
    onEvent: (event) => void events.push(event),
    store: new MemoryStore({}, { now: () => Date.now(), wait: async () => {} }),
    ...(options.login === undefined && options.upstream === undefined && { users: directory() }),
    ...options,
  };
  const auth = new AuthorizationServer(whole, { ...PLATFORM, wait: async () => {}, ...platform });
  return { auth, events };
}

/** Serves an authorization server with a plain Node server. */
export async function serve({ wrap, ...options }: SiteOptions = {}): Promise<Site> {
  let handler: RequestListener = () => {};
  const origin = await listenOn(createServer((request, response) => handler(request, response)));
  const logged: string[] = [];
  const { auth, events } = createAuth(origin, options);
  const server = mcpServer(logged);
  const mounted = nodeHandler(server, { auth, path: '/mcp' });
  handler = wrap?.(mounted) ?? mounted;
  closeAfterwards(() => server.close());
  const issuer = origin + (options.path ?? '');
  return {
    auth,
    events,
    logged,
    origin,
    issuer,
    resource: `${origin}/mcp`,
    call: caller(origin),
    close: () => server.close(),
  };
}

/** Calls the tools of a server. */
export const caller =
  (origin: string) =>
  async (token: string, tool = 'whoami') => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': tool,
    };
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'flows', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { name: tool, arguments: {}, _meta: meta };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const response = await fetch(`${origin}/mcp`, { method: 'POST', headers, body });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
