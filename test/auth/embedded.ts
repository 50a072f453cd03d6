import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { type AuthorizationServerOptions, authorizationServer } from '@decorum/auth-server';
import { Context, McpServer, NoInput, Tool } from '@decorum/core';
import { listen } from '@decorum/http';

import { selfSigned } from '../../packages/auth-server/test/clients/certificate.js';
import { freePort } from '../support/dev-project.js';

class Notes {
  @Tool({ description: 'Returns the caller as JSON' })
  whoami(_input: NoInput, { principal }: Context) {
    return JSON.stringify(principal);
  }
}

const PASSWORD = 'pw';

const PEOPLE = new Map([
  ['alice', { subject: 'alice', name: 'Alice Adams' }],
  ['bob', { subject: 'bob', name: 'Bob Brown' }],
]);

const USERS = {
  verify: async (name: string, password: string) => (password === PASSWORD ? PEOPLE.get(name) : undefined),
  find: async (subject: string) => PEOPLE.get(subject),
};

const upstreamAt = (issuer: string) => ({ issuer, name: 'staff', clientId: 'mcp-server', clientSecret: 'mcp-secret' });

type Event = Parameters<NonNullable<AuthorizationServerOptions['onEvent']>>[0];

/** A server that is its own authorization server. */
export interface Embedded {
  /** Where users and clients find it. */
  readonly issuer: string;
  /** Where it listens itself, behind its proxy if it has one. */
  readonly origin: string;
  readonly events: readonly Event[];
  close(): Promise<void>;
}

/** A proxy that speaks https, and tells the address of its client. */
async function terminateTls(port: number, target: number) {
  const proxy = createTlsServer(selfSigned('localhost'), (incoming, outgoing) => {
    const { method, url, headers, socket } = incoming;
    const forwarded = [headers['x-forwarded-for'], socket.remoteAddress].flat().filter(Boolean).join(', ');
    const passed = { ...headers, 'x-forwarded-for': forwarded };
    const options = { host: '127.0.0.1', port: target, method, path: url, headers: passed };
    const upstream = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode as number, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    upstream.on('error', () => outgoing.destroy());
    incoming.pipe(upstream);
  }).listen(port, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}

/**
 * Serves an issuer on http, or behind a proxy on https. Its users are alice and bob.
 * @param startUpstream starts an issuer for the redirect URI, and returns its URL: users sign in there
 */
export async function embed(
  protocol: 'http' | 'https',
  startUpstream?: (redirectUri: string) => Promise<string>,
): Promise<Embedded> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const tlsPort = protocol === 'https' ? await freePort() : undefined;
  const issuer = tlsPort === undefined ? origin : `https://localhost:${tlsPort}`;
  const upstream = await startUpstream?.(`${issuer}/upstream/callback`);
  const events: Event[] = [];
  const auth = authorizationServer({
    resource: `${issuer}/mcp`,
    scopes: ['mcp'],
    consent: { mcp: 'Use this server', 'notes:write': 'Change your notes' },
    ...(upstream === undefined ? { users: USERS } : { upstream: upstreamAt(upstream) }),
    redirectSchemes: ['cursor'],
    remember: 30,
    // also for the upstream
    allowLoopbackHttp: true,
    trustProxy: tlsPort !== undefined,
    onEvent: (event) => void events.push(event),
  });
  const server = new McpServer({ name: 'notes', version: '1.0.0', providers: [Notes] });
  const { close } = await listen(server, { auth, port, signals: false });
  const proxy = tlsPort === undefined ? undefined : await terminateTls(tlsPort, port);
  return {
    issuer,
    origin,
    events,
    async close() {
      proxy?.close();
      proxy?.closeAllConnections();
      await close();
    },
  };
}

/** The end of a client where its users come back. */
export class Callback {
  private readonly arrived: URLSearchParams[] = [];
  private waiting: ((parameters: URLSearchParams) => void) | undefined;

  private constructor(private readonly server: ReturnType<typeof createServer>) {
    server.on('request', ({ url = '' }, response) => {
      response.end('You can close this page.');
      if (!url.startsWith('/callback?')) return;
      const parameters = new URL(url, this.url).searchParams;
      if (this.waiting === undefined) this.arrived.push(parameters);
      else this.waiting(parameters);
      this.waiting = undefined;
    });
  }

  static async open(): Promise<Callback> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Callback(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/callback`;
  }

  /** Waits for the next answer. */
  async next(): Promise<Record<string, string>> {
    const parameters = this.arrived.shift() ?? (await new Promise<URLSearchParams>((take) => (this.waiting = take)));
    return Object.fromEntries(parameters);
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

/** Other sites with https, such as a web application. */
export class Sites {
  /** The HTML of each path. */
  readonly pages = new Map<string, string>();

  private constructor(private readonly server: ReturnType<typeof createTlsServer>) {
    server.on('request', ({ url = '' }, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<!doctype html><title>A site</title>${this.pages.get(url.split('?', 1)[0] as string) ?? ''}`);
    });
  }

  static async open(): Promise<Sites> {
    const server = createTlsServer(selfSigned('app.example')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Sites(server);
  }

  /** A page of a host. */
  url(host: string, path: string): string {
    return `https://${host}:${(this.server.address() as AddressInfo).port}${path}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

export { PASSWORD };
