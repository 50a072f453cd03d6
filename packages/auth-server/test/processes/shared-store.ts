import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { MemoryStore } from '../../src/store/memory-store.js';
import type { AuthStore, Change, StoredRecord } from '../../src/store/auth-store.js';
import type { Clock } from '../../src/platform.js';
import { afterwards } from '../fixture-store.js';

/** A server that several processes keep their records on, such as Redis. It can die, and hang. */
export class StoreServer {
  /** Called for each request that isn't answered; undefined if the server works. */
  private onHang: (() => void) | undefined;
  private readonly store: MemoryStore;

  private constructor(
    private readonly server: Server,
    clock: Clock,
  ) {
    this.store = new MemoryStore({}, clock);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.answer(request, response));
  }

  static async start(clock: Clock): Promise<StoreServer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const started = new StoreServer(server, clock);
    afterwards(() => started.end());
    return started;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** From now on, connections are refused. */
  end(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** From now on, nothing is answered. Resolves when some requests wait. */
  hang(count: number): Promise<void> {
    return new Promise((resolve) => {
      let waiting = 0;
      this.onHang = () => {
        waiting += 1;
        if (waiting === count) resolve();
      };
    });
  }

  /** Answers again. */
  goOn(): void {
    this.onHang = undefined;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.onHang) return this.onHang();
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method, argument } = JSON.parse(body) as { method: 'get' | 'list' | 'write'; argument: never };
    response.end(JSON.stringify({ result: await this.store[method](argument) }));
  }
}

/** A store on a `StoreServer`. */
export class SharedStore implements AuthStore {
  readonly isPersistent = true;

  constructor(private readonly url: string) {}

  async open(): Promise<void> {
    await this.get('key:signing');
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.ask('get', key)) as string | undefined;
  }

  async list(kind: string): Promise<readonly StoredRecord[]> {
    return (await this.ask('list', kind)) as readonly StoredRecord[];
  }

  async write(changes: readonly Change[]): Promise<boolean> {
    // in JSON, undefined has no value of its own
    return (await this.ask('write', changes)) as boolean;
  }

  async close(): Promise<void> {}

  private async ask(method: string, argument: unknown): Promise<unknown> {
    const response = await fetch(this.url, { method: 'POST', body: JSON.stringify({ method, argument }) });
    return ((await response.json()) as { result?: unknown }).result;
  }
}
