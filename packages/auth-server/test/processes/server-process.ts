import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterwards } from '../fixture-store.js';

const PACKAGE = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Serves a folder at a port, from the built package, and prints `ready`. Users have no scrypt, which is slow. */
const SERVE = `
  import { authorizationServer, fileStore } from '@decorum/auth-server';
  import { McpServer } from '@decorum/core';
  import { listen } from '@decorum/http';
  const [folder, port] = process.argv.slice(1);
  process.stdout.write('begun\\n');
  const server = new McpServer({ name: 'crash', version: '1.0.0', logger: { warn() {}, error() {} } });
  const auth = authorizationServer({
    resource: 'http://127.0.0.1:' + port + '/mcp',
    scopes: ['mcp'],
    consent: { mcp: 'Use this server' },
    allowLoopbackHttp: true,
    remember: 30,
    trustProxy: true,
    users: {
      verify: async (name, password) => (password === 'secret' ? { subject: name } : undefined),
      find: async (subject) => ({ subject }),
    },
    store: fileStore(folder),
  });
  await listen(server, { auth, port: Number(port) });
  process.stdout.write('ready\\n');
`;

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** A server in a process of its own. */
export class ServerProcess {
  private readonly exited: Promise<unknown>;
  private readonly lines: AsyncIterator<string>;
  private readonly child: ChildProcess;

  constructor(folder: string, port: number) {
    const env = {
      ...process.env,
      NODE_ENV: 'test',
      DECORUM_SECRET: 'a secret of more than 32 characters',
    };
    const args = ['--input-type=module', '--eval', SERVE, folder, String(port)];
    this.child = spawn(process.execPath, args, { cwd: PACKAGE, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const { child } = this;
    afterwards(() => child.kill('SIGKILL'));
    this.exited = once(child, 'exit');
    this.lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  /** Waits for the next line that it prints: `begun`, then `ready`. */
  async prints(expected: string): Promise<void> {
    const { value } = await this.lines.next();
    if (value !== expected) throw new Error(`The server printed ${value} instead of ${expected}.`);
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.child.kill(signal);
    await this.exited;
  }
}

/**
 * A server that is killed after a random number of requests, while others are in flight. Its successor waits for the
 * folder already.
 */
export class MortalServer {
  readonly origin: string;
  kills = 0;
  /** Until the next death. */
  private requestsLeft = 0;
  private isSpared = false;
  private running: Promise<ServerProcess>;
  private successor: Promise<ServerProcess>;

  constructor(
    private readonly folder: string,
    private readonly port: number,
  ) {
    this.origin = `http://127.0.0.1:${port}`;
    this.successor = this.spawn();
    this.running = this.succeed();
  }

  /** Resolves when the server serves. */
  async up(): Promise<void> {
    await this.running;
  }

  /** Where the next request goes. */
  next(): string {
    this.requestsLeft -= 1;
    if (this.requestsLeft === 0 && !this.isSpared) void this.kill();
    return this.origin;
  }

  /** From now on, the server only dies by `kill`. */
  spare(): void {
    this.isSpared = true;
  }

  /** Kills the server. */
  async kill(): Promise<void> {
    this.running = this.replace();
    await this.running;
  }

  private async replace(): Promise<ServerProcess> {
    const [dying] = await Promise.all([this.running, this.successor]);
    // a moment later, so that each step of a request is met at some time
    for (let turns = randomInt(0, 40); turns > 0; turns--) await nextTurn();
    await dying.end('SIGKILL');
    this.kills += 1;
    return await this.succeed();
  }

  private async succeed(): Promise<ServerProcess> {
    const server = await this.successor;
    await server.prints('ready');
    this.successor = this.spawn();
    this.successor.catch(() => undefined);
    this.requestsLeft = randomInt(12, 40);
    return server;
  }

  private async spawn(): Promise<ServerProcess> {
    const server = new ServerProcess(this.folder, this.port);
    await server.prints('begun');
    return server;
  }
}
