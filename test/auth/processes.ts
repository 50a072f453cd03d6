import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { OAuth, type OAuthOptions, oauth } from '@decorum/auth';
import { Context, McpServer, NoInput, Tool } from '@decorum/core';
import { nodeHandler } from '@decorum/http/node';

/** A program in its own process that prints its URL. */
export class Program {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  /** @throws {Error} if it exits without printing its URL */
  static async start(file: string, args: readonly string[] = [], env: object = {}): Promise<Program> {
    const path = fileURLToPath(new URL(file, import.meta.url));
    const child = spawn(process.execPath, [path, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const url = /https?:\/\/\S+/.exec(line)?.[0];
      if (url) return new Program(child, url);
    }
    throw new Error(`${file} ended without its URL.`);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await ended;
  }
}

/** Starts oidc-provider. */
export const startIssuer = (...args: string[]): Promise<Program> => Program.start('issuer.js', args);

class Files {
  constructor(private readonly ran: string[]) {}

  @Tool({ description: 'Returns the caller as JSON' })
  whoami(_input: NoInput, { principal }: Context) {
    this.ran.push('whoami');
    return JSON.stringify(principal);
  }

  @Tool({ description: 'Writes', scopes: ['files:write'] })
  write() {
    this.ran.push('write');
    return 'written';
  }
}

/** The same members, and one that is public. */
class PublicFiles extends Files {
  @Tool({ description: 'About this server', public: true })
  about() {
    return 'about';
  }
}

/** A server under test. */
export interface Served {
  readonly url: string;
  readonly server: McpServer;
  /** The tools that ran. */
  readonly ran: readonly string[];
  readonly auth: OAuth;
  close(): Promise<void>;
}

interface ServeOptions {
  /** Whether a member is public. */
  readonly isOpen?: boolean;
  /** By default, a free port. */
  readonly port?: number;
  /** The clock for tokens and keys. */
  readonly now?: () => number;
}

/** Serves a few tools. The audience is the server's URL. */
export async function serve(
  options: (url: string) => Partial<OAuthOptions>,
  { isOpen = false, port = 0, now }: ServeOptions = {},
): Promise<Served> {
  const ran: string[] = [];
  const server = new McpServer({
    name: 'files',
    version: '1.0.0',
    providers: [isOpen ? new PublicFiles(ran) : new Files(ran)],
    logger: { warn: () => {}, error: () => {} },
  });
  const http = createServer().listen(port, '127.0.0.1');
  await once(http, 'listening');
  // `oauth` needs the URL, so the port is opened first
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const settings = { audience: url, scopes: ['mcp'], allowLoopbackHttp: true, ...options(url) };
  const auth = now === undefined ? oauth(settings) : new OAuth(settings, { now, fetch: (to, init) => fetch(to, init) });
  const handler = nodeHandler(server, {
    path: '/mcp',
    auth,
    legacySse: { path: '/mcp/sse', messagesPath: '/mcp/messages' },
  });
  await handler.ready;
  http.on('request', handler);
  return {
    url,
    server,
    ran,
    auth,
    async close() {
      await handler.close();
      await server.close();
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await closed;
    },
  };
}
