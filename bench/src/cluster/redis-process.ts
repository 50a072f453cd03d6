import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { freePort } from './free-port.js';

const run = promisify(execFile);

/** Writes each command to disk before it answers, so that a restart loses nothing. */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** A `redis-server` on a free port. */
export class RedisProcess {
  private child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly isDurable: boolean,
  ) {}

  /**
   * @param isDurable whether it keeps its data when it restarts
   * @throws {Error} if there is no `redis-server`, or if it exits
   */
  static async start(isDurable = false): Promise<RedisProcess> {
    const redis = new RedisProcess(await freePort(), mkdtempSync(join(tmpdir(), 'redis-')), isDurable);
    await redis.launch();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Runs a command, and returns what `redis-cli` prints. */
  async command(...words: readonly string[]): Promise<string> {
    const { stdout } = await run('redis-cli', ['-p', String(this.port), ...words], { maxBuffer: 2 ** 28 });
    return stdout.trim();
  }

  /** A figure of `INFO`, such as `used_memory`. */
  async figure(name: string): Promise<number> {
    const info = await this.command('INFO', 'everything');
    return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  }

  /** Calls by command, without those that ask for this. */
  async calls(): Promise<Map<string, number>> {
    const info = await this.command('INFO', 'commandstats');
    const found = [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
    return new Map(
      found.map(([, name = '', calls]) => [name, Number(calls)] as const).filter(([name]) => name !== 'info'),
    );
  }

  /** Kills the server, and starts it again on the same port. */
  async restart(): Promise<void> {
    await this.end('SIGKILL');
    await this.launch();
  }

  async stop(): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async launch(): Promise<void> {
    const { port, folder, isDurable } = this;
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
    const child = spawn('redis-server', [...args, ...(isDurable ? DURABLE : [])], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.child = child;
    const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error));
    await Promise.race([readyOf(child), failed]);
    child.stdout?.resume();
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

async function readyOf(child: ChildProcess): Promise<void> {
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    if (line.includes('Ready to accept connections')) return;
    said.push(line);
  }
  throw new Error(`redis-server ended:\n${said.join('\n')}`);
}
