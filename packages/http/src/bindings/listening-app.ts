import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import { startupError } from '@decorum/core/transport';
import type { FastifyInstance } from 'fastify';

import { addressOf } from '../caller.js';
import type { Endpoint } from '../endpoint.js';

/** Milliseconds without a request after which closing assumes that no client is about to send one. */
const QUIET_MS = 30;

/** Maximum milliseconds to wait for this silence. */
const LINGER_MS = 60;

/** Milliseconds after which closing destroys connections that have not sent a byte. */
const GRACE_MS = 10;

type HeldRequest = [request: IncomingMessage, response: ServerResponse];

/** The listening application and its connections. */
export class ListeningApp {
  private readonly sockets = new Set<Socket>();
  /** How many of them each address has. */
  private readonly counts = new Map<string, number>();
  private lastEventAt: number | undefined;
  /** Rejects when the application is closed. */
  private readonly closed: Promise<never>;

  constructor(
    private readonly app: FastifyInstance,
    private readonly endpoint: Endpoint<IncomingMessage>,
    private readonly maxPerAddress: number,
  ) {
    app.server.on('connection', (socket: Socket) => this.accept(socket));
    // before Fastify's listener, which destroys the socket
    app.server.prependListener('clientError', ({ code }: NodeJS.ErrnoException, socket: Socket) => {
      if (code !== 'ERR_HTTP_REQUEST_TIMEOUT') return;
      endpoint.hit({ limit: 'requestTimeoutMs', remoteAddress: socket.remoteAddress });
      // nothing to answer; thousands may be due in the same turn
      if (socket.bytesRead === 0) socket.destroy();
    });
    this.closed = new Promise((_resolve, reject) => {
      app.addHook('onClose', async () => reject(startupError('DECORUM_SERVER_CLOSED')));
    });
    this.closed.catch(() => {});
  }

  /** @throws {DecorumError} `DECORUM_SERVER_CLOSED`, and errors of the system */
  async listen(address: { readonly port: number; readonly host: string }): Promise<void> {
    // an application that is closed while it looks up its host neither listens nor fails
    await Promise.race([this.closed, this.app.listen({ ...address })]);
  }

  /** Closes the endpoint, then the port, then the connections. In this order no request is lost. */
  async close(): Promise<void> {
    const { app, endpoint } = this;
    const deadlineMs = endpoint.settings.closeDeadlineMs;
    const began = performance.now();
    await endpoint.close();
    await endpoint.delivered(Math.max(0, deadlineMs - (performance.now() - began)));
    if (this.lastEventAt !== undefined) await this.closePort();
    const timer = setTimeout(() => app.server.closeAllConnections(), 1000 + deadlineMs - (performance.now() - began));
    const closed = app.close();
    // Node waits for connections that have not sent a byte, and clients keep some of these in reserve
    const silent = setTimeout(() => this.destroySilent(), GRACE_MS);
    await closed;
    clearTimeout(timer);
    clearTimeout(silent);
  }

  private accept(socket: Socket): void {
    const { sockets } = this;
    const { remoteAddress } = socket;
    const address = addressOf({ headers: {}, remoteAddress });
    const count = this.countOf(address) + 1;
    if (count > this.maxPerAddress) {
      this.endpoint.hit({ limit: 'maxConnectionsPerAddress', remoteAddress });
      return void socket.destroy();
    }
    this.lastEventAt = performance.now();
    sockets.add(socket);
    this.count(address, count);
    socket.once('close', () => {
      sockets.delete(socket);
      this.count(address, this.countOf(address) - 1);
    });
  }

  private countOf(address: string | undefined): number {
    return address === undefined ? 0 : (this.counts.get(address) ?? 0);
  }

  private count(address: string | undefined, connections: number): void {
    if (address === undefined) return;
    if (connections > 0) this.counts.set(address, connections);
    else this.counts.delete(address);
  }

  /**
   * Waits briefly before closing the port, so that clients can finish sending. Cutting a connection would lose their
   * requests. Requests that arrive meanwhile are held until the port is closed, or else a client that gets a 503 could
   * reconnect.
   */
  private async closePort(): Promise<void> {
    const { server } = this.app;
    const [handle] = server.listeners('request') as ((...args: HeldRequest) => void)[];
    const held: HeldRequest[] = [];
    const hold = (...args: HeldRequest) => {
      this.lastEventAt = performance.now();
      held.push(args);
    };
    const began = (this.lastEventAt = performance.now());
    server.removeAllListeners('request').on('request', hold);
    while (performance.now() < Math.min(began + LINGER_MS, this.lastEventAt + QUIET_MS)) await wait(5);
    server.close();
    server.off('request', hold);
    if (handle) server.on('request', handle);
    for (const args of held) handle?.(...args);
  }

  private destroySilent(): void {
    for (const socket of this.sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}
