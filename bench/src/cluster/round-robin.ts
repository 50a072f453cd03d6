import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Target {
  readonly port: number;
  /** Until when it gets no requests, in milliseconds, because it has refused or reset a connection. */
  outUntil: number;
}

/** Milliseconds for which a node is left out that has reset a connection. */
const PAUSE_MS = 1000;

/**
 * A proxy that sends each request to the next node, and retries nothing. Like nginx, it leaves out a node that refuses or
 * resets a connection; the request that found out gets a 502.
 */
export class RoundRobin {
  private readonly server: Server;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly targets: readonly Target[];
  private readonly open = new Map<IncomingMessage, ServerResponse>();
  private next = 0;

  private constructor(ports: readonly number[]) {
    this.targets = ports.map((port) => ({ port, outUntil: 0 }));
    this.server = createServer((incoming, outgoing) => this.forward(incoming, outgoing));
  }

  /** @param ports of the nodes, on this machine */
  static async start(ports: readonly number[]): Promise<RoundRobin> {
    const proxy = new RoundRobin(ports);
    // as long as clients keep theirs
    proxy.server.keepAliveTimeout = 60_000;
    await once(proxy.server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`);
  }

  /** Sends requests to a node again. */
  restore(index: number): void {
    const target = this.targets[index];
    if (target) target.outUntil = 0;
  }

  /** Cuts the connections whose requests fit, in the middle of their responses. Returns how many there were. */
  cut(fits: (request: IncomingMessage) => boolean): number {
    const found = [...this.open].filter(([incoming, outgoing]) => outgoing.headersSent && fits(incoming));
    for (const [incoming] of found) incoming.socket.destroy();
    return found.length;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    this.agent.destroy();
    await closed;
  }

  private choose(): Target | undefined {
    const { targets } = this;
    for (let tried = 0; tried < targets.length; tried += 1) {
      const target = targets[this.next++ % targets.length];
      if (target && target.outUntil <= performance.now()) return target;
    }
    return undefined;
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const target = this.choose();
    if (target === undefined) return void outgoing.writeHead(502).end();
    this.open.set(incoming, outgoing);
    const { method, url: path, headers } = incoming;
    const sent = request({ agent: this.agent, host: '127.0.0.1', port: target.port, method, path, headers });
    outgoing.once('close', () => {
      this.open.delete(incoming);
      sent.destroy();
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') target.outUntil = Infinity;
      else if (!outgoing.destroyed) target.outUntil = performance.now() + PAUSE_MS;
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end();
    });
    sent.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      // otherwise Node would hold back the head of a stream until its first event
      outgoing.flushHeaders();
      response.on('error', () => outgoing.destroy());
      response.pipe(outgoing);
    });
    incoming.pipe(sent);
  }
}
