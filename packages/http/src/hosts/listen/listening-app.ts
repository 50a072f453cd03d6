import dns from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';

import { startupError } from '../../errors.js';
import { addressOf } from '../../endpoint/caller.js';
import type { Endpoint } from '../../endpoint/endpoint.js';
import { checkingInterval } from '../../endpoint/limits.js';

/** Milliseconds without a request after which closing assumes that no client is about to send one. */
const QUIET_MS = 30;

/** Maximum milliseconds to wait for this silence. */
const LINGER_MS = 60;

/** Milliseconds after which closing destroys connections that have not sent a byte. */
const GRACE_MS = 10;

/** Errors of addresses that the system doesn't have, such as `::1` without IPv6. */
const MISSING: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT']);

type HeldRequest = [request: IncomingMessage, response: ServerResponse];

/** The listening application and its connections. */
export class ListeningApp {
  /** The application's own server, and one for each other address. */
  private readonly servers: Server[];
  private readonly sockets = new Set<Socket>();
  /** How many of them each address has. */
  private readonly counts = new Map<string, number>();
  private lastEventAt: number | undefined;
  /** Rejects when the application is closed. */
  private readonly closed: Promise<never>;
  private isClosing = false;

  constructor(
    private readonly app: FastifyInstance,
    private readonly endpoint: Endpoint<IncomingMessage>,
    private readonly maxPerAddress: number,
  ) {
    const { server } = app;
    this.servers = [server];
    server.on('connection', this.accept);
    // before Fastify's listener, which destroys the socket
    server.prependListener('clientError', this.noteTimeout);
    this.closed = new Promise((_resolve, reject) => {
      app.addHook('onClose', async () => reject(startupError('DECORUM_SERVER_CLOSED')));
    });
    this.closed.catch(() => {});
  }

  /** @throws {DecorumError} `DECORUM_SERVER_CLOSED`, and errors of the system */
  async listen(port: number, host: string): Promise<void> {
    // an application that is closed while it looks up its host neither listens nor fails
    await Promise.race([this.closed, this.open(port, host)]);
    if (this.isClosing) await this.closed;
  }

  /**
   * Listens on all addresses of `localhost` that the system has. Fastify would create the second server without
   * counting its connections, and that server would never answer requests that offer an upgrade.
   */
  private async open(port: number, host: string): Promise<void> {
    const found = host === 'localhost' ? await dns.lookup(host, { all: true }) : [{ address: host }];
    const { server } = this.app;
    let missing: unknown;
    for (const address of new Set(found.map((each) => each.address))) {
      if (this.isClosing) return;
      try {
        if (server.listening) await this.openAnother(address);
        else await this.app.listen({ port, host: address });
      } catch (error) {
        if (!MISSING.has((error as NodeJS.ErrnoException).code)) throw error;
        missing = error;
      }
    }
    if (!server.listening && !this.isClosing) throw missing;
  }

  /** Opens the same port on another address. */
  private async openAnother(host: string): Promise<void> {
    const { server } = this.app;
    const { port } = server.address() as AddressInfo;
    const { headersTimeout, keepAliveTimeout, requestTimeout } = server;
    const connectionsCheckingInterval = checkingInterval(requestTimeout);
    const other = createServer({ headersTimeout, keepAliveTimeout, requestTimeout, connectionsCheckingInterval });
    other.on('connection', this.accept);
    for (const event of ['request', 'clientError'])
      for (const listener of server.listeners(event)) other.on(event, listener as () => void);
    this.servers.push(other);
    await once(other.listen(port, host), 'listening');
  }

  /** Closes the endpoint, then the port, then the connections. In this order no request is lost. */
  async close(): Promise<void> {
    this.isClosing = true;
    const { app, endpoint } = this;
    const deadlineMs = endpoint.settings.closeDeadlineMs;
    const began = performance.now();
    await endpoint.drain();
    if (this.lastEventAt !== undefined) await this.closePort();
    const { servers } = this;
    const closeAll = () => servers.forEach((server) => server.closeAllConnections());
    const timer = setTimeout(closeAll, 1000 + deadlineMs - (performance.now() - began));
    const closed = Promise.all([app.close(), ...servers.slice(1).map(closeServer)]);
    // Node waits for connections that have not sent a byte, and clients keep some of these in reserve
    const silent = setTimeout(() => this.destroySilent(), GRACE_MS);
    await closed;
    clearTimeout(timer);
    clearTimeout(silent);
  }

  private readonly accept = (socket: Socket): void => {
    const { sockets } = this;
    const { remoteAddress } = socket;
    const address = addressOf({ headers: {}, remoteAddress });
    const count = this.countOf(address) + 1;
    if (count > this.maxPerAddress) {
      this.endpoint.parts.hit({ limit: 'maxConnectionsPerAddress', remoteAddress });
      return void socket.destroy();
    }
    this.lastEventAt = performance.now();
    sockets.add(socket);
    this.count(address, count);
    socket.once('close', () => {
      sockets.delete(socket);
      this.count(address, this.countOf(address) - 1);
    });
  };

  private readonly noteTimeout = ({ code }: NodeJS.ErrnoException, socket: Socket): void => {
    if (code !== 'ERR_HTTP_REQUEST_TIMEOUT') return;
    this.endpoint.parts.hit({ limit: 'requestTimeoutMs', remoteAddress: socket.remoteAddress });
    // nothing to answer; thousands may be due in the same turn
    if (socket.bytesRead === 0) socket.destroy();
  };

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
    const { servers } = this;
    const [handle] = this.app.server.listeners('request') as RequestListener[];
    const held: HeldRequest[] = [];
    const hold = (...args: HeldRequest) => {
      this.lastEventAt = performance.now();
      held.push(args);
    };
    const began = (this.lastEventAt = performance.now());
    for (const server of servers) server.removeAllListeners('request').on('request', hold);
    while (performance.now() < Math.min(began + LINGER_MS, this.lastEventAt + QUIET_MS)) await wait(5);
    for (const server of servers) {
      server.close();
      server.off('request', hold);
      if (handle) server.on('request', handle);
    }
    for (const args of held) handle?.(...args);
  }

  private destroySilent(): void {
    for (const socket of this.sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}

const closeServer = (server: Server) => new Promise((resolve) => server.close(resolve));
